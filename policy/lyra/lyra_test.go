package lyra_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/reclaim"
)

const hour = time.Hour

func fresh(t testing.TB, change func(*lyra.Options)) policy.Policy {
	t.Helper()
	o := lyra.DefaultOptions()
	if change != nil {
		change(&o)
	}
	p, err := lyra.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy { return fresh(t, nil) })
}

func TestNew_complains(t *testing.T) {
	o := lyra.DefaultOptions()
	o.Allocate.Pause, o.Reclaim.Rule, o.Loan, o.Patience = -1, "best", "steal", -1
	_, err := lyra.New(o)
	want := "lyra: pause -1ns, want at least 0\nrule \"best\", want greedy, random, scf or exact\nloan \"steal\", want loan, opportunity or none\npatience -1ns, want at least 0"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Lyra §5.2, §5.3: where jobs go.
func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*lyra.Options)
		jobs   func(*toy)
		want   string
	}{
		{"the shortest first", nil, func(w *toy) {
			w.submit("a", 8, 3*hour)
			w.submit("b", 8, 2*hour)
			w.submit("c", 8, hour)
		}, "a -, b v0:8, c v1:8"},
		{"by submission", func(o *lyra.Options) { o.Allocate.Order = allocate.FIFO }, func(w *toy) {
			w.submit("a", 8, 3*hour)
			w.submit("b", 16, 2*hour)
			w.submit("c", 8, hour)
		}, "a v0:8, b -, c -"},
		{"best fit, the largest worker first", nil, func(w *toy) {
			w.submit("a", 2, hour)
			w.submit("b", 4, 2*hour)
			w.submit("c", 6, 3*hour)
			w.submit("d", 4, 4*hour)
		}, "a v0:2, b v1:4, c v0:6, d v1:4"},
		{"inelastic jobs on training servers, then on loan, with three GPUs for one", nil, func(w *toy) {
			fungible(w.submit("a", 8, hour))
			fungible(w.submit("b", 8, hour))
			fungible(w.submit("c", 2, 2*hour))
		}, "a v0:8, b v1:8, c t0:6"},
		{"elastic ones on loan, base and flexible workers apart", nil, func(w *toy) {
			elastic(fungible(w.submit("a", 2, hour)), 4)
		}, "a t0:6 t1:6"},
		{"which they are not if nothing says so", func(o *lyra.Options) { o.Group = false }, func(w *toy) {
			elastic(fungible(w.submit("a", 1, hour)), 2)
		}, "a v0:2"},
		{"without scaling", func(o *lyra.Options) { o.Allocate.Growth = allocate.None }, func(w *toy) {
			elastic(fungible(w.submit("a", 2, hour)), 4)
		}, "a v0:2"},
		{"without loans", func(o *lyra.Options) { o.Loan = lyra.NoLoan }, func(w *toy) {
			elastic(fungible(w.submit("a", 2, hour)), 4)
		}, "a v0:4"},
		{"opportunity: jobs that may run on loan run nowhere else", func(o *lyra.Options) { o.Loan = lyra.Opportunity }, func(w *toy) {
			fungible(w.submit("a", 8, hour))
			w.submit("b", 8, hour)
			fungible(w.submit("c", 1, 2*hour))
		}, "a t0:8 t1:8 t2:8, b v0:8, c -"},
		{"heterogeneous jobs come last, on both sides if need be", nil, func(w *toy) {
			heterogeneous(w.submit("a", 8, hour)).WorkerGPUs = 2
			w.submit("b", 8, 2*hour)
			w.submit("c", 4, 3*hour)
		}, "a t0:8 t1:4 v1:4, b v0:8, c v1:4"},
		{"flexible workers of heterogeneous jobs on loan", nil, func(w *toy) {
			elastic(heterogeneous(w.submit("a", 4, hour)), 6)
		}, "a t0:6 v0:4"},
		{"not on loan without leave", nil, func(w *toy) {
			w.submit("a", 16, hour)
			w.submit("b", 1, 2*hour)
		}, "a v0:8 v1:8, b -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newToy(t, fresh(t, test.change), 2, 3)
			test.jobs(w)
			if got := w.play().where(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A job that waits says how many are before it: GPUs alone would not help it.
func TestWaits_say_who_is_before(t *testing.T) {
	wants := []policy.Reason{{Kind: policy.WaitNoCapacity, Limit: 8}, {Kind: policy.WaitOrder, Value: 1, Limit: 8}, {Kind: policy.WaitOrder, Value: 2, Limit: 8}}
	for _, order := range []allocate.Order{allocate.SJF, allocate.FIFO} {
		w := newToy(t, fresh(t, func(o *lyra.Options) { o.Allocate.Order = order }), 2, 3)
		w.submit("a", 16, hour)
		for i, id := range []job.ID{"b", "c", "d"} {
			w.submit(id, 8, time.Duration(i+2)*hour)
		}
		w.play()
		for i, want := range wants {
			got := w.plan.Jobs[i+1].Why
			if got.Config = (cluster.Configuration{}); got != want {
				t.Errorf("%s, job %s: %+v, want %+v", order, w.s.Jobs[i+1].ID, got, want)
			}
		}
	}
}

// A price of phase two says nothing of what a GPU is worth to jobs that wait: none is published of a type that one waits for.
func TestPlan_has_no_price_of_what_jobs_wait_for(t *testing.T) {
	for jobs, want := range map[int]int{2: 2, 3: 1} { // two types: the third job waits for the one that is not on loan
		w := newToy(t, fresh(t, nil), 2, 3)
		for i := range jobs {
			w.submit(job.ID(rune('a'+i)), 8, hour)
		}
		if w.play(); len(w.plan.Prices) != want {
			t.Errorf("%d jobs on 16 GPUs: prices %v, want %d", jobs, w.plan.Prices, want)
		}
	}
}

// Lyra §4, §5.3: the servers of flexible workers go back first, and nobody is preempted.
func TestReclaim_flexible_workers_first(t *testing.T) {
	w := newToy(t, fresh(t, nil), 1, 3)
	w.submit("own", 8, hour)
	elastic(fungible(w.submit("a", 2, hour)), 4)
	w.play()
	w.s.Loans[0].Reclaim = 2
	if got, want := w.play().where(), "own v0:8, a t0:6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := []cluster.NodeID{"t1", "t2"}; !slices.Equal(w.plan.Return, want) {
		t.Errorf("%v go back, want %v", w.plan.Return, want)
	}
}

// Lyra Fig. 5: of six servers two go back with one preemption, by any rule that looks at the
// servers of jobs; the job that lost its servers waits for the next round, and begins anew.
func TestReclaim_preempts_least(t *testing.T) {
	w := newToy(t, fresh(t, func(o *lyra.Options) { o.Reclaim.Rule = reclaim.Greedy }), 0, 4)
	for _, j := range []struct {
		id   job.ID
		gpus int
		on   []cluster.NodeID
	}{{"a", 8, []cluster.NodeID{"t0", "t1"}}, {"b", 8, []cluster.NodeID{"t2"}}, {"c", 8, []cluster.NodeID{"t3"}}} {
		row := fungible(w.submit(j.id, j.gpus, 9*hour))
		row.Equivalents, row.GPUs = nil, 8
		row.Phase, row.Allocation = job.Running, cluster.Allocation{Configuration: cluster.Configuration{Nodes: len(j.on), GPUs: 8, GPUType: "t4"}}
		for _, id := range j.on {
			row.Placement = append(row.Placement, cluster.Share{Node: id, Resources: cluster.Resources{GPUs: 8 / len(j.on)}})
		}
	}
	w.s.Loans[0].Reclaim = 2
	w.play()
	if want := []cluster.NodeID{"t0", "t1"}; !slices.Equal(w.plan.Return, want) {
		t.Errorf("%v go back, want %v", w.plan.Return, want)
	}
	if got, want := w.where(), "a -, b t2:8, c t3:8"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := w.plan.Jobs[0].Why.Kind; got != policy.Reclaimed {
		t.Errorf("a waits because %s, want %s", got, policy.Reclaimed)
	}
}

// More than all that is lent cannot go back; a job that must not be preempted keeps its server.
func TestReclaim_more_than_there_is(t *testing.T) {
	w := newToy(t, fresh(t, nil), 0, 2)
	j := fungible(w.submit("a", 8, hour))
	j.Equivalents, j.NonPreemptive, j.Phase = nil, true, job.Running
	j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "t4"}
	j.Placement = cluster.Placement{{Node: "t1", Resources: cluster.Resources{GPUs: 8}}}
	w.s.Loans[0].Reclaim = 5
	w.play()
	if want := []cluster.NodeID{"t0"}; !slices.Equal(w.plan.Return, want) || w.where() != "a t1:8" {
		t.Errorf("%v go back and %s, want %v and a t1:8", w.plan.Return, w.where(), want)
	}
}

// All that would be lent is borrowed.
func TestBorrow(t *testing.T) {
	for loan, want := range map[lyra.Loan]int{lyra.Borrow: 5, lyra.Opportunity: 5, lyra.NoLoan: 0} {
		w := newToy(t, fresh(t, func(o *lyra.Options) { o.Loan = loan }), 1, 2)
		w.s.Loans[0].Spare = 3
		if got := w.play().plan.Capacity["t4"]; got != want {
			t.Errorf("%s: %d nodes wanted, want %d", loan, got, want)
		}
	}
}

// Jobs that will not end before their servers are asked back do not go there; those that will,
// do. Without foresight all do.
func TestForesee(t *testing.T) {
	for foresee, want := range map[bool]string{true: "own v0:8, long -, short t0:6", false: "own v0:8, long t0:6, short t1:6"} {
		w := newToy(t, fresh(t, func(o *lyra.Options) { o.Foresee = foresee }), 1, 2)
		w.submit("own", 8, hour/2)
		fungible(w.submit("long", 2, 9*hour))
		fungible(w.submit("short", 2, hour))
		w.s.Loans[0].Expected, w.s.Loans[0].Every = []int{2, 2, 0, 0, 2, 2}, hour
		got := w.play().where()
		got = strings.NewReplacer("long t1:6, short t0:6", "long t0:6, short t1:6").Replace(got)
		if got != want {
			t.Errorf("foresee %v: got %s, want %s", foresee, got, want)
		}
	}
}

// What all owners of a type expect adds up; of one who says nothing, what is lent stays.
func TestForesee_adds_up_owners(t *testing.T) {
	for _, test := range []struct {
		other []int
		every time.Duration
		want  string
	}{
		{[]int{0}, hour, "own v0:8, long -"},
		{[]int{1}, hour, "own v0:8, long t0:6"},
		{[]int{1, 1, 0}, 4 * hour, "own v0:8, long -"},
		{nil, 0, "own v0:8, long t0:6"},
	} {
		w := newToy(t, fresh(t, nil), 1, 2)
		w.submit("own", 8, hour/2)
		fungible(w.submit("long", 2, 9*hour))
		w.s.Loans = append(w.s.Loans, w.s.Loans[0])
		w.s.Loans[0].Lent, w.s.Loans[1].Lent, w.s.Loans[1].Group = 1, 1, "other"
		w.s.Loans[0].Expected, w.s.Loans[0].Every = []int{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, hour
		w.s.Loans[1].Expected, w.s.Loans[1].Every = test.other, test.every
		if got := w.play().where(); got != test.want {
			t.Errorf("the other expects %v: got %s, want %s", test.other, got, test.want)
		}
	}
}

// Jobs that end late are together, so that servers are free to go back when short ones end.
func TestForesee_keeps_late_jobs_together(t *testing.T) {
	for foresee, want := range map[bool]string{true: "l2 t1:3", false: "l2 t0:3"} {
		w := newToy(t, fresh(t, func(o *lyra.Options) { o.Foresee = foresee }), 1, 2)
		w.submit("own", 8, 30*hour)
		w.play()
		for _, j := range []struct {
			id   job.ID
			long time.Duration
		}{{"s1", hour}, {"s2", hour}, {"l1", 20 * hour}} {
			fungible(w.submit(j.id, 1, j.long))
			w.play()
		}
		w.end("s2")
		fungible(w.submit("l2", 1, 19*hour))
		if got := w.play().where(); !strings.HasSuffix(got, want) {
			t.Errorf("foresee %v: %s, want %s", foresee, got, want)
		}
	}
}

// largeStarts returns when a job of all GPUs starts, beside one of half of them that runs an
// hour and comes each half hour; 0: not in so many days.
func largeStarts(t *testing.T, p policy.Policy, days int) time.Duration {
	t.Helper()
	w := newToy(t, p, 1, 0)
	w.s.Length = 30 * time.Minute
	w.submit("large", 8, 9*hour)
	for k := range 48 * days {
		w.submit(job.ID(rune('a'+k)), 4, hour)
		w.play()
		for _, j := range slices.Clone(w.s.Jobs) {
			switch {
			case j.ID == "large" && j.Holding():
				return j.Since.Sub(policytest.Epoch)
			case j.Holding() && w.s.Now.Sub(j.Since) >= hour:
				w.end(j.ID)
			}
		}
	}
	return 0
}

// Lyra §5.2 says that its first phase avoids starvation; by its rule a job of all GPUs waits as
// long as shorter ones come. With patience it has servers kept for it: by default after four
// days, because after one it costs others more than it gains (docs/experiments/lyra.md).
func TestPatience(t *testing.T) {
	const day = 24 * hour
	patient := func(of time.Duration) policy.Policy {
		return fresh(t, func(o *lyra.Options) { o.Patience = of })
	}
	for name, test := range map[string]struct {
		policy   policy.Policy
		from, to time.Duration // when it starts; 0: not at all
	}{
		"never":      {patient(0), 0, 0},
		"4 hours":    {patient(4 * hour), 4 * hour, 6 * hour},
		"by default": {fresh(t, nil), 4 * day, 4*day + 2*hour},
	} {
		if at := largeStarts(t, test.policy, 5); at < test.from || at > test.to {
			t.Errorf("%s: the large job starts after %v, want %v to %v", name, at, test.from, test.to)
		}
	}
}

// A heterogeneous job goes on where it is, and lets go what is asked back.
func TestPlan_heterogeneous_jobs_go_on(t *testing.T) {
	w := newToy(t, fresh(t, nil), 1, 2)
	elastic(heterogeneous(w.submit("a", 4, hour)), 6)
	w.submit("b", 4, hour)
	first := w.play().where()
	if got := w.play().where(); got != first || first != "a t0:6 v0:4, b v0:4" {
		t.Errorf("got %s, then %s, want the same", first, got)
	}
	w.s.Loans[0].Reclaim = 2
	if got, want := w.play().where(), "a v0:4, b v0:4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What would be refused as a whole is not planned: a heterogeneous job of a batch size, of
// replicas of two GPUs, on nodes that count CPUs and memory.
func TestPlan_heterogeneous_jobs_only_where_they_may(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*toy, *policy.Job)
		want  string
	}{
		{"with a batch size", func(_ *toy, j *policy.Job) {
			j.BatchSize, j.Spec.Batch = 16, job.BatchLimits{Init: 16, Max: 16}
		}, "own v0:4, a t0:8 t1:4 v0:4"},
		{"replicas of two GPUs", func(_ *toy, j *policy.Job) {
			j.GPUsPerReplica = map[cluster.GPUType]int{"v100": 2, "t4": 2}
		}, "own v0:4, a -"},
		{"nodes that count", func(w *toy, _ *policy.Job) { w.count() }, "own v0:4, a -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newToy(t, fresh(t, nil), 1, 2)
			w.submit("own", 4, hour/2)
			a := heterogeneous(w.submit("a", 8, hour))
			a.WorkerGPUs = 2
			test.spoil(w, a)
			if got := w.play().where(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A job on both sides goes on there when others say that GPUs on loan are worth less to them.
func TestPlan_heterogeneous_jobs_go_on_whatever_others_say(t *testing.T) {
	w := newToy(t, fresh(t, nil), 1, 2)
	w.submit("own", 4, hour/2)
	heterogeneous(w.submit("a", 8, hour)).WorkerGPUs = 2
	first := w.play().where()
	w.s.Jobs[0].Equivalents = map[cluster.GPUType]int{"t4": 2}
	if got := w.play().where(); got != first || first != "own v0:4, a t0:8 t1:4 v0:4" {
		t.Errorf("got %s, then %s, want the same", first, got)
	}
}

// Flexible workers make room for the base demand of a job that waits, in whole servers.
func TestPlan_flexible_workers_make_room(t *testing.T) {
	w := newToy(t, fresh(t, nil), 2, 0)
	elastic(w.submit("a", 4, 9*hour), 16)
	if got := w.play().where(); got != "a v0:8 v1:8" {
		t.Fatalf("got %s, want all", got)
	}
	w.submit("b", 8, hour)
	if got := w.play().where(); !strings.Contains(got, "b v") || !strings.Contains(got, "a v") {
		t.Errorf("got %s, want room for b", got)
	}
	w.end("b")
	if got := w.play().where(); got != "a v0:8 v1:8" {
		t.Errorf("got %s, want all again", got)
	}
}

// An elastic job of which nothing is heard grows on nodes that come, and makes room for others.
func TestPlan_silent_jobs(t *testing.T) {
	w := newToy(t, fresh(t, nil), 2, 0)
	elastic(w.submit("a", 4, 9*hour), 24)
	w.play()
	silent := w.play().s.Jobs[0]
	if got := w.play().where(); got != "a v0:8 v1:8" || w.s.Jobs[0] != silent {
		t.Fatalf("got %s, want the same row with all", got)
	}
	w.nodes(3, 0)
	if got := w.play().where(); got != "a v0:8 v1:8 v2:8" {
		t.Errorf("got %s, want the new node, too", got)
	}
	w.play()
	w.submit("b", 8, hour)
	if got := w.play().where(); !strings.Contains(got, "b v") {
		t.Errorf("got %s, want room for b", got)
	}
}

// Flexible workers stay where they could not make enough room for a job that waits: to get
// them back would cost more than they save.
func TestPlan_flexible_workers_make_no_room_in_vain(t *testing.T) {
	w := newToy(t, fresh(t, nil), 2, 0)
	w.s.Length = time.Second
	w.submit("own", 8, 99*hour)
	elastic(w.submit("a", 2, time.Minute), 6)
	w.play()
	late := w.submit("late", 16, hour)
	late.WorkerGPUs, late.Since = 2, w.s.Now.Add(-25*hour)
	if got, want := w.play().where(), "own v0:8, a v1:6, late -"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Lyra §7.1, Lyra+TunedJobs: the agent of a job that may tune its batch size chooses it; others
// keep the one they were submitted with.
func TestPlan_leaves_batch_sizes_to_agents_that_tune_them(t *testing.T) {
	for _, tunes := range []bool{true, false} {
		w := newToy(t, fresh(t, nil), 1, 0)
		j := w.submit("a", 4, hour)
		j.BatchSize, j.Spec.Batch = 64, job.BatchLimits{Init: 64, Max: 256}
		if tunes {
			j.Adaptivity |= job.BatchSizes
		}
		if got := w.play().plan.Jobs[0].Batch == (job.BatchSize{}); got != tunes {
			t.Errorf("tunes %v: the choice is left to the agent: %v", tunes, got)
		}
	}
}
