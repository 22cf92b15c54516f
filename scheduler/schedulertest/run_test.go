package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func nodes(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{
		{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}},
		{ID: "n1", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func toy(testing.TB) scheduler.Backend {
	var jobs []ToyJob
	for i := range 6 {
		jobs = append(jobs, ToyJob{
			Spec: &job.Spec{ID: job.ID(fmt.Sprintf("job-%d", i)), GPUs: 2, BatchSize: 32, Batch: job.BatchLimits{Init: 32, Max: 32}},
			At:   time.Duration(i) * 45 * time.Second, Work: 20 * time.Minute, LostAt: time.Duration(i%2) * 6 * time.Minute,
		})
	}
	return NewToy(jobs)
}

func TestToy(t *testing.T) { RunRepeatable(t, toy, Drive(nodes(t))) }

// counter counts exits.
type counter map[scheduler.Outcome]int

func (c counter) Event(_ time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Exited); ok {
		c[e.Outcome]++
	}
}

func (counter) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// shown notes what rounds show as computed.
type shown []string

func (*shown) Event(time.Time, scheduler.Event) {}

func (o *shown) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) {
	if s.Computed != nil {
		*o = append(*o, fmt.Sprintf("%d in round %d", s.Computed, s.Round))
	}
}

// Where work takes time, the next is started by the plan of the round in which its
// result is shown: rounds are a minute.
func TestToy_that_thinks_for_long(t *testing.T) {
	w, audit, got := toy(t).(*Toy), Audit(), shown{}
	w.Thinking = 150 * time.Second
	if err := DriveWith(nodes(t), &thinker{of: FirstFit{}}, audit, &got)(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 in round 3", "3 in round 6", "6 in round 9"}
	if err := audit.End(); err != nil || !slices.Equal(got[:min(3, len(got))], want) {
		t.Errorf("got %v and error %v, want %v first", got, err, want)
	}
}

// TestToy_ends_every_job shows that the world of the suite's own tests does
// what it says: every job ends, and those that hold GPUs when their failure
// strikes, after six minutes, are lost once; job-5 still waits then.
func TestToy_ends_every_job(t *testing.T) {
	count := counter{}
	if err := Drive(nodes(t), count)(t.Context(), toy(t)); err != nil {
		t.Fatal(err)
	}
	if count[scheduler.Done] != 6 || count[scheduler.Lost] != 2 {
		t.Errorf("got %v, want 6 done and 2 lost", count)
	}
}

// A spoilt world breaks one rule.
type spoilt struct {
	scheduler.Backend
	next func(s *spoilt, deadline time.Time, ev scheduler.Event, err error) (scheduler.Event, error)
	do   func(actions []scheduler.Action) error
	back time.Duration // how late its clock is
	n    int           // calls of Next
}

func (s *spoilt) Now() time.Time { return s.Backend.Now().Add(-s.back) }

func (s *spoilt) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	s.n++
	ev, err := s.Backend.Next(ctx, deadline)
	if s.next == nil {
		return ev, err
	}
	return s.next(s, deadline, ev, err)
}

func (s *spoilt) Do(ctx context.Context, actions []scheduler.Action) error {
	if s.do == nil {
		return s.Backend.Do(ctx, actions)
	}
	return s.do(actions)
}

// onComputed is a world in which background work returns something else.
func onComputed(change func(any) any) spoilt {
	return spoilt{next: func(_ *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
		if c, ok := ev.(scheduler.Computed); ok {
			return scheduler.Computed{Result: change(c.Result)}, err
		}
		return ev, err
	}}
}

func silenced(result any) any {
	if _, failed := result.(error); failed {
		return nil
	}
	return result
}

type drive = func(context.Context, scheduler.Backend) error

// Each seeded bug is caught by the rule that it breaks.
func TestRun_catches(t *testing.T) {
	lost := scheduler.Exited{Job: "ghost", Outcome: scheduler.Lost}
	for name, c := range map[string]struct {
		world spoilt
		check func(context.Context, scheduler.Backend, drive) error
		want  string
	}{
		"a clock that goes back": {spoilt{next: func(s *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if s.n == 9 {
				s.back = 2 * time.Minute
			}
			return ev, err
		}}, wholeRun, "time went back"},
		"an event after the deadline": {spoilt{next: func(s *spoilt, d time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			s.back = 0
			if ev != nil && s.n > 5 {
				s.back = -2 * time.Minute
			}
			return ev, err
		}}, wholeRun, "want none after the deadline"},
		"a return before the deadline": {spoilt{next: func(s *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			s.back = time.Second
			return ev, err
		}}, wholeRun, "want to wait until the deadline"},
		"an event and an error": {spoilt{next: func(s *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if errors.Is(err, io.EOF) {
				return lost, err
			}
			return ev, err
		}}, wholeRun, "want one of them"},
		"life after the end": {spoilt{next: func(s *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if errors.Is(err, io.EOF) && s.back == 0 {
				s.back = 1
				return nil, io.EOF
			}
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return ev, err
		}}, wholeRun, "want io.EOF again"},
		"no jobs": {spoilt{next: func(*spoilt, time.Time, scheduler.Event, error) (scheduler.Event, error) {
			return nil, io.EOF
		}}, wholeRun, "want a world with jobs"},
		"a report of a job without GPUs": {spoilt{next: func(s *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if r, ok := ev.(scheduler.Reported); ok && s.Now().Equal(Epoch.Add(330*time.Second)) {
				r.Job = "job-5" // waits
				return r, err
			}
			return ev, err
		}}, wholeRun, "want none while it holds no GPUs"},
		"a job that is run and falls silent": {spoilt{next: func(s *spoilt, d time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if s.n > 60 {
				return nil, io.EOF
			}
			for {
				r, ok := ev.(scheduler.Reported)
				if !ok || r.Job != "job-0" {
					return ev, err
				}
				ev, err = s.Backend.Next(context.Background(), d)
			}
		}}, wholeRun, "job job-0: run at"},
		"an action refused for nothing": {spoilt{do: func([]scheduler.Action) error { return io.ErrShortWrite }}, noActions, "short write"},
		"an unknown job":                {spoilt{do: func([]scheduler.Action) error { return nil }}, stranger, "scheduler.Preempt of an unknown job"},
		"work that does not end": {spoilt{next: func(s *spoilt, d time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if _, ok := ev.(scheduler.Computed); ok {
				return s.Backend.Next(context.Background(), d)
			}
			return ev, err
		}}, wholeRun, "want background work to end before the next round"},
		"work that nobody asked for": {spoilt{next: func(_ *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if _, ok := ev.(scheduler.Reported); ok {
				return scheduler.Computed{}, nil
			}
			return ev, err
		}}, wholeRun, "want none while no background work is under way"},
		"another result":           {onComputed(func(any) any { return -1 }), wholeRun, "returned -1, want 0"},
		"a panic that is not told": {onComputed(silenced), wholeRun, "returned <nil>, want an error"},
		"a deaf world": {spoilt{next: func(_ *spoilt, _ time.Time, _ scheduler.Event, err error) (scheduler.Event, error) {
			if err != nil {
				err = io.EOF
			}
			return nil, err
		}}, cancelled, "want context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			c.world.Backend = toy(t)
			err := c.check(t.Context(), &c.world, Drive(nodes(t)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// A suite that never sees background work says so.
func TestRun_needs_background_work(t *testing.T) {
	err := wholeRun(t.Context(), toy(t), DriveWith(nodes(t), FirstFit{}))
	if err == nil || err.Error() != "no background work was asked for, want a policy with some in its plans" {
		t.Errorf("got error %v", err)
	}
}

// What differs between two runs, in order, number or content, is told.
func TestRunRepeatable_catches(t *testing.T) {
	calls := 0 // shared by both worlds: what no world may have
	for name, c := range map[string]struct {
		next func(s *spoilt, d time.Time, ev scheduler.Event, err error) (scheduler.Event, error)
		want string
	}{
		"another number": {func(s *spoilt, _ time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if r, ok := ev.(scheduler.Reported); ok {
				calls++
				r.Progress += float64(calls)
				return r, err
			}
			return ev, err
		}, "scheduler.Reported"},
		"an event less": {func(s *spoilt, d time.Time, ev scheduler.Event, err error) (scheduler.Event, error) {
			if e, ok := ev.(scheduler.Exited); ok && e.Job == "job-5" {
				if calls++; calls == 2 {
					return s.Backend.Next(context.Background(), d)
				}
			}
			return ev, err
		}, "events the first time"},
	} {
		t.Run(name, func(t *testing.T) {
			calls = 0
			one, two := &spoilt{Backend: toy(t), next: c.next}, &spoilt{Backend: toy(t), next: c.next}
			err := repeatable(t.Context(), one, two, Drive(nodes(t)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

func TestWatch_follows_each_job(t *testing.T) {
	spec := &job.Spec{ID: "a"}
	for name, events := range map[string][]scheduler.Event{
		"once":                       {scheduler.Submitted{Spec: spec}, scheduler.Submitted{Spec: spec}},
		"between submission and end": {scheduler.Submitted{Spec: spec}, scheduler.Exited{Job: "a"}, scheduler.Profiled{Job: "a"}},
		"Reported":                   {scheduler.Reported{Report: job.Report{Job: "a", Profile: true}}},
	} {
		w := &watch{jobs: map[job.ID]life{}, runs: map[job.ID]*granted{}}
		for _, ev := range events {
			if len(w.errs) > 0 {
				t.Errorf("%s: too early: %v", name, w.errs)
			}
			w.event(ev)
		}
		if len(w.errs) != 1 || !strings.Contains(w.errs[0].Error(), name) {
			t.Errorf("got %v, want one about %q", w.errs, name)
		}
	}
}
