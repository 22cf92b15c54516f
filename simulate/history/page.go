package history

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
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
	Results  []string // the headline first
	Stamped  bool
	Share    int
	Accuracy []string
	Table    [][]string
	Later    string
	Largest  *metrics.Waits // size of the last column
	Style    template.CSS
	Pictures []*report.Figure
}

// Page writes the answer as a page that needs no other file and no network.
func (a *Answer) Page(w io.Writer) error {
	v := pageView{Answer: a, Results: strings.Split(a.Sentence, "\n"), Stamped: !a.Trust.Trusted, Share: int(100 * statistics.Share), Accuracy: a.accuracyLines(), Style: report.Style, Later: metrics.LaterRule, Largest: a.largest()}
	for i := range a.Rows {
		r := &a.Rows[i]
		v.Table = append(v.Table, []string{
			r.Name, dash(r.Assumes), span(r.MeanWait), r.span(), span(r.MedianWait), span(r.P90Wait), span(r.MeanJCT),
			fmt.Sprintf("%.1f %%", 100*r.Utilisation), r.later(), r.longest(),
		})
	}
	v.Pictures = []*report.Figure{a.bars(), a.queue()}
	if p := a.sizes(); p != nil {
		v.Pictures = append(v.Pictures, p)
	}
	return pageTemplate().Execute(w, v)
}
