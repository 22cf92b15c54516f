package history

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// conclude writes the answer, one fact a line: what is missing, the accuracy, then the gains and who pays for them.
func (a *Answer) conclude() {
	parts := append(a.leftOut(), a.own())
	if a.best != nil {
		parts = append(parts, a.waits())
		if a.best.delays != nil {
			parts = append(parts, statistics.Later(a.best.delays))
		}
		parts = append(parts, a.size())
	}
	for i, part := range parts {
		parts[i] = upper(part)
	}
	a.Sentence = strings.Join(parts, ".\n") + "."
}

func (a *Answer) leftOut() []string {
	var parts []string
	for _, l := range a.LeftOut {
		parts = append(parts, fmt.Sprintf("%d of %d jobs are left out: they %s", l.Jobs, a.recorded, l.Why))
	}
	return parts
}

func (a *Answer) waits() string {
	b, was := a.best, a.Rows[0].MeanWait
	if was == 0 {
		return "mean wait: no job waited"
	}
	if b.MeanWait >= was {
		return fmt.Sprintf("mean wait: %s, and no other policy has less with the same jobs and GPUs. %s has %s (%s)", span(was), upper(called(b.policy)), span(b.MeanWait), b.rangeText())
	}
	text := fmt.Sprintf("mean wait: %s under %s instead of %s, with the same jobs and GPUs (%s)", span(b.MeanWait), called(b.policy), span(was), b.rangeText())
	if b.change.Low < 1 && b.change.High > 1 {
		text += fmt.Sprintf(". The interval contains %s, so the difference may be chance", span(a.replayed.MeanWait))
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
		return "fewer GPUs: not examined, because no job waited"
	case f == nil || f.Enough == a.GPUs:
		return fmt.Sprintf("fewer GPUs: with fewer than these %d, jobs would wait longer than recorded, on average or at the 90th percentile, under %s, too", a.GPUs, called(a.best.policy))
	}
	text := fmt.Sprintf("fewer GPUs: %d of the %d are enough under %s to keep the recorded mean and P90 wait (%.0f %% fewer; range %d to %d GPUs)", f.Enough, a.GPUs, called(a.best.policy), 100*f.Saved, f.AtLeast, f.AtMost)
	if f.Currency != "" {
		text += fmt.Sprintf(". That saves %s %s a year at your prices (%g %s a GPU-hour, %s)", thousands(f.Money), f.Currency, a.price.perHour, f.Currency, f.PriceSource)
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
		return "NOT TO BE TRUSTED: a replay of your own policy differs from the log by more than 5 %, so the following may be wrong"
	}
	if worst < 0.0005 {
		return "accuracy: a replay of your own policy matches the log"
	}
	return fmt.Sprintf("accuracy: a replay of your own policy is within %.1f %% of the log", 100*worst)
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
