package history

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/report"
)

var (
	//go:embed page.html
	pageHTML string

	pageTemplate = sync.OnceValue(func() *template.Template { return report.Page(pageHTML) })
)

type pageView struct {
	*Answer
	Headline string
	Badge    string // accuracy
	Results  []string
	Share    int
	Accuracy []string
	Table    [][]string
	Later    string
	Largest  *metrics.Waits // size of the last column
	Style    template.CSS
	Pictures []*report.Figure
	Queue    *report.Figure
}

// Page writes the answer as one self-contained HTML page.
func (a *Answer) Page(w io.Writer) error {
	v := pageView{Answer: a, Headline: a.headline(), Badge: upper(a.own()) + ".", Results: a.rest(), Queue: a.queue(), Share: int(100 * statistics.Share), Accuracy: a.accuracyLines(), Style: report.Style, Later: metrics.LaterRule, Largest: a.largest()}
	for i := range a.Rows {
		r := &a.Rows[i]
		v.Table = append(v.Table, []string{
			r.Name, dash(r.Assumes), span(r.MeanWait), r.span(), span(r.MedianWait), span(r.P90Wait), span(r.MeanJCT),
			fmt.Sprintf("%.1f %%", 100*r.Utilisation), r.later(), r.longest(),
		})
	}
	v.Pictures = []*report.Figure{a.waitsBySize()}
	if p := a.sizes(); p != nil {
		v.Pictures = append(v.Pictures, p)
	}
	return pageTemplate().Execute(w, v)
}

// headline answers in at most 20 words. Like the table's intervals, it compares with the replay of the own policy.
func (a *Answer) headline() string {
	was, b := a.replayed.MeanWait, a.best
	switch {
	case a.noneWaited():
		return "No job waited, so no policy can reduce the waits."
	case b == nil:
		return fmt.Sprintf("The mean wait was %s; no other policy was simulated.", span(was))
	case span(b.MeanWait) == span(was):
		return fmt.Sprintf("No other policy reduces the mean wait of %s; %s has the same.", span(was), called(b.policy))
	case b.MeanWait > was:
		return fmt.Sprintf("No other policy has a mean wait below %s; %s has %s.", span(was), called(b.policy), span(b.MeanWait))
	case b.High == nil || b.change.Low < 1 && b.change.High > 1:
		return fmt.Sprintf("%s: mean wait %s instead of %s, but that may be chance (%s).", upper(called(b.policy)), span(b.MeanWait), span(was), b.rangeText())
	}
	return fmt.Sprintf("%s cuts the mean wait from %s to %s (%s).", upper(called(b.policy)), span(was), span(b.MeanWait), b.rangeText())
}

func (a *Answer) rest() []string {
	parts := a.leftOut()
	if a.best == nil {
		return parts
	}
	if a.best.delays != nil {
		parts = append(parts, statistics.Later(a.best.delays))
	}
	parts = append(parts, a.size())
	for i, part := range parts {
		parts[i] = upper(part) + "."
	}
	return parts
}
