package run

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
)

// TestSparse_results plays generated traces of jobs that wait for their input, under the policies that ignore progress: once with all
// reports, once without those that teach nothing. Results are the same, byte for byte. The seed of the traces is random
// unless RAPID_SEED names it.
func TestSparse_results(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("RAPID_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1 << 32)
	}
	t.Logf("RAPID_SEED=%d repeats it", seed)
	for _, entry := range registry.Policies() {
		if !entry.Traits().IgnoresProgress {
			continue
		}
		all := map[string]func(*config.Config){
			"as it is":      func(*config.Config) {},
			"exit on round": func(c *config.Config) { c.Sim.Public.ExitOnRound = true },
			"oracle":        func(c *config.Config) { c.Estimate = "oracle" },
			"failures":      func(c *config.Config) { c.Sim.Faults.NodeMTBF, c.Sim.Faults.Repair = 300*time.Hour, time.Hour },
			"noise":         func(c *config.Config) { c.Sim.Noise.Report = 0.1 },
		}
		for _, name := range draws.Some(t, len(all), slices.Sorted(maps.Keys(all))) {
			t.Run(entry.Name+", "+name, func(t *testing.T) {
				c := config.Default()
				c.Cluster, c.Scheduler.Round, c.Sim.Seed = "synergy32", 5*time.Minute, seed
				c.Generate.Kind, c.Generate.Jobs = "synergy", 100
				all[name](c)
				whole, few := told(t, c, entry.Name, true), told(t, c, entry.Name, false)
				if err := differ(whole, few); err != nil {
					t.Errorf("with all reports, and then without those that teach nothing: %v", err)
				}
			})
		}
	}
}

// told returns the result of a run, in which all reports are made or not.
func told(t *testing.T, c *config.Config, policy string, whole bool) string {
	t.Helper()
	in, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := SimulateWatched(context.Background(), c, in, policy, Watch{Whole: whole})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent([]any{run.Result, run.Gaps, run.Refused}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A listener counts reports; one that is deaf does without those that teach nothing.
type listener struct{ reports int }

func (l *listener) Event(_ time.Time, ev scheduler.Event) {
	if _, ok := ev.(scheduler.Reported); ok {
		l.reports++
	}
}

func (*listener) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

type deaf struct{ *listener }

func (deaf) Unreported() {}

// Reports are left out only where nobody looks at them: not for an observer that does not say that it does without, nor under a
// policy that goes by progress, nor up to a horizon at which jobs are not over.
func TestSparse_where_nobody_looks(t *testing.T) {
	count := func(policy string, horizon time.Duration, sparse bool) int {
		c := config.Default()
		c.Cluster, c.Scheduler.Round, c.Horizon = "synergy32", 5*time.Minute, horizon
		c.Generate.Kind, c.Generate.Jobs = "synergy", 30
		in, err := Load(c, Files{})
		if err != nil {
			t.Fatal(err)
		}
		l := &listener{}
		var o scheduler.Observer = l
		if sparse {
			o = deaf{l}
		}
		if _, err := Simulate(t.Context(), c, in, policy, o); err != nil {
			t.Fatal(err)
		}
		return l.reports
	}
	const long = 1000 * time.Hour
	if all, few := count("fifo", 0, false), count("fifo", 0, true); few*5 > all {
		t.Errorf("%d reports without those that teach nothing, %d in all; want at most a fifth", few, all)
	}
	if all, few := count("las", 0, false), count("las", 0, true); few != all {
		t.Errorf("las: %d reports, and %d in all", few, all)
	}
	if all, few := count("fifo", long, false), count("fifo", long, true); few != all {
		t.Errorf("up to a horizon: %d reports, and %d in all", few, all)
	}
}
