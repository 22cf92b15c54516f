package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A cut world ends after the round at a time.
type cut struct {
	scheduler.Backend
	at time.Duration
}

func (c cut) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if deadline.Sub(sim.Epoch) > c.at {
		return nil, errHorizon
	}
	return c.Backend.Next(ctx, deadline)
}

// notes keeps what an observer sees of reports, starts and ends.
type notes struct {
	reports map[job.ID][]job.Report
	ends    map[job.ID]time.Time
	runs    map[job.ID]int
	asked   map[job.ID]job.BatchSize
}

func newNotes() *notes {
	return &notes{reports: map[job.ID][]job.Report{}, ends: map[job.ID]time.Time{}, runs: map[job.ID]int{}, asked: map[job.ID]job.BatchSize{}}
}

func (n *notes) Event(now time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Reported:
		n.reports[ev.Job] = append(n.reports[ev.Job], ev.Report)
	case scheduler.Exited:
		n.ends[ev.Job] = now
	}
}

func (n *notes) Round(_ *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) {
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			n.runs[r.Job]++
			n.asked[r.Job] = r.Batch
		}
	}
}

// calm is busy without failures, and all of its jobs report.
func calm(t testing.TB) *script {
	s := busy(t)
	s.world.Faults = sim.Faults{}
	s.scheduler.Profile = false
	var all []workload.Arrival
	for _, a := range s.arrivals {
		if a.Application != "" {
			a.At /= 3
			all = append(all, a)
		}
	}
	s.arrivals = all
	return s
}

// through runs the script under a policy through a wrapper, and returns the scheduler after it.
func (s *script) through(t *testing.T, name string, wrap func(scheduler.Backend) scheduler.Backend, seen *notes) *scheduler.Scheduler {
	t.Helper()
	p, err := registry.New(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s.by(t, p, placer, wrap, seen)
}

func (s *script) by(t *testing.T, p policy.Policy, placer placement.Placer, wrap func(scheduler.Backend) scheduler.Backend, seen *notes) *scheduler.Scheduler {
	t.Helper()
	w, err := sim.New(s.cluster, s.catalog, s.arrivals, s.world)
	if err != nil {
		t.Fatal(err)
	}
	sch, err := scheduler.New(p, placer, s.cluster, s.scheduler)
	if err != nil {
		t.Fatal(err)
	}
	if err := sch.Run(context.Background(), wrap(w), seen); err != nil && !errors.Is(err, errHorizon) {
		t.Fatal(err)
	}
	return sch
}

// left returns what a script has still to do after a snapshot, with what was there at its start.
func (s *script) left(snap *policy.Snapshot, seen *notes) *script {
	gone := snap.Now.Sub(sim.Epoch)
	rest := &script{cluster: s.cluster, catalog: s.catalog, world: s.world, scheduler: s.scheduler}
	rest.world.Initial = map[job.ID]*sim.InitialState{}
	byName := map[job.ID]*policy.Job{}
	for _, j := range snap.Jobs {
		byName[j.ID] = j
	}
	for _, a := range s.arrivals {
		j := byName[a.Spec.ID]
		if j == nil {
			continue
		}
		a.At = 0
		rest.arrivals = append(rest.arrivals, a)
		st := j.Status
		for _, at := range []*time.Time{&st.Submitted, &st.FirstStarted, &st.Since} {
			if !at.IsZero() {
				*at = at.Add(-gone)
			}
		}
		initial := &sim.InitialState{Status: st, Batch: seen.asked[j.ID], Reports: seen.reports[j.ID]}
		if st.Phase == job.Restoring {
			initial.Restore = s.catalog[a.Application].RestartDelay - snap.Now.Sub(j.Since)
		}
		rest.world.Initial[j.ID] = initial
	}
	return rest
}

// TestStanding: a world that begins in the middle of another goes on as that does. Progress
// between reports is as reported last, so that ends differ by rounding alone if the cut is
// at a report.
func TestStanding(t *testing.T) {
	for _, name := range []string{"fifo", "srtf", "las", "sia"} {
		t.Run(name, func(t *testing.T) {
			s := calm(t)
			whole := newNotes()
			s.through(t, name, func(b scheduler.Backend) scheduler.Backend { return b }, whole)
			for _, at := range []time.Duration{14 * time.Minute, 33 * time.Minute, 80 * time.Minute} {
				first, second := newNotes(), newNotes()
				sch := s.through(t, name, func(b scheduler.Backend) scheduler.Backend { return cut{b, at} }, first)
				snap := sch.Snapshot(sim.Epoch.Add(at))
				if len(snap.Jobs) == 0 {
					t.Fatalf("cut at %v: no job is left", at)
				}
				s.left(snap, first).through(t, name, func(b scheduler.Backend) scheduler.Backend { return b }, second)
				for _, j := range snap.Jobs {
					got, want := second.ends[j.ID].Sub(sim.Epoch)+at, whole.ends[j.ID].Sub(sim.Epoch)
					if d := (got - want).Abs(); d > time.Millisecond {
						t.Errorf("cut at %v: job %s ends at %v, want %v as in the whole world", at, j.ID, got, want)
					}
					if n := first.runs[j.ID] + second.runs[j.ID]; n != whole.runs[j.ID] {
						t.Errorf("cut at %v: job %s: %d starts, want %d", at, j.ID, n, whole.runs[j.ID])
					}
				}
			}
		})
	}
}

// TestStanding_refuses: what cannot have been is refused, by the name of the job.
func TestStanding_refuses(t *testing.T) {
	hold := func(node cluster.NodeID, gpus int) *sim.InitialState {
		s := &sim.InitialState{Status: job.Status{Phase: job.Running, Submitted: sim.Epoch}}
		s.Status.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "rtx"}
		s.Status.Placement = cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: gpus}}}
		return s
	}
	half := hold("rtx-0", 2)
	half.Status.Placement = nil
	late, over := hold("rtx-0", 1), hold("rtx-0", 1)
	late.Restore, over.Status.Phase = -1, job.Completed
	for want, initial := range map[string]map[job.ID]*sim.InitialState{
		"":                           {"j0": hold("rtx-0", 4), "j1": hold("rtx-1", 4)},
		"job j0: holds GPUs of node": {"j0": hold("t4-0", 1)},
		"job j1: with others holds 5 GPUs of node rtx-0, want at most 4": {"j0": hold("rtx-0", 4), "j1": hold("rtx-0", 1)},
		"job j0: is placed on 0 GPUs, want the 2 it holds":               {"j0": half},
		"-1ns until restored, want finite and at least 0":                {"j0": late},
		"job j0: is completed, want a job that has not ended":            {"j0": over},
		"1 initial jobs, but 0 of them arrive, want all":                 {"nobody": hold("rtx-0", 1)},
	} {
		s := calm(t)
		s.world.Initial = initial
		_, err := sim.New(s.cluster, s.catalog, s.arrivals, s.world)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s := calm(t)
	s.world.Initial, s.world.Public.WholeRounds = map[job.ID]*sim.InitialState{"j0": hold("rtx-0", 1)}, true
	if _, err := sim.New(s.cluster, s.catalog, s.arrivals, s.world); err == nil || !strings.Contains(err.Error(), "want none with whole rounds") {
		t.Errorf("got %v, want a complaint about whole rounds", err)
	}
}
