package scheduler_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/multifactor"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// roundTimes notes when rounds are, and what was submitted first started when.
type roundTimes struct {
	at      []time.Duration
	started map[job.ID]time.Duration
}

func (*roundTimes) Event(time.Time, scheduler.Event) {}

func (r *roundTimes) Round(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) {
	now := s.Now.Sub(sim.Epoch)
	r.at = append(r.at, now)
	for _, a := range acts {
		if run, ok := a.(scheduler.Run); ok {
			r.started[run.Job] = now
		}
	}
}

// TestOnEvent: jobs wait for no regular round, neither when they come nor when another ends; what comes within so long after a round is
// planned together. While nobody waits there is no round of a policy that uses only what was submitted.
func TestOnEvent(t *testing.T) {
	nodes, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	slurm, err := multifactor.New(multifactor.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		policy policy.Policy
		fewest bool
	}{"multifactor": {slurm, true}, "fifo": {queue.New(queue.FIFO()), false}} {
		var arrivals []workload.Arrival
		for _, a := range []struct {
			id       job.ID
			at, runs time.Duration
		}{{"a", 10 * time.Second, 20 * time.Minute}, {"b", 11 * time.Second, 15 * time.Minute}} {
			arrivals = append(arrivals, workload.Arrival{At: a.at, Duration: a.runs, Spec: job.Spec{ID: a.id, GPUs: 4, Timed: true, Target: a.runs.Seconds(), Adaptivity: job.Rigid}})
		}
		o := sim.DefaultOptions()
		o.FreeStart = true
		w, err := sim.New(nodes, nil, arrivals, o)
		if err != nil {
			t.Fatal(err)
		}
		so := scheduler.DefaultOptions()
		so.Round, so.OnEvent, so.Profile = 10*time.Minute, 3*time.Second, false
		s, err := scheduler.New(test.policy, submesh.New(submesh.Options{}), nodes, so)
		if err != nil {
			t.Fatal(err)
		}
		r := &roundTimes{started: make(map[job.ID]time.Duration)}
		if err := s.Run(t.Context(), w, r); err != nil {
			t.Fatal(err)
		}
		first := 10*time.Second + 500*time.Millisecond
		if got := r.started["a"]; got != first {
			t.Errorf("%s: a starts after %v, want %v", name, got, first)
		}
		if got, want := r.started["b"], first+20*time.Minute+500*time.Millisecond; got != want {
			t.Errorf("%s: b starts after %v, want %v: half a second after a has ended", name, got, want)
		}
		if last := r.at[len(r.at)-1]; test.fewest && last != r.started["b"] {
			t.Errorf("%s: last round after %v, want none after b has started", name, last)
		}
	}
}
