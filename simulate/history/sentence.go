package history

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics"
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
	was, own := a.Rows[0].MeanWait, a.replayed.MeanWait
	switch {
	case a.noneWaited():
		return "mean wait: no job waited"
	case span(own) != span(was):
		return fmt.Sprintf("mean wait: %s in the log, and %s in the replay of your own policy. %s", span(was), span(own), upper(a.against(a.best, own)))
	}
	return "mean wait: " + a.against(a.best, own)
}

func (a *Answer) noneWaited() bool {
	return a.Rows[0].MeanWait == 0 && a.replayed.MeanWait <= a.accuracy.Seconds()
}

// against compares an alternative with the replay of the own policy, which has the same errors.
func (a *Answer) against(b *Row, own float64) string {
	name := called(b.policy)
	switch {
	case span(b.MeanWait) == span(own):
		return fmt.Sprintf("%s under %s, the same as under your own policy", span(own), name)
	case b.MeanWait > own:
		return fmt.Sprintf("no other policy has less than the %s of your own: %s has %s (%s)", span(own), name, span(b.MeanWait), b.rangeText())
	}
	text := fmt.Sprintf("%s under %s instead of %s, with the same jobs and GPUs (%s)", span(b.MeanWait), name, span(own), b.rangeText())
	if b.change.Low < 1 && b.change.High > 1 {
		text += fmt.Sprintf(". The interval contains %s, so the difference may be chance", span(own))
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
	case a.noneWaited():
		return "fewer GPUs: not examined, because no job waited"
	case f == nil:
		return "fewer GPUs: not examined, because no other policy has a lower mean wait with all of them"
	case f.Enough == a.GPUs:
		return fmt.Sprintf("fewer GPUs: with fewer than these %d, the mean or the P90 wait would be longer than in the replay of your own policy, under %s, too", a.GPUs, called(a.best.policy))
	}
	text := fmt.Sprintf("fewer GPUs: %d of the %d are enough under %s to keep the mean and P90 wait of your own policy's replay (%.0f %% fewer; range %d to %d GPUs)", f.Enough, a.GPUs, called(a.best.policy), 100*f.Saved, f.AtLeast, f.AtMost)
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
	if missing, of := a.Trust.Missing(); !a.Trust.Trusted && worst <= metrics.Tolerance {
		return fmt.Sprintf("NOT TO BE TRUSTED: a replay of your own policy lacks %d of the %s in the log, so the following may be wrong", missing, printable.Count(of, "job"))
	}
	if !a.Trust.Trusted {
		return fmt.Sprintf("NOT TO BE TRUSTED: a replay of your own policy differs from the log by more than %.0f %%, so the following may be wrong", 100*metrics.Tolerance)
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
