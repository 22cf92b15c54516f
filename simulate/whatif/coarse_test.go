package whatif_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type counted struct {
	policy.Policy
	plans *int
}

func (c counted) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	*c.plans++
	return c.Policy.Plan(ctx, s)
}

// ahead looks ahead from the middle of a run, and counts the plans that it takes.
func ahead(t *testing.T, name string, set func(*whatif.Options)) (found []whatif.Times, plans int) {
	t.Helper()
	r := mixed(t, 20).flat()
	r.knowing()
	snap := r.until(t, name, 20*time.Minute)
	o := options(name)
	o.Scheduler, o.Between = r.scheduler, 30*time.Minute
	o.Fresh = func() (policy.Policy, placement.Placer, error) {
		p, placer, err := fresh(name)()
		return counted{p, &plans}, placer, err
	}
	set(&o)
	found, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	return found, plans
}

// TestAhead_coarse: with longer rounds a look takes fewer plans, and finds the same under a policy that changes nothing
// until a job comes or ends.
func TestAhead_coarse(t *testing.T) {
	fine, many := ahead(t, "fifo", func(*whatif.Options) {})
	rough, few := ahead(t, "fifo", func(o *whatif.Options) { o.Coarse = 0.1 })
	if diff := cmp.Diff(fine, rough); diff != "" {
		t.Error(diff)
	}
	if few > many*3/4 {
		t.Errorf("%d plans, and %d where all rounds have one length; want far fewer", few, many)
	}
}

// TestAhead_awaited: a look for one job finds of it what a look for all does, and takes fewer plans.
func TestAhead_awaited(t *testing.T) {
	all, many := ahead(t, "fifo", func(*whatif.Options) {})
	first := 0
	for i := range all {
		if all[i].End.Late < all[first].End.Late {
			first = i
		}
	}
	one, few := ahead(t, "fifo", func(o *whatif.Options) { o.Awaited = []job.ID{all[first].Job} })
	if diff := cmp.Diff(all[first], one[first]); diff != "" || few >= many {
		t.Errorf("%d plans for one job, %d for all: %s", few, many, diff)
	}
}
