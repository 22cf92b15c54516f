package budget

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/report"
)

// A page needs nothing but itself, has every list, and its names are no markup.
func TestPage(t *testing.T) {
	priced := gpus(t, "t4:4")
	priced.Name, priced.Currency, priced.Offers[0].Price = "<b>half</b>", "$", 0.5
	dear := gpus(t, "t4:4")
	dear.Name, dear.Currency, dear.Offers[0].Price = "dear", "$", 2
	var all []*Frontier
	for _, l := range []*PriceList{priced, dear} {
		f, err := aws(t, l).Frontier()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	var out bytes.Buffer
	if err := Page(&out, "w & co", all); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"w &amp; co", "&lt;b&gt;half&lt;/b&gt;", "$ a day", "smallest feasible", `class="mark knee"`, "would shorten it by"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if bad := regexp.MustCompile(`https?:|src=|<b>|ZgotmplZ|NaN|[+-]Inf`).FindString(text); bad != "" {
		t.Errorf("%q on the page", bad)
	}
	for _, f := range all { // the table and the chart say the same of a budget
		for _, s := range f.rows() {
			if say := f.row(s)[0]; !strings.Contains(text, "an hour, $"+say+" a day") {
				t.Errorf("%s: the chart does not say %s a day", f.Planner.Prices.Name, say)
			}
		}
	}
	for class, want := range map[string]int{`class="mark least"`: 3, `class="mark most"`: 3, "<polyline": 2, "<table>": 2} {
		if n := strings.Count(text, class); n != want {
			t.Errorf("%d times %s, want %d", n, class, want)
		}
	}
	drawn(t, text)
}

// drawn fails if the chart is no XML, or a curve rises or leaves the axes.
func drawn(t *testing.T, text string) {
	t.Helper()
	_, svg, _ := strings.Cut(text, "<svg")
	svg, _, _ = strings.Cut(svg, "</svg>")
	svg = "<svg" + svg + "</svg>"
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF { //nolint:errorlint // as documented
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range regexp.MustCompile(`polyline points="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		lastX, lastY := 0.0, 0.0
		for point := range strings.FieldsSeq(line[1]) {
			a, b, _ := strings.Cut(point, ",")
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			if x < max(lastX, chartLeft) || y < max(lastY, chartTop) || x > chartWidth-chartRight || y > chartHeight-chartBottom {
				t.Fatalf("a curve goes from %g,%g to %g,%g", lastX, lastY, x, y)
			}
			lastX, lastY = x, y
		}
	}
}

// No axis has more ticks than there is room for, whatever a price list and a trace say.
func TestTicks_are_few(t *testing.T) {
	for _, steps := range [][]float64{report.Decades(), spans()} {
		for e := -8; e < 18; e++ {
			for _, spread := range []float64{1.001, 1.1, 2, 7, 100} {
				a := report.Axis{Low: math.Pow10(e), High: spread * math.Pow10(e), Log: true}
				if got := a.Values(steps); len(got) > 120 {
					t.Errorf("%g to %g: %d ticks", a.Low, a.High, len(got))
				}
			}
		}
	}
}
