package metrics_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// However many rounds there are, memory is bounded, and what is kept is an even part.
func TestPolicyTimes_are_bounded(t *testing.T) {
	const most = 1 << 16
	for _, n := range []int{0, 1, most, most + 1, 3 * most, 1_000_003, 20 * most} {
		r, err := metrics.New(metrics.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			r.AddPolicyTime(time.Duration(i + 1))
		}
		got := r.PolicyTimes()
		if len(got) > most || len(got) < min(n, most/2) {
			t.Fatalf("%d of %d are kept, want all up to %d, and at least half of these", len(got), n, most)
		}
		for i := 1; i < len(got); i++ {
			if got[i]-got[i-1] != got[1]-got[0] {
				t.Fatalf("of %d, %d follows %d, want steps of %d", n, got[i], got[i-1], got[1]-got[0])
			}
		}
		if n > 0 && (got[0] != got[1%len(got)]-got[0] && n > 1 || got[len(got)-1] < time.Duration(n)*9/10) {
			t.Errorf("of %d, the first kept is %d and the last %d", n, got[0], got[len(got)-1])
		}
	}
}
