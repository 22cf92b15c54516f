package manager

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/builtin"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
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
		id := job.ID("uid-" + string(rune('a'+i)))
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

func fifo() (policy.Policy, placement.Placer, error) {
	entry, err := builtin.Find("fifo")
	if err != nil {
		return nil, nil, err
	}
	p, err := builtin.New("fifo", nil)
	if err != nil {
		return nil, nil, err
	}
	placer, err := entry.NewPlacer("", builtin.PlacerOptions{})
	return p, placer, err
}

// outlookOf returns one that has seen a round, with fresh to look ahead by.
func outlookOf(s *policy.Snapshot, fresh func() (policy.Policy, placement.Placer, error)) *outlook {
	q := &v1alpha1.Queue{}
	q.Name = "train"
	o := newOutlook(slog.New(slog.DiscardHandler), q)
	o.begin(whatif.NewPredictor(fresh, scheduler.DefaultOptions(), s.Cluster.Types()))
	o.Round(s, &policy.Plan{}, nil)
	return o
}

// After a round it is found out, without anybody asking, when jobs start and end, and what
// would help one that waits; jobs go by the names that people gave them.
func TestOutlook_looks_ahead_after_a_round(t *testing.T) {
	o := outlookOf(full(t, 1), fifo)
	if o.expected() != nil {
		t.Fatal("something is expected before the first look")
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.run(ctx) }()
	var all map[job.ID]kube.Expected
	for deadline := time.After(time.Minute); all == nil; {
		select {
		case <-deadline:
			t.Fatal("nothing after a minute")
		case <-time.After(10 * time.Millisecond):
			all = o.expected()
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	holds, waits := all["uid-a"], all["uid-b"]
	if holds.Unblock != "" || holds.ETA == nil || holds.ETA.Start == nil || !holds.ETA.Start.Earliest.Time.Equal(start) {
		t.Errorf("of the job that runs: %+v, want that it has started", holds)
	}
	if want := "it would get (1, 3, a100) if job team/a ended"; waits.Unblock != want {
		t.Errorf("unblock: got %q, want %q", waits.Unblock, want)
	}
	if waits.ETA == nil || waits.ETA.Start == nil || waits.ETA.End == nil {
		t.Fatalf("of the job that waits: %+v, want a start and an end", waits.ETA)
	}
	// The first has 1800 samples to go at 3 a second, and beliefs that nobody has measured are
	// taken to be wrong by a quarter: it ends after 480 s to 750 s, and rounds take a minute.
	early, late := waits.ETA.Start.Earliest.Sub(start), waits.ETA.Start.Latest.Sub(start)
	if early < 8*time.Minute || late > 15*time.Minute || early > late {
		t.Errorf("it starts in %v to %v, want within 8m to 15m", early, late)
	}
}

// What would help is asked for the first jobs that wait, and when they start for all.
func TestOutlook_asks_for_the_first_that_wait(t *testing.T) {
	o := outlookOf(full(t, mostAsked+2), fifo)
	if err := o.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked, known := 0, 0
	for _, x := range o.expected() {
		if x.Unblock != "" {
			asked++
		}
		if x.ETA != nil {
			known++
		}
	}
	if asked != mostAsked || known != mostAsked+3 {
		t.Errorf("asked for %d jobs and know when of %d, want %d and %d", asked, known, mostAsked, mostAsked+3)
	}
}

// A policy that fails, or panics, takes the outlook, and nothing else; what was known stays.
func TestOutlook_survives_its_policy(t *testing.T) {
	for _, test := range []struct {
		name  string
		fresh func() (policy.Policy, placement.Placer, error)
	}{
		{"it panics", func() (policy.Policy, placement.Placer, error) { panic("seeded") }},
		{"it fails", func() (policy.Policy, placement.Placer, error) { return nil, nil, errors.New("seeded") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			fresh := fifo
			o := outlookOf(full(t, 1), func() (policy.Policy, placement.Placer, error) { return fresh() })
			if err := o.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := o.expected()["uid-b"]
			fresh = test.fresh
			o.Round(full(t, 1), &policy.Plan{}, nil)
			_ = o.look(t.Context()) // what it returns is for the log
			if after := o.expected()["uid-b"]; before.Unblock == "" || after.Unblock != before.Unblock {
				t.Errorf("unblock %q, want %q as before", after.Unblock, before.Unblock)
			}
		})
	}
}

// A queue that nobody looks ahead for is served all the same.
func TestOutlook_ends_with_its_queue(t *testing.T) {
	o := newOutlook(slog.New(slog.DiscardHandler), &v1alpha1.Queue{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := o.run(ctx); err != nil || o.expected() != nil {
		t.Errorf("%v, and expected %v, want nothing", err, o.expected())
	}
}

// Where nothing happens it is looked ahead once a minute; else as soon as something has.
func TestOutlook_rests_where_nothing_happens(t *testing.T) {
	s := full(t, 1)
	o := outlookOf(s, fifo)
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
		{"the round does something", nil, []scheduler.Action{scheduler.Preempt{Job: "uid-a"}}, time.Second, true},
		{"nothing for long", nil, nil, lookEvery, true},
		{"nothing again", nil, nil, time.Second, false},
	} {
		if c.ev != nil {
			o.Event(s.Now, c.ev)
		}
		next := *s
		next.Now = s.Now.Add(c.past)
		s = &next
		if c.past > 0 {
			o.Round(s, &policy.Plan{}, c.acts)
		}
		select {
		case <-o.bell:
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
