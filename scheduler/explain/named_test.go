package explain

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/policy"
)

// A list that is cut short states how many it leaves out.
func TestNamed_counts_the_rest(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for n, want := range map[int]string{1: "a", 2: "a and b", 3: "a, b and c", 4: "a, b, c and 1 more", 5: "a, b, c and 2 more"} {
		if got := named(names[:n], n); got != want {
			t.Errorf("%d names: %q, want %q", n, got, want)
		}
	}
	if got := named(names[:2], 7); got != "a, b and 5 more" {
		t.Errorf("2 of 7 names: %q", got)
	}
	takers := make([]Taker, len(names))
	for i, name := range names {
		takers[i] = Taker{Name: name, GPUs: i + 1, Reason: policy.Started.String()}
	}
	if got := takenBy(takers, "them"); !strings.Contains(got, "a started on 1 of them, b started on 2, c started on 3, 2 more jobs ") {
		t.Errorf("five takers: %q", got)
	}
	if got := takenBy(takers[:3], "them"); strings.Contains(got, "more") {
		t.Errorf("three takers: %q", got)
	}
	for n, want := range map[int]string{0: "", 1: " a, which comes first", 2: " a and b, which come first", 5: " a, b, c and 2 more, which come first"} {
		if got := unplaced(&explainContext{displaced: names[:n]}); !strings.Contains(got, want) || n == 0 && got != "" {
			t.Errorf("%d displaced: %q, want %q", n, got, want)
		}
	}
}
