package run

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A renter is another policy that rents, of every group, the nodes that all jobs
// together would fill.
type renter struct{ policy.Policy }

func (p renter) Traits() policy.Traits {
	t := p.Policy.Traits()
	t.Rents = true
	return t
}

func (p renter) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.Policy.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	gpus := 0
	for _, j := range s.Jobs {
		gpus += j.GPUs
	}
	plan.Capacity = make(map[cluster.Group]int)
	for i := range s.Rentals {
		r := &s.Rentals[i]
		per := r.Node.Capacity.GPUs
		plan.Capacity[r.Group] = min(r.Most, (gpus+per-1)/per)
	}
	return plan, nil
}

// rentedRun runs renter on a cluster and returns the journal too.
func rentedRun(t *testing.T, c *config.Config, in *Inputs) (*Run, string) {
	t.Helper()
	entry, err := registry.Find("srtf")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPolicy(c, "srtf")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{
		Policy: "srtf", Seed: c.Sim.Seed, Start: sim.Epoch, Round: c.Scheduler.Round, Cluster: nodesFor(in.Cluster, renter{p}.Traits()),
	})
	run, err := in.simulate(t.Context(), c, decides{entry, renter{p}}, Watch{}, []scheduler.Observer{w})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if len(run.Refused) > 0 {
		t.Errorf("a plan was refused: %s", run.Refused[0])
	}
	return run, out.String()
}

// rentedInputs are 20 jobs on a cluster, some of it spot.
func rentedInputs(t *testing.T, nodes string) (*config.Config, *Inputs) {
	t.Helper()
	c := config.Default()
	c.Cluster, c.Generate.Jobs, c.Generate.Span, c.OnBadRow = nodes, 20, 3*time.Hour, "skip"
	in, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	return c, in
}

// A run that rents says what it paid, and a recording of it says the same.
func TestRent_of_a_policy_that_rents(t *testing.T) {
	for _, nodes := range []string{"t4:6x4", "t4:6x4/rent", "t4:2x4,t4:4x4/spot@0.2", "a100:1x8,t4:6x4/rent,t4:3x4/spot@0.5"} {
		c, in := rentedInputs(t, nodes)
		c.Sim.Provider.Refuse = 0.1
		run, text := rentedRun(t, c, in)
		rent := run.Result.Summary.Rent
		if rent == nil || run.Result.Summary.Done != len(in.Arrivals) {
			t.Fatalf("%s: rent %+v of %d jobs done, want all of %d", nodes, rent, run.Result.Summary.Done, len(in.Arrivals))
		}
		if rent.Starting <= 0 || rent.Leaving <= 0 || rent.Hours < rent.Starting+rent.Idle || rent.Money <= 0 || rent.Money > rent.Hours {
			t.Errorf("%s: got %+v, want some of each part, at prices below 1", nodes, rent)
		}
		if _, again := rentedRun(t, c, in); again != text {
			t.Errorf("%s: two runs differ:\n%s", nodes, cmp.Diff(text, again))
		}
		recorded, err := Recorded(reader(t, []byte(text)), c, in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run.Result, recorded.Result); diff != "" {
			t.Errorf("%s: the recording tells otherwise (-run +recording):\n%s", nodes, diff)
		}
	}
}

// A policy that does not rent has what is owned.
func TestRent_of_a_policy_that_does_not(t *testing.T) {
	c, in := rentedInputs(t, "t4:2x16,t4:4x4/rent")
	run, err := Simulate(t.Context(), c, in, "srtf")
	if err != nil {
		t.Fatal(err)
	}
	if s := &run.Result.Summary; s.Rent != nil || s.MeanGPUs != 32 {
		t.Errorf("got rent %+v and %v GPUs, want none and 32", s.Rent, s.MeanGPUs)
	}
	if nodes := Header(c, in, "srtf", "test").Cluster; nodes.GPUs() != 32 {
		t.Errorf("the header has %d GPUs, want 32", nodes.GPUs())
	}
	c, in = rentedInputs(t, "t4:4x4/rent")
	if _, err := Simulate(t.Context(), c, in, "srtf"); err == nil || !strings.Contains(err.Error(), "srtf: cannot rent nodes, and the cluster has no others; add nodes without /rent, /spot or /loan, or use a policy that rents: boa, ") {
		t.Errorf("got error %v", err)
	}
}
