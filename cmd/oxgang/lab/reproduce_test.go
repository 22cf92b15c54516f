package lab

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/lab/experiments"
)

// The table states once why the figures of a check are outside their bands.
func TestPrint_states_why(t *testing.T) {
	found := []experiments.Finding{{Row: "a", Metric: "done"}, {Row: "b", Metric: "done", Why: "their trace"}, {Row: "b", Metric: "makespan_h", Why: "their trace"}}
	var out bytes.Buffer
	if err := (&reproduction{format: "table"}).print(&out, &experiments.Experiment{Name: "x/y"}, found); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "why outside, b: their trace\n"); n != 1 || strings.Contains(out.String(), "outside, a") {
		t.Errorf("the cause is printed %d times, want once:\n%s", n, out.String())
	}
}
