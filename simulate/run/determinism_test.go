package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
)

// twoHours is a run of two hours on a small cluster with noise and failures.
func twoHours(t testing.TB, placer string) (*config.Config, *Inputs) {
	t.Helper()
	c := config.Default()
	c.Cluster, c.Placer, c.Horizon = "t4:3x4,rtx:1x8,a100:2x2", placer, 2*time.Hour
	c.Generate.Jobs, c.Generate.Span = 25, time.Hour
	c.Jobs, c.OnBadRow = config.Jobs{Rigid: 0.2, StrongScaling: 0.2}, "skip"
	c.Sim.Noise = sim.Noise{Report: 0.1, Bias: 0.1, Straggler: 0.1, Slow: 2}
	c.Sim.Faults = sim.Faults{NodeMTBF: 6 * time.Hour, Repair: 10 * time.Minute, GPUMTBF: 100 * time.Hour}
	in, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Skipped) == 0 || len(in.Arrivals) < 15 { // rigid jobs of 16 GPUs are too large
		t.Fatalf("%d jobs, %d skipped, want most of 25 and some", len(in.Arrivals), len(in.Skipped))
	}
	return c, in
}

// outcome is everything a run writes: its journal and its results.
func outcome(c *config.Config, in *Inputs, name string, wrap func(policy.Policy) policy.Policy) (string, error) {
	entry, err := registry.Find(name)
	if err != nil {
		return "", err
	}
	p, err := NewPolicy(c, name)
	if err != nil {
		return "", err
	}
	if wrap != nil {
		p = wrap(p)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{Policy: name, Start: sim.Epoch, Round: c.Scheduler.Round, Cluster: in.Cluster})
	run, err := in.simulate(context.Background(), c, decides{entry, p}, Watch{}, []scheduler.Observer{w})
	if err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	if run.Result.Summary.Rounds == 0 || run.Result.Summary.RestartsPerJob+run.Result.Summary.UsefulHours == 0 {
		return "", fmt.Errorf("%s: nothing ran", name)
	}
	return out.String(), json.NewEncoder(&out).Encode(run.Result)
}

// differ returns an error that shows the first line in which two outcomes
// differ.
func differ(a, b string) error {
	if a == b {
		return nil
	}
	one, two := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return fmt.Errorf("line %d: %.200s\nand then: %.200s", i+1, one[i], two[i])
		}
	}
	return fmt.Errorf("%d lines, and then %d", len(one), len(two))
}

// shuffled returns inputs whose arrivals are in another order.
func shuffled(in *Inputs) *Inputs {
	other := *in
	other.Arrivals = slices.Clone(in.Arrivals)
	rng.Stream(1, "shuffle").Shuffle(len(other.Arrivals), func(i, k int) {
		other.Arrivals[i], other.Arrivals[k] = other.Arrivals[k], other.Arrivals[i]
	})
	return &other
}

// TestRuns_are_repeatable plays every policy with every placer twice, the second time
// on one processor and with the rows of the input in another order. Journals and results
// are the same, byte for byte; if they are not, one more run for each says what it is
// that matters. With -short there is one placer, and two policies, which RAPID_SEED chooses.
func TestRuns_are_repeatable(t *testing.T) {
	placers, names := registry.Placers(), registry.Names()
	if testing.Short() {
		placers, names = draws.Some(t, 1, placers), draws.Some(t, 8, names)
	}
	for _, placer := range placers {
		c, in := twoHours(t, placer.Name)
		for _, name := range names {
			t.Run(name+"/"+placer.Name, func(t *testing.T) {
				first, err := outcome(c, in, name, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := repeat(c, shuffled(in), name, 1, first); err != nil {
					procs := runtime.GOMAXPROCS(0)
					t.Errorf("shuffled rows on one processor: %v\na second run: %v\nshuffled rows: %v\none processor: %v", err,
						repeat(c, in, name, procs, first), repeat(c, shuffled(in), name, procs, first), repeat(c, in, name, 1, first))
				}
			})
		}
	}
}

// repeat plays a run once more, on so many processors, and says how it differs from the first.
func repeat(c *config.Config, in *Inputs, name string, procs int, first string) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	second, err := outcome(c, in, name, nil)
	if err != nil {
		return err
	}
	return differ(first, second)
}

// moody is a policy that leaves out the last job of some rounds.
type moody struct {
	policy.Policy
	sulks func() bool
}

func (m moody) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p, err := m.Policy.Plan(ctx, s)
	if err == nil && m.sulks() && !s.Jobs[len(s.Jobs)-1].NonPreemptive {
		p.Jobs[len(p.Jobs)-1] = policy.Decision{}
	}
	return p, err
}

// Each seeded bug is seen in what a run writes.
func TestRuns_are_repeatable_catches(t *testing.T) {
	c, in := twoHours(t, "submesh")
	first, err := outcome(c, in, "las", nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for name, sulks := range map[string]func() bool{
		"a policy that remembers another run":  func() bool { calls++; return calls > 90 },
		"a policy that counts processors":      func() bool { return runtime.GOMAXPROCS(0) == 1 },
		"a policy that is never in good moods": func() bool { return true },
	} {
		runtime.GOMAXPROCS(1)
		got, err := outcome(c, in, "las", func(p policy.Policy) policy.Policy { return moody{p, sulks} })
		runtime.GOMAXPROCS(runtime.NumCPU())
		if err != nil {
			t.Fatal(err)
		}
		if differ(first, got) == nil {
			t.Errorf("%s: the run is the same", name)
		}
	}

	// A reader that names jobs by their row: the order of rows matters.
	byRow := func(in *Inputs) *Inputs {
		named := *in
		named.Arrivals = slices.Clone(in.Arrivals)
		for i := range named.Arrivals {
			named.Arrivals[i].Spec.ID = job.ID(fmt.Sprintf("row-%d", i))
		}
		return &named
	}
	a, err := outcome(c, byRow(in), "las", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := outcome(c, byRow(shuffled(in)), "las", nil)
	if err != nil {
		t.Fatal(err)
	}
	if differ(a, b) == nil {
		t.Error("a reader that names jobs by their row: the run is the same")
	}
}

// Another seed is another run: the test above does not compare constants.
func TestRuns_depend_on_the_seed(t *testing.T) {
	c, in := twoHours(t, "submesh")
	first, err := outcome(c, in, "fifo", nil)
	if err != nil {
		t.Fatal(err)
	}
	other := *c
	other.Sim.Seed++
	second, err := outcome(&other, in, "fifo", nil)
	if err != nil {
		t.Fatal(err)
	}
	if differ(first, second) == nil {
		t.Error("seeds 1 and 2 give the same run")
	}
}
