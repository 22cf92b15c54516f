package run

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
)

// classesSeen keeps what the last round showed of classes.
type classesSeen struct{ last []*perf.ClassStats }

func (*classesSeen) Event(time.Time, scheduler.Event) {}

func (c *classesSeen) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) {
	if s != nil {
		c.last = s.Classes
	}
}

// Three jobs of two classes, alone enough that all run as they like.
const fewJobs = "time,name,application,num_replicas,batch_size\n0,a,cifar10,4,512\n600,b,bert,4,48\n30000,c,cifar10,4,512\n"

// shownAs runs a policy that asks for classes, and returns what it was shown last, and
// the inputs.
func shownAs(t *testing.T, set map[string]string) ([]*perf.ClassStats, *Inputs) {
	t.Helper()
	c := config.Default()
	c.Cluster, c.Trace, c.Policies = "t4:4x4", "trace.csv", []string{"sia"}
	for key, value := range set {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := Load(c, textFiles(map[string]string{"trace.csv": fewJobs}))
	if err != nil {
		t.Fatal(err)
	}
	entry, err := registry.Find("sia")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPolicy(c, "sia")
	if err != nil {
		t.Fatal(err)
	}
	seen := &classesSeen{}
	if _, err := in.simulate(context.Background(), c, decides{entry, classed{p}}, Watch{}, []scheduler.Observer{seen}); err != nil {
		t.Fatal(err)
	}
	if len(seen.last) != 2 || seen.last[0].Class != "bert" || seen.last[1].Class != "cifar10" {
		t.Fatalf("shown %d classes, want bert and cifar10", len(seen.last))
	}
	return seen.last, in
}

type classed struct{ policy.Policy }

func (c classed) Traits() policy.Traits {
	t := c.Policy.Traits()
	t.Classes = true
	return t
}

// Without noise, sizes are exact as soon as one job of the class has ended.
func TestLearnedClasses_sizes(t *testing.T) {
	learned, in := shownAs(t, nil)
	for _, c := range learned {
		truth := in.Catalog[string(c.Class)].ClassStats(&job.Spec{Class: c.Class})
		same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
		if c.Guessed != "" || !slices.EqualFunc(c.Sizes, truth.Sizes, same) {
			t.Errorf("%s: guessed %q, sizes\n%v, want\n%v", c.Class, c.Guessed, c.Sizes, truth.Sizes)
		}
		if !(c.Speed(0, onT4(4)) > 0) || c.Restart != in.Catalog[string(c.Class)].StatedDelay {
			t.Errorf("%s: speed %g, restart %v", c.Class, c.Speed(0, onT4(4)), c.Restart)
		}
	}
	if got := learned[1].Arrivals; got != 2 {
		t.Errorf("got %d arrivals of cifar10, want 2", got)
	}
}

func onT4(gpus int) cluster.Configuration {
	return cluster.Configuration{Nodes: (gpus + 3) / 4, GPUs: gpus, GPUType: "t4"}
}

// Known classes are the truth, times the error that was asked for; so is the belief of
// the oracle.
func TestKnownClasses(t *testing.T) {
	known, in := shownAs(t, map[string]string{"estimate.classes": "known", "estimate.mode": "oracle", "jobs.restart": "77s"})
	wrong, _ := shownAs(t, map[string]string{"estimate.classes": "known", "estimate.error": "0.5"})
	off := 0.0
	for i, c := range known {
		spec := &in.Arrivals[slices.IndexFunc(in.Arrivals, func(a workload.Arrival) bool { return a.Spec.Class == c.Class })].Spec
		truth := in.Catalog[string(c.Class)].ClassStats(spec)
		if want := float64(c.Arrivals) / 30000; c.Rate != want || c.Restart != 77*time.Second {
			t.Errorf("%s: rate %g/s and restart %v, want %g and 77 s", c.Class, c.Rate, c.Restart, want)
		}
		for _, gpus := range []int{1, 4, 8} {
			right := truth.Speed(1, onT4(gpus))
			if got := c.Speed(1, onT4(gpus)); got != right {
				t.Errorf("%s: %d GPUs: got %g, want the true %g", c.Class, gpus, got, right)
			}
			factor := wrong[i].Speed(1, onT4(gpus)) / right
			if other := wrong[i].Speed(0, onT4(gpus)) / truth.Speed(0, onT4(gpus)); math.Abs(other/factor-1) > 1e-12 {
				t.Errorf("%s: %d GPUs: %g times as fast in one epoch, %g in another, want equally wrong", c.Class, gpus, factor, other)
			}
			off = max(off, math.Abs(math.Log(factor)))
		}
	}
	if off < 0.1 {
		t.Errorf("an error of 0.5: beliefs are off by e^%g at most, want more", off)
	}
}
