package scheduler_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// shown is a policy that remembers the rows of a job that it was shown as non-preemptive, and how many GPUs it held.
type shown struct {
	policy.Policy
	of   job.ID
	rows []*policy.Job
	held []int
	// image returns the saved state, with a row of the policy.
	image func(row *policy.Job) []byte
	saved []byte
}

// A withRow is the state of a scheduler, and a row that a policy refers to.
type withRow struct {
	*scheduler.Memory
	row  *policy.Job
	spec *job.Spec
}

func (w *withRow) Remember(c *memory.Codec) {
	w.Memory.Remember(c)
	memory.Shared(c, &w.row)
	memory.Shared(c, &w.spec)
}

func (p *shown) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if j := s.Job(p.of); j != nil && j.NonPreemptive {
		p.rows, p.held, p.saved = append(p.rows, j), append(p.held, j.Allocation.AllGPUs()), p.image(j)
	}
	return p.Policy.Plan(ctx, s)
}

// A job that holds GPUs while others are submitted is shown as non-preemptive, by the same row as long as nothing changes for it: thousands of rows anew in
// each such round would be kept as long as the round can be decided again. A saved state has this row for the policies that refer to it.
func TestSubmission_rounds_share_rows(t *testing.T) {
	nodes, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	var arrivals []workload.Arrival
	for i := range 4 {
		at := time.Duration(1+30*i) * time.Second
		arrivals = append(arrivals, workload.Arrival{At: at, Duration: time.Hour, Spec: job.Spec{ID: job.ID(fmt.Sprint(i)), GPUs: 2, Timed: true, Target: 3600, Adaptivity: job.Rigid}})
	}
	o := sim.DefaultOptions()
	o.FreeStart = true
	w, err := sim.New(nodes, nil, arrivals, o)
	if err != nil {
		t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.Round, so.OnSubmit, so.Profile = 10*time.Minute, true, false
	p := &shown{Policy: queue.New(queue.FIFO()), of: "0"}
	s, err := scheduler.New(p, submesh.New(submesh.Options{}), nodes, so)
	if err != nil {
		t.Fatal(err)
	}
	p.image = func(row *policy.Job) []byte {
		text, err := memory.Marshal(&withRow{s.Memory(), row, row.Spec})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if err := s.Run(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	other, err := scheduler.New(queue.New(queue.FIFO()), submesh.New(submesh.Options{}), nodes, so)
	if err != nil {
		t.Fatal(err)
	}
	again := withRow{Memory: other.Memory()}
	if err := memory.Unmarshal(p.saved, &again); err != nil || again.row == nil || again.row.Spec != again.spec || !again.spec.NonPreemptive {
		t.Errorf("restored row %+v, specification %+v (%v), want those of the non-preemptive job", again.row, again.spec, err)
	}
	if len(p.rows) < 2 {
		t.Fatalf("shown as non-preemptive in %d rounds, want two at least", len(p.rows))
	}
	for i, row := range p.rows {
		if row != p.rows[len(p.rows)-1] && i > 0 || p.held[i] != 2 {
			t.Errorf("round %d: row %p with %d GPUs, want %p with 2", i, row, p.held[i], p.rows[len(p.rows)-1])
		}
	}
}

// While no GPU is free, a submission causes no round before the next regular one.
func TestSubmission_without_free_GPUs(t *testing.T) {
	for gpus, want := range map[int]time.Duration{4: 10 * time.Minute, 3: 31*time.Second + 500*time.Millisecond} {
		nodes, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a", Capacity: cluster.Resources{GPUs: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		var arrivals []workload.Arrival
		for i, n := range []int{gpus, 1} {
			at := time.Duration(1+30*i) * time.Second
			arrivals = append(arrivals, workload.Arrival{At: at, Duration: time.Hour, Spec: job.Spec{ID: job.ID(fmt.Sprint(i)), GPUs: n, Timed: true, Target: 3600, Adaptivity: job.Rigid}})
		}
		w, err := sim.New(nodes, nil, arrivals, sim.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		so := scheduler.DefaultOptions()
		so.Round, so.OnSubmit, so.Profile = 10*time.Minute, true, false
		s, err := scheduler.New(queue.New(queue.FIFO()), submesh.New(submesh.Options{}), nodes, so)
		if err != nil {
			t.Fatal(err)
		}
		r := &roundTimes{started: make(map[job.ID]time.Duration)}
		if err := s.Run(t.Context(), w, r); err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(r.at, func(at time.Duration) bool { return at > 31*time.Second }); r.at[i] != want {
			t.Errorf("%d of 4 GPUs held: the next round is after %v, want %v", gpus, r.at[i], want)
		}
	}
}

// A told is a backend that returns events at their times, and then ends.
type told struct {
	now    time.Time
	end    time.Time
	at     []time.Duration // after epoch
	events []scheduler.Event
}

func (b *told) Now() time.Time { return b.now }

func (b *told) Do(context.Context, []scheduler.Action) error { return nil }

func (b *told) Next(_ context.Context, deadline time.Time) (scheduler.Event, error) {
	if len(b.events) > 0 && !epoch.Add(b.at[0]).After(deadline) {
		ev := b.events[0]
		b.now, b.at, b.events = epoch.Add(b.at[0]), b.at[1:], b.events[1:]
		return ev, nil
	}
	if deadline.After(b.end) {
		return nil, io.EOF
	}
	b.now = deadline
	return nil, nil
}

// whyOf records the reasons of a job's decisions.
type whyOf struct {
	id    job.ID
	kinds []policy.Kind
}

func (*whyOf) Event(time.Time, scheduler.Event) {}

func (o *whyOf) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	for i, j := range s.Jobs {
		if j.ID == o.id {
			o.kinds = append(o.kinds, p.Jobs[i].Why.Kind)
		}
	}
}

// A job that holds GPUs since before a restart is as planned in a submission round, although no round has decided on it.
func TestSubmission_keeps_restored_jobs(t *testing.T) {
	o := unprofiled()
	o.Round, o.OnSubmit = 10*time.Minute, true
	p := &scripted{grants: map[job.ID]cluster.Placement{"first": on(share("n0", 1)), "a": on(share("n0", 2))}}
	s, err := scheduler.New(p, asPlanned{}, nodes(t, "n0", "n1"), o)
	if err != nil {
		t.Fatal(err)
	}
	held := job.Status{Phase: job.Running, Placement: on(share("n0", 2)), Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}}}
	b := &told{now: epoch, end: epoch.Add(2 * time.Minute), at: []time.Duration{0, time.Minute, time.Minute}, events: []scheduler.Event{
		scheduler.Submitted{Spec: &job.Spec{ID: "first"}}, scheduler.Restored{Spec: &job.Spec{ID: "a"}, Status: held}, scheduler.Submitted{Spec: &job.Spec{ID: "b"}},
	}}
	why := &whyOf{id: "a"}
	if err := s.Run(t.Context(), b, why); err != nil {
		t.Fatal(err)
	}
	if len(why.kinds) != 1 || why.kinds[0] != policy.AsPlanned {
		t.Errorf("reasons %v, want one round, in which the job is as planned", why.kinds)
	}
}
