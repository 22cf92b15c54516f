package queue_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// TestRemainingTime: whatever is known of a job, its place in line is a time. A job of 10^6
// samples without a model is no longer, for that number, than one of an hour.
func TestRemainingTime(t *testing.T) {
	now := epoch.Add(30 * time.Minute)
	learned := []*perf.ClassStats{{Class: "bert", Sizes: []float64{600, 1200}}}
	with := func(j *policy.Job, f func(*policy.Job)) *policy.Job { f(j); return j }
	model := speeds{"t4": 1, "a100": 2}
	for name, test := range map[string]struct {
		job  *policy.Job
		want time.Duration
		from perf.WorkSource
	}{
		"known by its duration": {timed("a", 1, time.Hour), time.Hour, perf.FromStated},
		"by a model, on its fastest type, whatever it holds": {
			with(running(gang("a", 1), 1, "t4"), func(j *policy.Job) { j.Target, j.Perf, j.Progress, j.Reported = 7200, model, 3600, now }),
			30 * time.Minute, perf.FromStated,
		},
		"samples without a model are no time": {
			with(running(gang("a", 1), 1, "t4"), func(j *policy.Job) { j.Target = 1e6 }), 30 * time.Minute, perf.FromAttained,
		},
		"nothing is known of it, and it has not run": {with(gang("a", 1), func(j *policy.Job) { j.Target = 1e6 }), 0, perf.FromAttained},
		"its class says how much it has to do": {
			with(gang("a", 1), func(j *policy.Job) { j.Class, j.Perf = "bert", model }), 15 * time.Minute, perf.FromClass,
		},
		"a running job that has not reported since it started": {
			running(timed("a", 1, time.Hour), 1, "t4"), 30 * time.Minute, perf.FromStated,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &policy.Snapshot{Now: now, Cluster: small(t), Jobs: []*policy.Job{test.job}, Classes: learned}
			if got, from := queue.RemainingTime(s, test.job); got != test.want || from != test.from {
				t.Errorf("%v from %v, want %v from %v", got, from, test.want, test.from)
			}
		})
	}
}

// TestSRTF_counts_restarts: a job preempts another only where the time that it is shorter by
// pays for both restarts, and for what is lost without a checkpoint.
func TestSRTF_counts_restarts(t *testing.T) {
	for name, test := range map[string]struct {
		waits      time.Duration
		checkpoint bool
		preempts   bool
	}{
		"shorter by more than both restarts": {55 * time.Minute, true, true},
		"shorter by less":                    {57 * time.Minute, true, false},
		"what it has done would be lost":     {55 * time.Minute, false, false},
		"and still shorter":                  {25 * time.Minute, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			runs, waits := running(timed("a", 8, 90*time.Minute, "a100"), 1, "a100"), timed("b", 8, test.waits, "a100")
			runs.RestartOverhead, waits.RestartOverhead = 2*time.Minute, 2*time.Minute
			runs.NoCheckpoint = !test.checkpoint
			s := &policy.Snapshot{Now: epoch.Add(30 * time.Minute), Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{runs, waits}}
			plan, err := queue.New(queue.SRTF()).Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if preempts := plan.Jobs[0].Allocation.IsZero(); preempts != test.preempts {
				t.Errorf("an hour is left, %v wait: preempted %v, want %v", test.waits, preempts, test.preempts)
			}
			if why := plan.Jobs[1].Why.Kind; !test.preempts && why != policy.WaitServed {
				t.Errorf("%v wait, and who runs is first: %v, want %v", test.waits, why, policy.WaitServed)
			}
		})
	}
}

// TestSRTF_says_who_is_first: a job waits for lack of GPUs where those that have them could not be preempted, or have GPUs that are of no use to it; else
// because they are before it.
func TestSRTF_says_who_is_first(t *testing.T) {
	for name, test := range map[string]struct {
		runs *policy.Job
		want policy.Kind
	}{
		"not preemptive": {func() *policy.Job {
			j := running(timed("a", 8, time.Minute, "a100"), 1, "a100")
			j.NonPreemptive = true
			return j
		}(), policy.WaitNoCapacity},
		"before it":                  {running(timed("a", 8, time.Minute, "a100"), 1, "a100"), policy.WaitServed},
		"of unknown length, and new": {running(gang("a", 8, "a100"), 1, "a100"), policy.WaitServed},
	} {
		s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{test.runs, timed("b", 8, time.Hour, "a100")}}
		plan, err := queue.New(queue.SRTF()).Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Jobs[1].Why.Kind; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestSRTF_moves_where_it_pays: a running job goes to a faster type if it ends sooner there by
// more than two restarts, its own and another's.
func TestSRTF_moves_where_it_pays(t *testing.T) {
	for _, test := range []struct {
		left time.Duration // on t4; half of that on a100
		want cluster.GPUType
	}{{9 * time.Minute, "a100"}, {7 * time.Minute, "t4"}} {
		j := running(gang("a", 4), 1, "t4")
		j.Target, j.Perf, j.RestartOverhead, j.Reported = test.left.Seconds(), speeds{"t4": 1, "a100": 2}, 2*time.Minute, epoch
		s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{j}}
		plan, err := queue.New(queue.SRTF()).Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Jobs[0].Allocation.GPUType; got != test.want {
			t.Errorf("%v left on t4: on %s, want %s", test.left, got, test.want)
		}
	}
}

// TestFIFO_moves_nobody: who runs keeps its nodes, not only as many GPUs: a placer that may
// choose moves jobs to make room.
func TestFIFO_moves_nobody(t *testing.T) {
	for name, o := range map[string]queue.Options{"fifo": queue.FIFO(), "easy": queue.EASY()} {
		j := running(timed("a", 2, time.Hour, "t4"), 1, "t4")
		j.Placement = cluster.Placement{{Node: "b", Resources: cluster.Resources{GPUs: 2}}}
		s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{j, gang("b", 2, "t4")}}
		plan, err := queue.New(o).Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Jobs[0].Placement; !got.Equal(j.Placement) {
			t.Errorf("%s: placed on %v, want %v, as it was", name, got, j.Placement)
		}
		if got := plan.Jobs[1]; len(got.Placement) > 0 || got.Why.Kind != policy.Started {
			t.Errorf("%s: %v on %v, want started, and placed by the placer", name, got.Why, got.Placement)
		}
	}
}

// TestSRTF_does_not_mix_units: of two jobs without a model, one that counts samples and one that
// counts more of them, the first to come is first: neither number is a time.
func TestSRTF_does_not_mix_units(t *testing.T) {
	a, b := gang("a", 8, "a100"), gang("b", 8, "a100")
	a.Target, b.Target = 1e9, 1
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{a, b, timed("c", 8, time.Minute, "a100")}}
	plan, err := queue.New(queue.SRTF()).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []policy.Kind{policy.Started, policy.WaitServed, policy.WaitOrder} {
		if got := plan.Jobs[i].Why.Kind; got != want {
			t.Errorf("job %s: %v, want %v", s.Jobs[i].ID, got, want)
		}
	}
}

// TestFIFO_leaves_jobs_of_lost_nodes_to_the_placer: where a node has gone, or lost GPUs, a job
// that was on it has no place to keep; one that may not be placed would have the plan refused.
func TestFIFO_leaves_jobs_of_lost_nodes_to_the_placer(t *testing.T) {
	for name, where := range map[string]cluster.Placement{
		"the node has gone":     {{Node: "gone", Resources: cluster.Resources{GPUs: 2}}},
		"it has lost some GPUs": {{Node: "b", Resources: cluster.Resources{GPUs: 5}}},
	} {
		j := running(timed("a", where.GPUs(), time.Hour, "t4"), 1, "t4")
		j.Placement = where
		s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{j, gang("b", 2, "t4")}}
		plan, err := queue.New(queue.FIFO()).Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Jobs[0]; len(got.Placement) > 0 || got.Allocation.IsZero() {
			t.Errorf("%s: %+v, want its GPUs, and no nodes", name, got)
		}
	}
}
