package simulate

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/oxgang/oxgang/scheduler/metrics/resample"
)

var (
	//go:embed page/whatif.html
	whatifHTML string

	whatifPage = sync.OnceValue(func() *template.Template { return template.Must(template.New("whatif").Parse(whatifHTML)) })
)

// whatifView is the page as its template wants it.
type whatifView struct {
	*answer
	Sentence string
	Stamped  bool
	Share    int
	Verdict  string
	Table    [][]string
	Pictures []*picture
}

// page writes the answer as a page that needs no other file and no network.
func (a *answer) page(w io.Writer) error {
	v := whatifView{answer: a, Sentence: upper(a.Sentence), Stamped: !a.Trust.Trusted, Share: int(100 * resample.Share), Verdict: a.Trust.Verdict()}
	for i := range a.Rows {
		r := &a.Rows[i]
		v.Table = append(v.Table, []string{
			r.Name, dash(r.Assumes), span(r.MeanWait), r.span(), span(r.MedianWait), span(r.P90Wait), span(r.MeanJCT),
			fmt.Sprintf("%.1f %%", 100*r.Utilisation),
		})
	}
	v.Pictures = []*picture{a.bars(), a.queue()}
	if p := a.sizes(); p != nil {
		v.Pictures = append(v.Pictures, p)
	}
	return whatifPage().Execute(w, v)
}
