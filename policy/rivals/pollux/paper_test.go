package pollux_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/pollux"
)

// gpus returns the GPUs that jobs get, in order.
func gpus(plan *policy.Plan) []int {
	all := make([]int, len(plan.Jobs))
	for i := range plan.Jobs {
		all[i] = plan.Jobs[i].Allocation.GPUs
	}
	return all
}

// §4.2: a speedup is goodput over that of a fair share. Where all jobs are alike, the
// fairest has each on an exclusive 1/J of the cluster, and a speedup of 1.
func TestEqualJobsHaveFairShares(t *testing.T) {
	s := snapshot(clusterOf(t, shape{"v100", 4, 4}))
	for i := range 4 {
		s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint(i)), linear()))
	}
	plan := mustPlan(t, fresh(t, nil), s)
	for i, n := range gpus(plan) {
		if n != 4 {
			t.Errorf("job %d gets %d GPUs, want its share of 4", i, n)
		}
		if why := plan.Jobs[i].Why; why.Kind != policy.Started {
			t.Errorf("job %d: %v, want started", i, why.Kind)
		}
	}
}

// §4.2: a smaller p is fairer: the least speedup is greater.
// One job scales up to all GPUs, the other only to half as fast as they are many.
func TestSmallerExponentIsFairer(t *testing.T) {
	least := func(p float64) float64 {
		half := linear()
		for i := range half.speed {
			half.speed[i] = 1 + 0.1*float64(i)
		}
		half.speed[0] = 0
		s := snapshot(clusterOf(t, shape{"v100", 2, 4}), waiting("a", linear()), waiting("b", half))
		plan := mustPlan(t, fresh(t, func(o *pollux.Options) { o.P = p }), s)
		shares := gpus(plan) // of 8; a fair one has 4
		return min(float64(shares[0])/4, half.speed[shares[1]]/half.speed[4])
	}
	fair, greedy := least(-10), least(1)
	if fair <= greedy {
		t.Errorf("least speedup %v with p=-10 and %v with p=1, want more", fair, greedy)
	}
}

// §4.2: REALLOC_FACTOR discounts a change of GPUs: a job that restarted often in its short
// life does not move for twice the speed, an old one that never did does.
func TestRestartsAreWeighed(t *testing.T) {
	for _, test := range []struct {
		name     string
		restarts int
		want     int
	}{{"never restarted", 0, 4}, {"restarted for half its life", 60, 2}} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot(clusterOf(t, shape{"v100", 1, 4}), waiting("a", linear(), func(j *policy.Job) {
				j.Spec.RestartOverhead, j.Restarts, j.FirstStarted = 30*time.Second, test.restarts, epoch.Add(-time.Hour)
				j.Phase, j.Allocation = job.Running, cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "v100"}}
				j.Placement = cluster.Placement{{Node: "v100-00", Resources: cluster.Resources{GPUs: 2}}}
			}))
			if got := gpus(mustPlan(t, fresh(t, nil), s)); got[0] != test.want {
				t.Errorf("%d GPUs, want %d", got[0], test.want)
			}
		})
	}
}

// §4.1: a job has at most twice the most GPUs it ever had: a new one, alone on 64, doubles
// from one.
func TestNewJobDoubles(t *testing.T) {
	s := snapshot(clusterOf(t, shape{"v100", 16, 4}), waiting("a", linear(), func(j *policy.Job) { j.Status.MaxGPUs = 0 }))
	p := fresh(t, nil)
	for _, most := range []int{1, 2, 4, 8, 16, 32, 64} {
		plan := mustPlan(t, p, s)
		if got := gpus(plan)[0]; got > most || got <= most/2 {
			t.Errorf("%d GPUs, want at most %d and more than before", got, most)
		}
		s = next(s, plan)
	}
}

// §4.2.1: at most one distributed job is on a node. Jobs that scale
// badly beyond a node and jobs that scale, in more numbers than nodes, over some rounds,
// beside one that is pinned to, or has reserved, some GPUs on several nodes.
func TestInterferenceIsAvoided(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := snapshot(clusterOf(t, shape{"v100", rapid.IntRange(1, 5).Draw(rt, "nodes"), 4}))
		for i := range rapid.IntRange(1, 6).Draw(rt, "jobs") {
			m := linear()
			m.alone = rapid.SampledFrom([]float64{1, 1.5, 3}).Draw(rt, "alone")
			s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint(i)), m))
		}
		if n := len(s.Cluster.Nodes()); n > 1 && rapid.Bool().Draw(rt, "with a fixed one") {
			s.Jobs = append(s.Jobs, fixed(s.Cluster, rapid.IntRange(2, n).Draw(rt, "its nodes"), rapid.Bool().Draw(rt, "reserved")))
		}
		p := fresh(t, func(o *pollux.Options) { o.Population, o.Generations = 10, 5 })
		for range 4 {
			plan, distributed := mustPlan(t, p, s), make(map[cluster.NodeID]int)
			for i := range plan.Jobs {
				for _, share := range plan.Jobs[i].Placement {
					if len(plan.Jobs[i].Placement) > 1 {
						distributed[share.Node]++
					}
				}
			}
			for node, n := range distributed {
				if n > 1 {
					rt.Fatalf("node %s has %d distributed jobs", node, n)
				}
			}
			s = next(s, plan)
		}
	})
}

// fixed returns a job with one GPU on each of the first nodes: it has reserved as many, or
// holds them and is non-preemptive.
func fixed(c *cluster.Cluster, nodes int, reserved bool) *policy.Job {
	return waiting("fixed", linear(), func(j *policy.Job) {
		j.GPUs, j.Adaptivity = nodes, 0
		want := cluster.Configuration{Nodes: nodes, GPUs: nodes, GPUType: "v100"}
		if j.NonPreemptive = !reserved; reserved {
			j.Reservation = want
			return
		}
		j.Phase, j.Allocation.Configuration = job.Running, want
		for _, n := range c.Nodes()[:nodes] {
			j.Placement = append(j.Placement, cluster.Share{Node: n.ID, Resources: cluster.Resources{GPUs: 1}})
		}
	})
}

// Sia §3.5.2: Pollux "treats heterogeneous hardware as homogeneous": how fast the types
// that a job did not begin on are changes nothing.
func TestTypesAreAllTheSame(t *testing.T) {
	place := func(factor float64) string {
		s := snapshot(clusterOf(t, shape{"t4", 2, 4}, shape{"a100", 1, 8}))
		for i := range 10 {
			m := linear()
			m.faster = map[cluster.GPUType]float64{"a100": factor}
			s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint(i)), m, func(j *policy.Job) { j.Spec.MaxGPUs = 1 }))
		}
		text := ""
		for _, d := range mustPlan(t, fresh(t, nil), s).Jobs {
			text += fmt.Sprint(d.Placement)
		}
		return text
	}
	if same, faster := place(1), place(10); same != faster {
		t.Errorf("placed %s\nand where the other type is ten times as fast %s", same, faster)
	}
}

// How many times as fast a change makes a job is said where it stays on its type, and not where that changes or nothing is known of its speed.
func TestSpeedsAreOfOneType(t *testing.T) {
	for _, test := range []struct {
		name      string
		to        shape
		unknown   bool
		now, held float64
	}{{"more of its type", shape{"t4", 1, 4}, false, 4, 2}, {"another type", shape{"a100", 1, 4}, false, 0, 0}, {"of unknown speed", shape{"t4", 1, 4}, true, 0, 0}} {
		j := waiting("a", linear(), func(j *policy.Job) {
			j.Phase, j.Allocation = job.Running, cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}}
			j.Placement, j.FirstStarted = cluster.Placement{{Node: "t4-00", Resources: cluster.Resources{GPUs: 2}}}, epoch.Add(-time.Hour)
		})
		if test.unknown {
			j.Perf = nil
		}
		plan := mustPlan(t, fresh(t, nil), snapshot(clusterOf(t, test.to), j))
		why := plan.Jobs[0].Why
		if why.Kind != policy.Grown && why.Kind != policy.Moved || why.Value*test.held != why.Limit*test.now || (why.Value > 0) != (test.now > 0) {
			t.Errorf("%s: %+v of %d GPUs, want it %g to %g times as fast", test.name, why, plan.Jobs[0].Allocation.GPUs, test.now, test.held)
		}
	}
}

// Sia §3.4.3: a job on more than one GPU type is left the one with the most of its GPUs.
// Alone on two types it wants as many as the smaller type has, and mostly mixes them.
func TestJobHasOneType(t *testing.T) {
	idle := 0
	for seed := range uint64(8) {
		s := snapshot(clusterOf(t, shape{"t4", 2, 4}, shape{"a100", 1, 8}), waiting("a", linear()))
		plan := mustPlan(t, fresh(t, func(o *pollux.Options) { o.Seed = seed }), s) // which checks it
		idle += 8 - gpus(plan)[0]
	}
	if idle == 0 {
		t.Error("no GPU is idle in eight searches, want some: the search does not know of types")
	}
}

// More jobs than GPUs: all GPUs are in use, and who waits does so for want of one.
func TestNobodyWaitsBesideIdleGPUs(t *testing.T) {
	s := snapshot(clusterOf(t, shape{"v100", 2, 2}))
	for i := range 7 {
		s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint(i)), linear()))
	}
	plan, used := mustPlan(t, fresh(t, nil), s), 0
	for i := range plan.Jobs {
		d := &plan.Jobs[i]
		used += d.Allocation.GPUs
		if d.Allocation.IsZero() && d.Why != (policy.Reason{Kind: policy.WaitNoCapacity, Config: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, Limit: 1}) {
			t.Errorf("job %d: %+v, want to wait for a GPU", i, d.Why)
		}
	}
	if used != 4 {
		t.Errorf("%d GPUs in use, want 4", used)
	}
}

// A job that came this moment has a restart factor of 0, so the search sees no use in
// starting it: it starts all the same.
func TestNewJobStartsAtOnce(t *testing.T) {
	s := snapshot(clusterOf(t, shape{"v100", 1, 4}), waiting("a", nil, func(j *policy.Job) { j.Submitted, j.Status.MaxGPUs = epoch, 0 }))
	if got := gpus(mustPlan(t, fresh(t, nil), s)); got[0] != 1 {
		t.Errorf("%d GPUs, want 1", got[0])
	}
}

// It starts beside a distributed job, too: only a second one may not be there.
func TestNewJobStartsBesideADistributedOne(t *testing.T) {
	for _, need := range []int{1, 3, 4} {
		s := snapshot(clusterOf(t, shape{"v100", 2, 4}), waiting("a", nil, func(j *policy.Job) { j.Submitted, j.Adaptivity, j.GPUs = epoch, 0, need }))
		s.Jobs = append(s.Jobs, fixed(s.Cluster, 2, false))
		want := need
		if need > 3 {
			want = 0 // which is on both nodes, or nowhere
		}
		if got := gpus(mustPlan(t, fresh(t, nil), s)); got[0] != want {
			t.Errorf("%d GPUs, want %d", got[0], want)
		}
	}
}

// BOA §6.1: "we define Δ = min{.3(1 - c), .3c}. The cluster size is increased whenever the
// cluster efficiency exceeds c + Δ. The cluster size is decreased whenever the cluster
// efficiency falls below c - Δ", to the "size [...] whose cluster efficiency is closest to
// c". On 10 nodes of 4 GPUs are so many jobs of one GPU each.
func TestSizeChangesOutsideTheBand(t *testing.T) {
	for _, test := range []struct {
		target     float64
		jobs, want int
	}{
		{0.6, 19, 8}, {0.6, 20, 10}, {0.6, 28, 10}, {0.6, 29, 12}, // of 0.48 to 0.72
		{0.2, 5, 6}, {0.2, 6, 10}, {0.2, 10, 10}, {0.2, 11, 14}, // of 0.14 to 0.26
	} {
		a := autoscaler(t, func(o *pollux.AutoscaleOptions) { small(o); o.Target = test.target })
		s := rented(t, 10, singles(test.jobs)...)
		plan := mustPlan(t, a, s)
		if got := plan.Capacity["spot"]; got != 10 {
			t.Errorf("target %v, %d jobs: %d nodes wanted after one round, want 10", test.target, test.jobs, got)
		}
		if got := mustPlan(t, a, next(s, plan)).Capacity["spot"]; got != test.want {
			t.Errorf("target %v, %d jobs: %d nodes wanted after two rounds, want %d", test.target, test.jobs, got, test.want)
		}
	}
}

// As coded for BOA §6.1: the mean of the last two efficiencies counts. 19 of 40 GPUs in use
// are too few for long, but not in one round of two.
func TestMeanOfTwoRoundsCounts(t *testing.T) {
	a, jobs := autoscaler(t, small), singles(25)
	for i, n := range []int{19, 25, 19, 25} {
		if got := mustPlan(t, a, rented(t, 10, jobs[:n]...)).Capacity["spot"]; got != 10 {
			t.Errorf("round %d: %d nodes wanted, want 10", i, got)
		}
	}
}

// BOA §6.1, "increased whenever [...] exceeds" and "decreased whenever [...] falls below":
// what is closest to the target by now may be on the other side of the mean of two rounds;
// then the size stays, and is not searched for again in the next round.
func TestSizeDoesNotChangeAgainstTheMean(t *testing.T) {
	for _, then := range [][2]int{{40, 20}, {8, 28}} { // means of 0.75 and 0.45; 8 and 12 nodes are closest
		a, jobs := autoscaler(t, small), singles(40)
		for i, n := range []int{then[0], then[1], then[1]} {
			if got := mustPlan(t, a, rented(t, 10, jobs[:n]...)).Capacity["spot"]; got != 10 {
				t.Errorf("%d and %d jobs, round %d: %d nodes wanted, want 10", then[0], then[1], i, got)
			}
		}
	}
}

// BOA §5.4: autoscaling costs several searches. Where no other size is closer, that is no
// more often than every other round: 3 of 4 GPUs are too many in use, 3 of 8 too few.
func TestSizesAreNotSearchedInEveryRound(t *testing.T) {
	a := autoscaler(t, func(o *pollux.AutoscaleOptions) { small(o); o.Least = 1 })
	s := rented(t, 1, singles(3)...)
	var evaluated [4]int
	for i := range evaluated {
		plan := mustPlan(t, a, s)
		if evaluated[i] = plan.Stats.Iterations; plan.Capacity["spot"] != 1 {
			t.Errorf("round %d: %d nodes wanted, want 1", i, plan.Capacity["spot"])
		}
		s = next(s, plan)
	}
	if quiet := max(evaluated[0], evaluated[2]); min(evaluated[1], evaluated[3]) < 2*quiet {
		t.Errorf("matrices by round: %v, want at least twice as many in the second and fourth", evaluated)
	}
}

// BOA §6.1, the same sentences as of the band, for jobs of all kinds and any size of the cluster.
func TestSizeChangesInOneDirection(t *testing.T) {
	moved := 0
	rapid.Check(t, func(rt *rapid.T) {
		ready := rapid.IntRange(2, 12).Draw(rt, "nodes")
		a := autoscaler(t, func(o *pollux.AutoscaleOptions) { small(o); o.Cycles = 1 })
		s := rented(t, ready)
		for range rapid.IntRange(1, 12).Draw(rt, "jobs") {
			s.Jobs = append(s.Jobs, scaling(len(s.Jobs)+rapid.IntRange(0, 4).Draw(rt, "kind")*100))
		}
		plan := mustPlan(t, a, s)
		sum := 0.0
		for i, j := range s.Jobs {
			sum += overOne(j, plan.Jobs[i].Allocation)
		}
		got := plan.Capacity["spot"]
		switch efficiency := sum / float64(4*ready); {
		case efficiency > 0.72+1e-9 && got < ready, efficiency < 0.48-1e-9 && got > ready, efficiency > 0.48+1e-9 && efficiency < 0.72-1e-9 && got != ready:
			rt.Fatalf("%d nodes of efficiency %v: %d wanted", ready, efficiency, got)
		}
		if got != ready {
			moved++
		}
	})
	if moved == 0 {
		t.Error("the size never changes")
	}
}

// overOne returns the speedup of a job over one GPU, by goodput.
func overOne(j *policy.Job, a cluster.Allocation) float64 {
	on := func(c cluster.Configuration) float64 {
		g, _ := perf.BestBatch(j.Perf, cluster.Allocation{Configuration: c}, c.GPUs, j.BatchLimits())
		return g
	}
	if a.IsZero() {
		return 0
	}
	return on(a.Configuration) / on(cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: a.GPUType})
}

// As coded for BOA §6.1: "scale-up in progress: target frozen until reached", with Pollux on
// the nodes that are there; one that shrinks may change its mind.
func TestGrowingClusterIsFrozen(t *testing.T) {
	a, jobs := autoscaler(t, small), singles(40)
	s := rented(t, 10, jobs...)
	s = next(s, mustPlan(t, a, s)) // all GPUs are in use: 17 nodes would do
	for i, step := range []struct {
		ready, starting int
		refused         bool
		jobs, want      int
	}{
		{10, 0, false, 40, 17},
		{10, 7, false, 10, 17}, // frozen, though there is less to do
		{10, 7, false, 10, 17},
		{10, 7, false, 10, 17},
		{12, 5, false, 10, 17},
		{16, 1, true, 10, 17},
		{17, 0, false, 10, 17}, // there: 10 of 68 GPUs, once
		{17, 0, false, 10, 4},  // and twice
		{17, 0, false, 31, 4},  // the other nodes are to be returned, but still there: 16 of 16, once
		{17, 0, false, 31, 13}, // and twice: it grows again
		{13, 0, false, 31, 13},
		{13, 0, false, 0, 2}, // nothing to wait for
	} {
		at := rented(t, step.ready, jobs[:step.jobs]...)
		at.Round, at.Now = s.Round+i, s.Now.Add(time.Duration(i)*time.Minute)
		at.Rentals[0].Starting, at.Rentals[0].Refused = step.starting, step.refused
		plan := mustPlan(t, a, at)
		if got := plan.Capacity["spot"]; got != step.want {
			t.Errorf("step %d: %d nodes wanted, want %d", i, got, step.want)
		}
	}
}

// A provider that has no more ends the wait: what there is counts again.
func TestRefusalEndsTheWait(t *testing.T) {
	a, jobs := autoscaler(t, small), singles(40)
	for i, step := range []struct {
		refused    bool
		jobs, want int
	}{{false, 40, 10}, {false, 40, 17}, {true, 10, 17}, {true, 10, 4}} {
		s := rented(t, 10, jobs[:step.jobs]...)
		s.Round, s.Rentals[0].Refused = i, step.refused
		if got := mustPlan(t, a, s).Capacity["spot"]; got != step.want {
			t.Errorf("round %d: %d nodes wanted, want %d", i, got, step.want)
		}
	}
}
