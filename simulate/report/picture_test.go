package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	_ "github.com/oxgang/oxgang/policy/standard"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
)

//go:generate go test -run ^TestPicture$ -update .

var update = flag.Bool("update", false, "write the picture of the README")

// colours are the style of a picture on its own: of the text, the axes, and the two curves.
var colours = map[string][4]string{
	"light": {"#5c6670", "#e2e3df", "#d5562f", "#2563b0"},
	"dark":  {"#a3adb6", "#2d343b", "#f08a62", "#6da7ec"},
}

// TestPicture: the picture in the README shows the embedded scenario as it is simulated now.
func TestPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates the embedded scenario under two policies")
	}
	c := config.Default()
	in, err := run.Load(c, run.Files{})
	if err != nil {
		t.Fatal(err)
	}
	lines := report.Lines{
		Title: "Jobs that wait or run, over time", Top: 40,
		XText: func(v float64) string { return fmt.Sprintf("%.0f h", v) }, YText: func(v float64) string { return fmt.Sprintf("%.0f jobs", v) },
	}
	for _, name := range []string{"easy", "oxgang"} {
		r, err := run.Simulate(t.Context(), c, in, name)
		if err != nil {
			t.Fatal(err)
		}
		lines.Lines = append(lines.Lines, unfinished(name, r.Result.Jobs))
	}
	var page bytes.Buffer
	if err := report.Page(`{{template "figure" .}}`).Execute(&page, lines.Figure()); err != nil {
		t.Fatal(err)
	}
	for theme, c := range colours {
		style := fmt.Sprintf("text{fill:%s;font:12px sans-serif}line{stroke:%s}polyline{fill:none;stroke-width:2}.c0{stroke:%s}.c1{stroke:%s}", c[0], c[1], c[2], c[3])
		compare(t, filepath.Join(testdata.Root(t), "docs", "picture-"+theme+".svg"), standalone(page.Bytes(), style))
	}
}

// standalone returns the figure of a page as a picture of its own, with a style.
func standalone(page []byte, style string) []byte {
	svg := regexp.MustCompile(`(?s)<svg[^>]*(viewBox="[^"]*")[^>]*>(.*</svg>)`).FindSubmatch(page)
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" %s><style>%s</style>%s`+"\n", svg[1], style, svg[2])
}

// unfinished returns how many jobs were submitted and not finished at each time, in hours.
func unfinished(name string, jobs []metrics.JobResult) report.Line {
	type change struct {
		at float64
		by float64
	}
	var all []change
	for i := range jobs {
		all = append(all, change{jobs[i].Submitted, 1}, change{jobs[i].Finished, -1})
	}
	slices.SortFunc(all, func(a, b change) int { return int(a.at - b.at) })
	l := report.Line{Name: name}
	n := 0.0
	for _, c := range all {
		at := c.at / 3600
		l.X, l.Y = append(l.X, at, at), append(l.Y, n, n+c.by)
		n += c.by
	}
	return l
}

// compare fails the test if a file does not hold what it should, or writes it.
func compare(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, want) {
		return
	}
	if !*update {
		t.Errorf("%s is not current: run go generate ./simulate/report", path)
		return
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
