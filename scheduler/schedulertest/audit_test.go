package schedulertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A tamper shows an observer another run than there was: each function, if not
// nil, may change what it is handed, or drop it by returning nil.
type tamper struct {
	to     scheduler.Observer
	event  func(now *time.Time, ev scheduler.Event) []scheduler.Event
	round  func(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) []scheduler.Action
	spoilt bool
}

func (o *tamper) Event(now time.Time, ev scheduler.Event) {
	if o.event == nil {
		o.to.Event(now, ev)
		return
	}
	for _, ev := range o.event(&now, ev) {
		o.to.Event(now, ev)
	}
}

func (o *tamper) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	if o.round != nil {
		snap, plan := *s, *p
		plan.Jobs = slices.Clone(p.Jobs)
		snap.Jobs = slices.Clone(s.Jobs)
		acts = o.round(&snap, &plan, slices.Clone(acts))
		s, p = &snap, &plan
	}
	o.to.Round(s, p, acts)
}

// once applies change to the first action of a kind that it accepts.
func once[A scheduler.Action](change func(a A) scheduler.Action) *tamper {
	o := &tamper{}
	o.round = func(_ *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) []scheduler.Action {
		for i, act := range acts {
			if a, ok := act.(A); ok && !o.spoilt {
				o.spoilt = true
				acts[i] = change(a)
			}
		}
		return acts
	}
	return o
}

// onExit changes or drops the first exit with an outcome, or adds to it.
func onExit(how scheduler.Outcome, change func(ev scheduler.Exited) []scheduler.Event) *tamper {
	o := &tamper{}
	o.event = func(_ *time.Time, ev scheduler.Event) []scheduler.Event {
		if e, ok := ev.(scheduler.Exited); ok && e.Outcome == how && !o.spoilt {
			o.spoilt = true
			return change(e)
		}
		return []scheduler.Event{ev}
	}
	return o
}

// onReport changes the first report that it accepts.
func onReport(change func(r *job.Report) bool) *tamper {
	o := &tamper{}
	o.event = func(_ *time.Time, ev scheduler.Event) []scheduler.Event {
		if r, ok := ev.(scheduler.Reported); ok && !o.spoilt && change(&r.Report) {
			o.spoilt = true
			return []scheduler.Event{r}
		}
		return []scheduler.Event{ev}
	}
	return o
}

// crowd is a toy world in which jobs of two and of three GPUs, one of them
// non-preemptive, one with a reservation, share eight GPUs.
func crowd() scheduler.Backend {
	spec := func(id job.ID, gpus int) *job.Spec {
		return &job.Spec{ID: id, GPUs: gpus, BatchSize: 32, Batch: job.BatchLimits{Init: 32, Max: 32}}
	}
	fixed, booked := spec("fixed", 2), spec("booked", 2)
	fixed.NonPreemptive = true
	booked.Reservation = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}
	var jobs []ToyJob
	for i, s := range []*job.Spec{fixed, booked, spec("a", 3), spec("b", 2), spec("c", 3), spec("d", 2)} {
		jobs = append(jobs, ToyJob{Spec: s, At: time.Duration(i) * 10 * time.Second, Work: 40 * time.Minute, LostAt: time.Duration(i%2) * 8 * time.Minute})
	}
	return NewToy(jobs)
}

func auditCrowd(t *testing.T, o *tamper) error {
	t.Helper()
	a := Audit()
	o.to = a
	if err := Drive(nodes(t), o)(context.WithoutCancel(t.Context()), crowd()); err != nil {
		t.Fatal(err)
	}
	return a.End()
}

func TestAudit_of_a_good_run(t *testing.T) {
	if err := auditCrowd(t, &tamper{}); err != nil {
		t.Error(err)
	}
}

func TestAuditor_Held(t *testing.T) {
	a := Audit()
	if err := Drive(nodes(t), a)(t.Context(), crowd()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{"fixed", "booked", "a", "d"} {
		if got, want := a.Held(id), 40*time.Minute; got < want || got > want+2 {
			t.Errorf("job %s: held %v of GPU time, want the %v of its work", id, got, want)
		}
	}
	if got := a.Held("nobody"); got != 0 {
		t.Errorf("a job that never was held %v", got)
	}
}

// Each seeded bug breaks one invariant, and is told.
func TestAudit_catches(t *testing.T) {
	type run = scheduler.Run
	for name, c := range map[string]struct {
		bug  *tamper
		want string
	}{
		"1: a clock that goes back": {&tamper{event: func(now *time.Time, ev scheduler.Event) []scheduler.Event {
			if e, ok := ev.(scheduler.Exited); ok && e.Outcome == scheduler.Done {
				*now = now.Add(-time.Hour)
			}
			return []scheduler.Event{ev}
		}}, "time went back"},
		"2: a GPU given twice": {&tamper{round: func(_ *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			for i, act := range acts {
				if r, ok := act.(run); ok {
					r.Placement = cluster.Placement{{Node: "n0", Resources: r.Placement[0].Resources}}
					acts[i] = r
				}
			}
			return acts
		}}, "node n0: 7 GPUs are held, want at most 4"},
		"2: a GPU that is not there": {once(func(r run) scheduler.Action {
			r.Placement = cluster.Placement{{Node: "n7", Resources: r.Placement[0].Resources}}
			return r
		}), "of node n7, want GPUs of (1, 2, t4) that are there"},
		"3: half a gang": {once(func(r run) scheduler.Action {
			r.Placement = slices.Clone(r.Placement)
			r.Placement[0].GPUs--
			return r
		}), "placed on 1 GPUs, want its gang of 2"},
		"3: a smaller gang": {once(func(r run) scheduler.Action {
			if r.Job != "a" {
				r.Job, r.Allocation.GPUs = "a", 1
			}
			r.Placement = cluster.Placement{{Node: "n0", Resources: cluster.Resources{GPUs: 1}}}
			return r
		}), "job a: runs on 1 GPUs, want at least 3, at most 3"},
		"3: two types of a job that may not": {once(func(r run) scheduler.Action {
			r.Allocation.Also = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "a100"}
			return r
		}), "+ (1, 1, a100), want one GPU type, or two that it may use at once"},
		"3: two types worth too much": {once(func(r run) scheduler.Action {
			r.Allocation.Also = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "a100"}
			return r
		}), "+ (1, 1, a100), worth 3 GPUs, want at least 2, at most 2"},
		"3: one that trains on less than it holds": {onReport(func(r *job.Report) bool {
			r.Configuration.GPUs--
			return true
		}), "measured on (1, 1, t4), want what it holds, (1, 2, t4)"},
		"3: one that measured before it ran": {onReport(func(r *job.Report) bool {
			r.Interval += time.Minute
			return true
		}), "want at most the 30s since its last Run"},
		"3: one that trains on nothing": {once(func(r run) scheduler.Action { return scheduler.Profile{Job: r.Job} }), "want what it holds, (none)"},
		"4: a preempted non-preemptive job": {&tamper{round: func(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			if s.Jobs[0].ID == "fixed" && s.Jobs[0].Holding() {
				return append([]scheduler.Action{scheduler.Preempt{Job: "fixed"}}, acts...)
			}
			return acts
		}}, "job fixed: preempted, want it to stay"},
		"4: a moved non-preemptive job": {&tamper{round: func(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			if j := s.Jobs[0]; j.ID == "fixed" && j.Holding() {
				return append(acts, run{Job: j.ID, Allocation: j.Allocation, Placement: cluster.Placement{{Node: "n1", Resources: j.Placement[0].Resources}}})
			}
			return acts
		}}, "job fixed: moved to"},
		"5: a reservation forgotten": {&tamper{round: func(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			return slices.DeleteFunc(acts, func(act scheduler.Action) bool {
				r, ok := act.(run)
				return ok && r.Job == "booked"
			})
		}}, "job booked: holds nothing, want its reservation (1, 2, t4)"},
		"5: a reservation cut": {&tamper{round: func(_ *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			for i, act := range acts {
				if r, ok := act.(run); ok && r.Job == "booked" {
					r.Allocation.GPUs = 1
					acts[i] = r
				}
			}
			return acts
		}}, "job booked: runs on (1, 1, t4), want its reservation (1, 2, t4)"},
		"6: done twice": {onExit(scheduler.Done, func(e scheduler.Exited) []scheduler.Event { return []scheduler.Event{e, e} }), "scheduler.Exited after it ended"},
		"6: never done": {onExit(scheduler.Done, func(scheduler.Exited) []scheduler.Event { return nil }), "the run is over, want it to have ended"},
		"6: a job from nowhere": {onExit(scheduler.Done, func(e scheduler.Exited) []scheduler.Event {
			return []scheduler.Event{e, scheduler.Profiled{Job: "ghost"}}
		}), "job ghost: scheduler.Profiled before it was submitted"},
		"6: submitted twice": {onExit(scheduler.Done, func(e scheduler.Exited) []scheduler.Event {
			return []scheduler.Event{e, scheduler.Submitted{Spec: &job.Spec{ID: e.Job}}}
		}), "submitted twice"},
		"7: progress that falls": {onReport(func(r *job.Report) bool {
			r.Progress, r.Epoch = r.Progress-1500, r.Epoch+1
			return r.Progress > -500
		}), "progress"},
		"8: an action that is not done": {once(func(r run) scheduler.Action { return run{Job: r.Job} }), "want what was planned"},
		"8: a snapshot of the past": {&tamper{round: func(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			if s.Jobs[0].Holding() {
				old := *s.Jobs[0]
				old.Allocation = cluster.Allocation{}
				s.Jobs[0] = &old
			}
			return acts
		}}, "want what it holds"},
		"8: a job that is not shown": {&tamper{round: func(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			s.Jobs, p.Jobs = s.Jobs[:len(s.Jobs)-1], p.Jobs[:len(p.Jobs)-1]
			return acts
		}}, "the snapshot shows"},
		"8: a plan for others": {&tamper{round: func(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			p.Jobs = p.Jobs[:len(p.Jobs)-1]
			return acts
		}}, "decisions for"},
		"9: two works at once": {once(func(run) scheduler.Action { return scheduler.Compute{} }), "background work is asked for, want none while one"},
		"9: computed twice": {&tamper{event: func(_ *time.Time, ev scheduler.Event) []scheduler.Event {
			if _, ok := ev.(scheduler.Computed); ok {
				return []scheduler.Event{ev, ev}
			}
			return []scheduler.Event{ev}
		}}, "scheduler.Computed, want none while no background work"},
		"9: computed and not shown": {&tamper{round: func(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			s.Computed = nil
			return acts
		}}, "shows what was computed: false, want true"},
		"9: shown and not computed": {&tamper{round: func(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) []scheduler.Action {
			s.Computed = 7
			return acts
		}}, "shows what was computed: true, want false"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := auditCrowd(t, c.bug); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// What a loss may cost depends on when checkpoints are taken.
func TestAudit_of_losses(t *testing.T) {
	lost := scheduler.Exited{Job: "a", Outcome: scheduler.Lost}
	for name, c := range map[string]struct {
		every time.Duration
		least float64 // progress after the loss in minute 10
	}{
		"at the ends of epochs": {0, 5},               // the last report of epoch 0
		"every 4 minutes":       {4 * time.Minute, 6}, // reported in minute 6
		"every 20 minutes":      {20 * time.Minute, 0},
	} {
		for _, progress := range []float64{c.least, c.least - 0.01} {
			a := Audit()
			a.Checkpoint = c.every
			a.Event(Epoch, scheduler.Submitted{Spec: &job.Spec{ID: "a"}})
			at := func(minute int, progress float64) {
				r := job.Report{Job: "a", Progress: progress, Epoch: int(progress) / 6}
				a.Event(Epoch.Add(time.Duration(minute)*time.Minute), scheduler.Reported{Report: r})
			}
			for m := 1; m < 10; m++ {
				at(m, float64(m))
			}
			a.Event(Epoch.Add(10*time.Minute), lost)
			at(11, progress)
			if got, want := a.Err() == nil, progress == c.least; got != want {
				t.Errorf("%s: progress %v after the loss is fine: %v, want %v (%v)", name, progress, got, want, a.Err())
			}
		}
	}
}
