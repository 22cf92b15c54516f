package driver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// linear is a job's speed: a sample per second and GPU.
type linear struct{}

func (linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return float64(a.GPUs) }
func (linear) Efficiency(float64) float64                               { return 1 }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// full returns a snapshot of a node with 3 GPUs that a job has for ten minutes more, and so many
// that wait for as many.
func full(t *testing.T, waiting int) *policy.Snapshot {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: start, Round: 7, Length: time.Minute, Cluster: c}
	for i := range 1 + waiting {
		id := uid(i)
		spec := &job.Spec{
			ID: id, Name: "team/" + string(rune('a'+i)), GPUs: 3, MinGPUs: 3, MaxGPUs: 3, Adaptivity: job.Rigid, Target: 1800,
			NonPreemptive: true, Batch: job.BatchLimits{Init: 1, Max: 1}, BatchSize: 1,
		}
		j := &policy.Job{Spec: spec, Perf: linear{}, Limits: &spec.Batch}
		j.Phase, j.Submitted = job.Waiting, start.Add(time.Duration(i-100)*time.Second)
		if i == 0 {
			j.Phase, j.FirstStarted = job.Running, j.Submitted
			j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "a100"}
			j.Placement = cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: 3}}}
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// kept returns the plan in which every job keeps what it has.
func kept(s *policy.Snapshot) *policy.Plan {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	for i, j := range s.Jobs {
		p.Jobs[i].Allocation, p.Jobs[i].Placement = j.Allocation, j.Placement
	}
	return p
}

// uid returns an ID as a control plane makes them.
func uid(i int) job.ID { return job.ID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)) }

func fifo() (policy.Policy, placement.Placer, error) { return NewPolicy("fifo", nil) }

// predictorOf returns a predictor that has seen a round, and that looks ahead by fresh.
func predictorOf(s *policy.Snapshot, fresh func() (policy.Policy, placement.Placer, error)) *predictor {
	p := newPredictor(slog.New(slog.DiscardHandler), "train")
	p.ahead = whatif.NewPredictor(fresh, scheduler.DefaultOptions(), s.Cluster.Types())
	p.again = &redecider{ahead: p.ahead, at: func(context.Context, time.Time) (*policy.Snapshot, counterfactual.Decider, error) {
		p, _, err := fresh()
		return s, counterfactual.From(p, fresh), err
	}}
	p.Round(s, kept(s), nil)
	return p
}

// After a round it is found out, without anybody asking, when jobs start and end, and what
// would help one that waits; jobs go by the names that people gave them.
func TestPredictor_looks_ahead_after_a_round(t *testing.T) {
	p := predictorOf(full(t, 1), fifo)
	if p.predictions() != nil {
		t.Fatal("something is expected before the first look")
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()
	var all map[job.ID]Prediction
	for deadline := time.After(time.Minute); all == nil; {
		select {
		case <-deadline:
			t.Fatal("nothing after a minute")
		case <-time.After(10 * time.Millisecond):
			all = p.predictions()
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	holds, waits := all[uid(0)], all[uid(1)]
	if holds.Unblock != "" || !holds.From.Equal(start) || holds.ETA.Start.Why != whatif.Known || holds.ETA.Start.Early != 0 {
		t.Errorf("of the job that runs: %+v, want that it has started", holds)
	}
	if want := "it would get 3 a100 GPUs if job team/a ended"; waits.Unblock != want {
		t.Errorf("unblock: got %q, want %q", waits.Unblock, want)
	}
	if waits.ETA.Start.Why != whatif.Known || waits.ETA.End.Why != whatif.Known {
		t.Fatalf("of the job that waits: %+v, want a start and an end", waits.ETA)
	}
	// The first has 1800 samples to go at 3 a second, so it ends after 600 s. No prediction of this
	// run has come true yet: the range is the one of other runs' errors.
	guess := calibration.Guess{Early: 10 * time.Minute, Late: 10 * time.Minute}
	want := calibration.New(time.Minute).Range(start, calibration.Start, guess)
	if got := waits.ETA.Start.Range; got != want || got.Early == got.Late {
		t.Errorf("it starts in %+v, want %+v", got, want)
	}
}

// What would help is asked for the first jobs that wait, and when they start for all. The state of the policy is copied once for
// all of them.
func TestPredictor_asks_for_the_first_that_wait(t *testing.T) {
	p := predictorOf(full(t, mostWaiting+2), fifo)
	at, copies := p.again.at, 0
	p.again.at = func(ctx context.Context, now time.Time) (*policy.Snapshot, counterfactual.Decider, error) {
		copies++
		return at(ctx, now)
	}
	if err := p.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked, known := 0, 0
	for _, x := range p.predictions() {
		if x.Unblock != "" {
			asked++
		}
		if !x.From.IsZero() {
			known++
		}
	}
	if asked != mostWaiting || known != mostWaiting+3 {
		t.Errorf("asked for %d jobs and know when of %d, want %d and %d", asked, known, mostWaiting, mostWaiting+3)
	}
	if copies != 1 {
		t.Errorf("the last round was copied %d times, want once", copies)
	}
}

// A policy that fails, or panics, takes the predictions, and nothing else; what was known stays.
func TestPredictor_survives_its_policy(t *testing.T) {
	for _, test := range []struct {
		name  string
		fresh func() (policy.Policy, placement.Placer, error)
	}{
		{"it panics", func() (policy.Policy, placement.Placer, error) { panic("seeded") }},
		{"it fails", func() (policy.Policy, placement.Placer, error) { return nil, nil, errors.New("seeded") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			fresh := fifo
			p := predictorOf(full(t, 1), func() (policy.Policy, placement.Placer, error) { return fresh() })
			if err := p.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := p.predictions()[uid(1)]
			fresh = test.fresh
			next := full(t, 1)
			p.Round(next, kept(next), nil)
			_ = p.look(t.Context()) // what it returns is for the log
			if after := p.predictions()[uid(1)]; before.Unblock == "" || after.Unblock != before.Unblock {
				t.Errorf("unblock %q, want %q as before", after.Unblock, before.Unblock)
			}
		})
	}
}

// A queue that nobody looks ahead for is served all the same.
func TestPredictor_ends_with_its_queue(t *testing.T) {
	p := newPredictor(slog.New(slog.DiscardHandler), "train")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.run(ctx); err != nil || p.predictions() != nil {
		t.Errorf("%v, and expected %v, want nothing", err, p.predictions())
	}
}

// Where nothing happens it is looked ahead once a minute; else as soon as something has.
func TestPredictor_rests_where_nothing_happens(t *testing.T) {
	s := full(t, 1)
	p := predictorOf(s, fifo)
	for _, c := range []struct {
		name string
		ev   scheduler.Event
		acts []scheduler.Action
		past time.Duration
		want bool
	}{
		{"the first round", nil, nil, 0, true},
		{"nothing but time", nil, nil, time.Second, false},
		{"a job was submitted", scheduler.Submitted{Spec: s.Jobs[1].Spec}, nil, time.Second, true},
		{"that was looked at", nil, nil, time.Second, false},
		{"the round does something", nil, []scheduler.Action{scheduler.Preempt{Job: uid(0)}}, time.Second, true},
		{"nothing for long", nil, nil, quietLook, true},
		{"nothing again", nil, nil, time.Second, false},
	} {
		if c.ev != nil {
			p.Event(s.Now, c.ev)
		}
		next := *s
		next.Now = s.Now.Add(c.past)
		s = &next
		if c.past > 0 {
			p.Round(s, &policy.Plan{}, c.acts)
		}
		select {
		case <-p.wake:
			if !c.want {
				t.Errorf("%s: it looks, want not", c.name)
			}
		default:
			if c.want {
				t.Errorf("%s: it does not look", c.name)
			}
		}
	}
}

func (linear) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
