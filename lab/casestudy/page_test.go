package casestudy

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/report"
)

func TestPage_has_everything_and_loads_nothing(t *testing.T) {
	p := Page{
		Title: "A <study>", Intro: "Two methods.",
		Tables:   []Table{{Head: []string{"method", "s"}, Rows: [][]string{{"copter", "0.3"}}}},
		HeatMaps: []HeatMap{{Title: "Heat", Columns: []string{"a", "b", "c"}, Rows: []HeatRow{{"r", []HeatCell{{"0", -1, false}, {"1", 1, true}, {"x", 0.5, false}}}}}},
		Charts:   []report.Lines{{Title: "Time", Note: "s", Lines: []report.Line{{Name: "copter", X: []float64{0, 1}, Y: []float64{1, 2}}}}},
	}
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, want := range []string{"A &lt;study&gt;", "<td>copter</td><td>0.3</td>", "70.0,127.5 530.0,15.0", `<td style="background:#f7fbff">0</td><td class="marked" style="background:#2f7fbc">1</td><td style="background:#93bddd">x</td>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	if strings.Contains(html, "http") {
		t.Error("loads something")
	}
}
