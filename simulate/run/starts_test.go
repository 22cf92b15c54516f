package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// worlds are the generator kinds, each with a cluster that its jobs are made for.
var worlds = map[string]string{
	"philly-like": "hetero64", "helios-like": "hetero64", "newtrace-like": "hetero64", "spike": "hetero64", "drifting": "hetero64",
	"fixed-duration": "hetero64", "synergy": "synergy32", "synergy-static": "synergy32",
	"lyra": "lyra", "lyra-eighth": "lyra8", "lyra-testbed": "lyra-testbed",
}

// TestEvery_policy_starts_every_job: alone on an idle cluster that has the GPUs, every job of
// every generator kind, rigid, strong-scaling, adaptive or elastic, is started by every policy,
// and no decision says that it never will be.
func TestEvery_policy_starts_every_job(t *testing.T) {
	for _, kind := range generate.Kinds() {
		for _, how := range []string{"", "jobs.rigid", "jobs.strong-scaling", "jobs.elastic"} {
			t.Run(kind.Name+"/"+how, func(t *testing.T) {
				t.Parallel()
				c := config.Default()
				set(t, c, "generate.kind", kind.Name, "generate.jobs", "60", "cluster", worlds[kind.Name], "estimate.mode", "oracle")
				if how != "" {
					set(t, c, how, "1")
				}
				in, err := Load(c, textFiles(nil))
				if err != nil {
					t.Fatal(err)
				}
				names := registry.Names()
				if testing.Short() {
					names = draws.Some(t, 8, names)
				}
				for _, a := range distinct(t, in.Arrivals) {
					for _, name := range names {
						startsAlone(t, c, in, a, name)
					}
				}
			})
		}
	}
}

func set(t *testing.T, c *config.Config, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := c.Set(pairs[i], pairs[i+1], "test"); err != nil {
			t.Fatal(err)
		}
	}
}

// distinct returns two of four jobs of different shapes, one where tests are to be short.
func distinct(t *testing.T, all []workload.Arrival) []workload.Arrival {
	t.Helper()
	const most = 4
	var kept []workload.Arrival
	seen := map[string]bool{}
	for _, a := range all {
		shape := fmt.Sprint(a.Application, a.Spec.GPUs, a.Spec.Adaptivity, a.Spec.WorkerGPUs, a.Bound)
		if !seen[shape] && len(kept) < most {
			seen[shape], kept = true, append(kept, a)
		}
	}
	return draws.Some(t, 2, kept)
}

// startsAlone runs one job for an hour: nodes that are rented have to come first, and profiles.
func startsAlone(t *testing.T, c *config.Config, all *Inputs, a workload.Arrival, name string) {
	t.Helper()
	a.At = 0
	in, alone := *all, *c
	in.Arrivals, alone.Horizon = []workload.Arrival{a}, time.Hour
	w := &starting{}
	if _, err := Simulate(t.Context(), &alone, &in, name, w); err != nil {
		t.Errorf("%s: job %+v alone: %v", name, a.Spec, err)
		return
	}
	if !w.started || w.never != "" {
		t.Errorf("%s: job %+v alone: started %v, told that %q", name, a.Spec, w.started, w.never)
	}
}

// starting observes whether a job was started, and whether it was ever told that it cannot be.
type starting struct {
	started bool
	never   string
}

func (*starting) Event(time.Time, scheduler.Event) {}

func (w *starting) Round(_ *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	for _, act := range acts {
		if _, ok := act.(scheduler.Run); ok {
			w.started = true
		}
	}
	for i := range p.Jobs {
		if k := p.Jobs[i].Why.Kind; k == policy.Impossible || k == policy.Refused {
			w.never = strings.TrimSpace(k.String() + " " + p.Refused)
		}
	}
}
