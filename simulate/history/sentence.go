package history

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

func (a *Answer) conclude() {
	parts := a.leftOut()
	if a.best != nil {
		parts = append(parts, a.waits())
		if a.best.delays != nil {
			parts = append(parts, statistics.Later(a.best.delays))
		}
		parts = append(parts, a.size())
	}
	parts = append(parts, a.own())
	for i, part := range parts[1:] {
		parts[1+i] = upper(part)
	}
	a.Sentence = strings.Join(parts, ".\n") + "."
	if !a.Trust.Trusted {
		a.Sentence = "NOT TO BE TRUSTED: " + a.Sentence
	}
}

func (a *Answer) leftOut() []string {
	var parts []string
	for _, l := range a.LeftOut {
		parts = append(parts, fmt.Sprintf("%d of %d jobs are left out: they %s", l.Jobs, a.recorded, l.Why))
	}
	return parts
}

func (a *Answer) waits() string {
	b := a.best
	text := fmt.Sprintf("with the same jobs and GPUs the mean wait would have been %s under %s instead of %s (%s)",
		span(b.MeanWait), called(b.policy), span(a.Rows[0].MeanWait), b.rangeText())
	if b.change.Low < 1 && b.change.High > 1 {
		text += ", so the difference may be chance"
	}
	return text
}

func (r *Row) rangeText() string {
	if r.High == nil {
		return "too few jobs waited for an interval"
	}
	return fmt.Sprintf("%.0f %% interval %s to %s", 100*statistics.Share, span(*r.Low), span(*r.High))
}

func (a *Answer) size() string {
	f := a.Fewer
	switch {
	case a.Rows[0].MeanWait == 0:
		return "no job waited, so fewer GPUs were not examined"
	case f == nil || f.Enough == a.GPUs:
		return fmt.Sprintf("under %s, too, all GPUs are needed to keep the recorded mean and P90 wait", called(a.best.policy))
	}
	text := fmt.Sprintf("under %s, %d of the %d GPUs are enough to keep the recorded mean and P90 wait (%.0f %% fewer; range %d to %d GPUs)", called(a.best.policy), f.Enough, a.GPUs, 100*f.Saved, f.AtLeast, f.AtMost)
	if f.Currency != "" {
		text += fmt.Sprintf(", which saves %s %s a year at your prices (%g %s a GPU-hour, %s)", thousands(f.Money), f.Currency, a.price.perHour, f.Currency, f.PriceSource)
	}
	return text
}

// own returns the accuracy of the replay: the largest error of a figure, except for waits within accuracy.
func (a *Answer) own() string {
	worst := math.Max(math.Abs(a.Trust.JCT), math.Abs(a.Trust.Utilisation))
	was, now := &a.Rows[0], &a.replayed
	for _, w := range [][2]float64{{was.MeanWait, now.MeanWait}, {was.MedianWait, now.MedianWait}, {was.P90Wait, now.P90Wait}} {
		if off := math.Abs(w[1] - w[0]); off >= a.accuracy.Seconds() {
			worst = math.Max(worst, off/math.Max(1, w[0]))
		}
	}
	if !a.Trust.Trusted {
		return fmt.Sprintf("the replay of your own policy is up to %.1f %% off", 100*worst)
	}
	return fmt.Sprintf("your own policy is reproduced within %.1f %%", 100*worst)
}

func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	if d >= time.Minute && d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return printable.Short(d)
}

func thousands(v float64) string {
	if v >= 10_000 {
		v = 1000 * math.Round(v/1000)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
