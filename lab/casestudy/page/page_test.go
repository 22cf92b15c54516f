package page

import (
	"strings"
	"testing"
)

func TestPage_has_everything_and_loads_nothing(t *testing.T) {
	p := Page{
		Title: "A <study>", Intro: "Two methods.",
		Tables:   []Table{{Head: []string{"method", "s"}, Rows: [][]string{{"copter", "0.3"}}}},
		HeatMaps: []HeatMap{{Title: "Heat", Columns: []string{"a", "b", "c"}, Rows: []HeatRow{{"r", []HeatCell{{"0", -1, false}, {"1", 1, true}, {"x", 0.5, false}}}}}},
		Charts:   []Chart{{Title: "Time", Up: "s", Across: "rounds", Lines: []Line{{"copter", []float64{0, 1}, []float64{1, 2}}}}},
	}
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, want := range []string{"A &lt;study&gt;", "<td>copter</td><td>0.3</td>", "0.0,110.0 640.0,0.0", "0 to 2", `<td style="background:#f7fbff">0</td><td class="marked" style="background:#2f7fbc">1</td><td style="background:#93bddd">x</td>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	if strings.Contains(html, "http") {
		t.Error("loads something")
	}
}

func TestChart_logarithmic(t *testing.T) {
	c := Chart{Logarithmic: true, Lines: []Line{{"a", []float64{0, 1, 2}, []float64{0, 1, 100}}}}
	if got, want := c.Points(c.Lines[0]), "0.0,220.0 320.0,220.0 640.0,0.0 "; got != want {
		t.Errorf("points %q, want %q: what has no logarithm lies at the lower end", got, want)
	}
	if got, want := c.Range(), "1 to 100, logarithmic"; got != want {
		t.Errorf("range %q, want %q", got, want)
	}
	if got := (&Chart{Logarithmic: true}).Range(); got != "nothing above 0" {
		t.Errorf("range %q of no lines", got)
	}
}
