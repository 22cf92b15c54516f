package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// The page says what GPU-hours and utilisation count beside the numbers, once.
func TestPage_says_its_conventions(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, Input{Runs: []Run{{Name: "sia", Result: &metrics.Result{}}}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), Conventions); n != 1 {
		t.Errorf("the page has the conventions %d times, want once", n)
	}
	for _, want := range []string{"share of the available GPUs held by jobs, used or not; without profiling", "with profiling and the rest of rounds in which jobs ended"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
