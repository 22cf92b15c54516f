package sia

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

func rigid(gpus int) func(*job.Spec) {
	return func(s *job.Spec) { s.Adaptivity, s.GPUs, s.BatchSize = job.Rigid, gpus, 64 }
}

// slowRestart makes the restart factor of a job that never restarted 1/2.
func slowRestart(s *job.Spec) { s.RestartOverhead = time.Hour }

// A linear job has the cost G^-0.5: 1 with one GPU, 0.707 with two, 0.577 with
// three, 0.5 with four; with λ = 1.1 it offers 0.1, 0.393, 0.523, 0.6.
func TestReasons(t *testing.T) {
	root := func(x float64) float64 { return 1 / math.Sqrt(x) }
	four := shape{"B", 1, 4}
	is := func(kind policy.Kind, c cluster.Configuration, value, limit float64) policy.Reason {
		return policy.Reason{Kind: kind, Config: c, Value: value, Limit: limit}
	}
	nonPreemptive := func(s *job.Spec) { s.NonPreemptive = true }
	reserve := func(c cluster.Configuration) func(*job.Spec) { return func(s *job.Spec) { s.Reservation = c } }
	slow := table{on(1, 1, "B"): 1, on(1, 2, "B"): 2, on(1, 4, "B"): 2.1}
	restoring := holding(waiting("j", linear{}), on(1, 2, "B"))
	restoring.Phase = job.Restoring
	profiled := waiting("j", linear{})
	profiled.Phase = job.Profiling

	for _, test := range []struct {
		name   string
		lambda float64
		jobs   []*policy.Job // the first is explained
		want   policy.Reason
	}{
		{"profiling", 1.1, []*policy.Job{profiled}, is(policy.WaitProfile, cluster.Configuration{}, 0, 0)},
		{"restoring", 1.1, []*policy.Job{restoring}, is(policy.PinnedRestore, on(1, 2, "B"), 0, 0)},
		{"non-preemptive", 1.1, []*policy.Job{holding(waiting("j", linear{}, nonPreemptive), on(1, 1, "B"))}, is(policy.PinnedNonPreempt, on(1, 1, "B"), 0, 0)},
		{"reserved", 1.1, []*policy.Job{waiting("j", linear{}, reserve(on(1, 3, "B")))}, is(policy.Reserved, on(1, 3, "B"), 0, 0)},
		{"no room for a reservation", 1.1, []*policy.Job{waiting("j", linear{}, reserve(on(1, 4, "B"))), holding(waiting("k", linear{}, nonPreemptive), on(1, 1, "B"))}, is(policy.WaitNoCapacity, on(1, 4, "B"), 3, 4)},
		{"no such reservation", 1.1, []*policy.Job{waiting("j", linear{}, reserve(on(1, 8, "B")))}, is(policy.Impossible, on(1, 8, "B"), 0, 0)},
		{"too large for the cluster", 1.1, []*policy.Job{waiting("j", linear{}, rigid(64))}, is(policy.Impossible, on(1, 64, ""), 0, 0)},
		{"too large a minimum", 1.1, []*policy.Job{waiting("j", linear{}, func(s *job.Spec) { s.MinGPUs = 9 })}, is(policy.Impossible, on(1, 9, ""), 0, 0)},
		{"starts", 1.1, []*policy.Job{waiting("j", linear{})}, is(policy.Started, cluster.Configuration{}, 1, 0)},
		{"grows", 1.1, []*policy.Job{holding(waiting("j", linear{}), on(1, 1, "B"))}, is(policy.Grown, on(1, 1, "B"), 2, 1)},
		{"best off", 1.1, []*policy.Job{holding(waiting("j", linear{}), on(1, 4, "B"))}, is(policy.AsPlanned, cluster.Configuration{}, 4, 0)},
		// A restart halves goodput, so twice the goodput is needed, and there is 1.05 times.
		{"not worth a restart", 1.1, []*policy.Job{holding(waiting("j", slow, slowRestart), on(1, 2, "B"))}, is(policy.KeptNoRestart, on(1, 4, "B"), 1.05, 2)},
		// k, with 3 GPUs, sets the price, 0.523/3, which a second GPU is worth to j; but they need 5.
		{"not free", 1.1, []*policy.Job{holding(waiting("j", linear{}), on(1, 1, "B")), holding(waiting("k", linear{}, rigid(3)), on(1, 3, "B"))}, is(policy.AsPlanned, on(1, 2, "B"), 1, 2)},
		{"not free to a rigid job", 1.1, []*policy.Job{waiting("j", linear{}, rigid(2)), holding(waiting("k", linear{}, rigid(3)), on(1, 3, "B"))}, is(policy.WaitNoCapacity, on(1, 2, "B"), 1, 2)},
		// One GPU would be worth 0.1 to j, half of two 0.104 to k.
		{"price too high", 1.1, []*policy.Job{waiting("j", linear{}), holding(waiting("k", linear{}), on(1, 4, "B"))}, is(policy.WaitPrice, on(1, 1, "B"), 0.1, 0.1)},
		{"at λ = 2 it is not", 2, []*policy.Job{holding(waiting("j", linear{}), on(1, 4, "B")), waiting("k", linear{})}, is(policy.Shrunk, on(1, 4, "B"), (root(2)-root(4))/2, (root(2)-root(4))/2)},
		// j's second GPU is worth 0.293 to it, the price is 0.523/3; but k needs three.
		{"makes way for a rigid job", 1.1, []*policy.Job{holding(waiting("j", linear{}), on(1, 2, "B")), waiting("k", linear{}, rigid(3))}, is(policy.Shrunk, on(1, 2, "B"), 0, 0)},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := DefaultOptions()
			o.Lambda = test.lambda
			got := mustPlan(t, newPolicy(t, o), snapshot(clusterOf(t, four), test.jobs...)).Jobs[0].Why
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReasons_of_a_move has two GPU types.
func TestReasons_of_a_move(t *testing.T) {
	known := table{on(1, 1, "A"): 1, on(1, 1, "B"): 4}
	got := mustPlan(t, newPolicy(t, DefaultOptions()), snapshot(running(t), holding(waiting("j", known), on(1, 1, "A")))).Jobs[0].Why
	if want := (policy.Reason{Kind: policy.Moved, Config: on(1, 1, "A"), Value: 4, Limit: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What a restart makes worthless is no offer: j would lose more by a move to an idle B than it
// gains there, and its A is worth 0.9 to others.
func TestReasons_of_a_preempted_job(t *testing.T) {
	same, known := table{on(1, 1, "A"): 1, on(1, 1, "B"): 1}, table{on(1, 1, "A"): 100, on(1, 1, "B"): 1}
	c := clusterOf(t, shape{"A", 1, 1}, shape{"B", 1, 2})
	got := mustPlan(t, newPolicy(t, DefaultOptions()), snapshot(c,
		holding(waiting("j", same, slowRestart), on(1, 1, "A")), waiting("k", known), waiting("l", known))).Jobs[0].Why
	if got.Kind != policy.WaitPrice || got.Config != on(1, 1, "A") || math.Abs(got.Value-0.1) > 1e-6 || got.Limit < 0.89 {
		t.Errorf("got %+v, want an offer of 0.1 for its A, whose price is 0.9", got)
	}
}

// With a λ below 1 no GPU is worth anything: the offer is 0, and never negative.
func TestReasons_of_a_job_that_is_worth_nothing(t *testing.T) {
	o := DefaultOptions()
	o.Lambda = 0.5
	got := mustPlan(t, newPolicy(t, o), snapshot(clusterOf(t, shape{"B", 1, 1}), waiting("j", linear{}))).Jobs[0].Why
	if want := (policy.Reason{Kind: policy.WaitPrice, Config: on(1, 1, "B")}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// contradiction returns what is wrong with the numbers of a reason, as
// package policy documents them; free are the GPUs the plan leaves.
func contradiction(j *policy.Job, why policy.Reason, free map[cluster.GPUType]int) error {
	enough := false
	if !why.Config.IsZero() {
		room := free[why.Config.GPUType]
		if j.Allocation.GPUType == why.Config.GPUType && why.Kind == policy.AsPlanned {
			room += j.Allocation.GPUs
		}
		enough = room >= why.Config.GPUs
	}
	ok := true
	switch why.Kind {
	case policy.AsPlanned:
		ok = why.Limit == 0 || why.Limit > why.Value && !enough
	case policy.KeptNoRestart:
		ok = 1 < why.Value && why.Value <= why.Limit
	case policy.Shrunk:
		ok = why.Value <= why.Limit
	case policy.Moved, policy.Grown, policy.Started:
		ok = (why.Value > 0) == (j.Perf != nil) // of whom nothing is known, nothing is said
	case policy.WaitPrice:
		ok = 0 <= why.Value && why.Value <= why.Limit+1e-9
	case policy.WaitNoCapacity:
		ok = why.Value < why.Limit && why.Value == float64(free[why.Config.GPUType]) && why.Limit == float64(why.Config.GPUs)
	case policy.Impossible:
		ok = why.Config.GPUs < math.MaxInt32
	default: // no numbers
	}
	if !ok {
		return fmt.Errorf("job %s, free %v: %+v", j.ID, free, why)
	}
	return nil
}

func TestReasons_do_not_contradict_themselves(t *testing.T) {
	draws.AtLeast(t, 120) // the rarest reason is in 1 world of 6
	for name, set := range map[string]func(*Options){"thesis": func(*Options) {}, "public": (*Options).PublicCode} {
		t.Run(name, func(t *testing.T) {
			seen := make(map[policy.Kind]int)
			rapid.Check(t, func(rt *rapid.T) {
				o := DefaultOptions()
				set(&o)
				w, p := policytest.NewWorld(rt), newPolicy(t, o)
				for range 6 {
					s := w.Snapshot()
					plan := mustPlan(t, p, s)
					free := make(map[cluster.GPUType]int)
					for _, info := range s.Cluster.Types() {
						free[info.Type] = info.GPUs
					}
					for _, d := range plan.Jobs {
						free[d.Allocation.GPUType] -= d.Allocation.GPUs
					}
					for i, j := range s.Jobs {
						why := plan.Jobs[i].Why
						seen[why.Kind]++
						if err := contradiction(j, why, free); err != nil {
							rt.Error(err)
						}
					}
					w.Advance(rt, plan)
				}
			})
			for _, k := range []policy.Kind{policy.AsPlanned, policy.KeptNoRestart, policy.WaitPrice, policy.WaitNoCapacity} {
				if seen[k] == 0 {
					t.Errorf("no job was %v: the worlds are too tame", k)
				}
			}
		})
	}
}

func TestContradictionCatchesSeededBugs(t *testing.T) {
	j := holding(waiting("j", linear{}), on(1, 1, "B"))
	free := map[cluster.GPUType]int{"B": 1}
	for _, why := range []policy.Reason{
		{Kind: policy.KeptNoRestart, Config: on(1, 4, "B"), Value: 1.61, Limit: 1.43}, // as it once was
		{Kind: policy.Shrunk, Config: on(1, 4, "B"), Value: 0.0043, Limit: 0.0038},    // as it once was
		{Kind: policy.AsPlanned, Config: on(1, 2, "B"), Value: 1, Limit: 2},           // both GPUs are to be had
		{Kind: policy.WaitNoCapacity, Config: on(1, 1, "B"), Value: 0, Limit: 1},
		{Kind: policy.WaitPrice, Config: on(1, 1, "B"), Value: 2, Limit: 1},
		{Kind: policy.WaitPrice, Config: on(1, 1, "B"), Value: -0.3, Limit: 0}, // as it once was
		{Kind: policy.Impossible, Config: on(1, math.MaxInt, "")},
	} {
		if contradiction(j, why, free) == nil {
			t.Errorf("not caught: %+v", why)
		}
	}
}
