package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Input is the content of a report page.
type Input struct {
	Title string // default "Oxgang report"
	// Facts describe the run under the title.
	Facts []string
	Runs  []Run
}

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/base.js
	baseJS string
	//go:embed page/charts.js
	chartsJS string
	// The timeline is the live page's: see live/page/web/report.ts.
	//
	//go:embed page/timeline.js
	timelineJS string
	//go:embed page/timeline.css
	timelineCSS string
	//go:embed page/schedule.js
	scheduleJS string
	//go:embed page/main.js
	mainJS string

	page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageHTML)) })
)

type pageView struct {
	Title   string
	Verdict []string // sentences
	Over    string   // basis of the means; may be empty
	Facts   []string
	Tables  []pageTable
	Rented  bool
	Lent    bool // some run can borrow
	Unfair  float64
	Style   []template.CSS
	Script  template.JS
	Data    pageData
}

type pageTable struct {
	Note    string // below it; may be empty
	Title   string
	Columns []column
	Rows    []pageRow
}

type pageRow struct {
	Name   string
	Key    int // among the policies of the plots
	Failed string
	Cells  []pageCell
}

type pageCell struct {
	Text string
	Best bool
}

type pageData struct {
	Policies []string          `json:"policies"`
	Observed int               `json:"observed"` // the recorded run; -1 for none
	GPUTypes []cluster.GPUType `json:"gpuTypes"`
	Jobs     []int             `json:"jobs"`     // by policy, shown or not
	MostJobs int               `json:"mostJobs"` // shown per policy
	Dropped  []int             `json:"dropped"`  // intervals by policy
	Rho      string            `json:"rho"`      // its definition
	Unfair   float64           `json:"unfairAbove"`
	Sizings  []sizing          `json:"sizings"`
	Datasets []*dataset        `json:"datasets"`
}

//go:generate go tool -modfile=../../internal/tools/esbuild/go.mod esbuild ../../live/page/web/report.ts --bundle --target=es2022 --outfile=page/timeline.js --log-level=warning
//go:generate cp ../../live/page/web/timeline.css page/timeline.css

// HTML writes a report as one self-contained page. All names are escaped.
//
// To keep the page small, a curve has at most 600 points, and the chart of allocations shows at most 2000 jobs of a
// run. Failed runs appear only in the tables.
func HTML(w io.Writer, in Input) error {
	runs := ended(in.Runs)
	v := pageView{
		Title: in.Title, Facts: in.Facts,
		Style:  []template.CSS{Style, template.CSS(timelineCSS + pageCSS)},                                //nolint:gosec // our own file
		Script: template.JS(strings.Join([]string{baseJS, chartsJS, scheduleJS, mainJS, timelineJS}, "")), //nolint:gosec // likewise
		Unfair: unfairAbove(runs), Rented: rented(runs), Lent: lending(runs),
		Data: pageData{
			Policies: []string{}, Observed: slices.IndexFunc(runs, func(r Run) bool { return r.Observed }), Jobs: []int{}, MostJobs: onPage.jobs, Dropped: []int{},
			Rho: rhoText(runs), Unfair: unfairAbove(runs),
			GPUTypes: gpuTypes(runs), Sizings: sizings(runs), Datasets: datasets(runs, onPage),
		},
	}
	if verdict := verdictOf(in.Runs); verdict != nil {
		v.Verdict = verdict.Sentences
	}
	if i := slices.IndexFunc(runs, func(r Run) bool { return r.Means != nil }); i >= 0 {
		v.Over = meansOver(runs[i].Verdict)
	}
	if v.Title == "" {
		v.Title = "Oxgang report"
	}
	if len(in.Runs) > 0 {
		v.Tables = []pageTable{summarise("Jobs", ofTheJobs, in.Runs), summarise("GPUs", ofTheGPUs, in.Runs)}
		if sizes := summarise("Delays and waits", ofTheSizes, in.Runs); len(sizes.Columns) > 0 {
			sizes.Note = "Later: finishes " + metrics.LaterRule + " later than under the baseline. Waits are until the first start. Sizes are requested GPUs."
			v.Tables = append(v.Tables, sizes)
		}
		v.Tables[ofTheGPUs].Note = Conventions
	}
	for i := range runs {
		v.Data.Policies = append(v.Data.Policies, runs[i].Name)
		v.Data.Jobs = append(v.Data.Jobs, len(runs[i].Result.Jobs))
		v.Data.Dropped = append(v.Data.Dropped, runs[i].Result.IntervalsDropped)
	}
	if err := page().Execute(w, v); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}

func summarise(title string, about group, runs []Run) pageTable {
	t := pageTable{Title: title, Rows: make([]pageRow, len(runs))}
	key := 0
	for i := range runs {
		t.Rows[i] = pageRow{Name: runs[i].Name, Key: key, Failed: runs[i].failure()}
		if runs[i].Result != nil {
			key++
		}
	}
	for _, c := range append(columnsOf(runs), delayColumns(runs)...) {
		if c.title == "" || c.shown == data || c.about != about || !c.some(runs) {
			continue
		}
		t.Columns = append(t.Columns, c)
		for i := range runs {
			if runs[i].Result == nil {
				continue
			}
			cell := pageCell{Text: c.cell(&runs[i]), Best: c.best(&runs[i])}
			if job := worstJob(&runs[i]); c.key == "later_worst_h" && job != "" {
				cell.Text += " (" + printable.Named("job", job) + ")"
			}
			t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
		}
	}
	return t
}

func (c column) Title() string { return c.title }

func (c column) Unit() string { return c.unit }
