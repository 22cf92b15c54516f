package goodput

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/policytest"
)

// The columns of an elastic job are those that a scan of all of the cluster's finds, in the same order.
func TestColumns_are_those_of_a_scan(t *testing.T) {
	draws.AtLeast(t, 200) // a third of the jobs may have some columns and not others
	cut := 0
	rapid.Check(t, func(t *rapid.T) {
		s := policytest.NewWorld(t).Snapshot()
		p, err := New(Options{P: -0.5, Growth: 2, Solver: "price"})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.meet(s); err != nil {
			t.Fatal(err)
		}
		for _, j := range s.Jobs {
			if !j.Adaptivity.Has(job.GPUCount) || !j.Reservation.IsZero() {
				continue
			}
			var want []configuration
			for _, c := range p.columns {
				if j.Allows(c.Configuration) && batchAllows(j, c) {
					want = append(want, c)
				}
			}
			if got := p.appendColumns(nil, j); !slices.Equal(got, want) {
				t.Fatalf("job %+v has columns\n%v\nwant\n%v", *j.Spec, got, want)
			}
			if n := len(want); n > 0 && n < len(p.columns) {
				cut++
			}
		}
	})
	if cut == 0 {
		t.Error("no job may have a part of the columns")
	}
}
