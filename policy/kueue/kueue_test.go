package kueue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/kueue"
	"github.com/oxgang/oxgang/policy/policytest"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// nodes returns a cluster of "a" nodes of eight GPUs, and "b" nodes of four.
func nodes(t interface{ Fatal(...any) }, a, b int) *cluster.Cluster {
	var all []cluster.Node
	for i := range a {
		all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("a%d", i)), GPUType: "a", Capacity: cluster.Resources{GPUs: 8}})
	}
	for i := range b {
		all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("b%d", i)), GPUType: "b", Capacity: cluster.Resources{GPUs: 4}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// waits is a job that waits in a queue, with pods of so many GPUs each.
func waits(id, queue string, gpus, each int, types ...cluster.GPUType) *policy.Job {
	return &policy.Job{
		Spec: &job.Spec{
			ID: job.ID(id), Queue: queue, GPUs: gpus, WorkerGPUs: each, GPUTypes: types,
			Timed: true, Target: 3600, Adaptivity: job.Rigid, NonPreemptive: true,
		},
		Status: job.Status{Phase: job.Waiting, Submitted: start, Since: start},
	}
}

// runs is a job that runs on nodes, with so many GPUs of each.
func runs(id, queue string, gpus int, on ...string) *policy.Job {
	j := waits(id, queue, gpus*len(on), gpus)
	j.Phase = job.Running
	j.Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: len(on), GPUs: gpus * len(on), GPUType: cluster.GPUType(on[0][:1])}}
	for _, n := range on {
		j.Placement = append(j.Placement, cluster.Share{Node: cluster.NodeID(n), Resources: cluster.Resources{GPUs: gpus}})
	}
	return j
}

func policyOf(t interface{ Fatal(...any) }, text string) *kueue.Policy {
	queues, err := kueue.ParseQueues(text)
	if err != nil {
		t.Fatal(err)
	}
	return kueue.New(kueue.Options{Queues: queues})
}

// decided plans a round and returns who has what, or why not: "j a=8" has eight GPUs of type a.
func decided(t *testing.T, p policy.Policy, c *cluster.Cluster, jobs ...*policy.Job) string {
	t.Helper()
	s := &policy.Snapshot{Now: start, Length: time.Minute, Cluster: c, Jobs: jobs}
	plan, err := p.Plan(t.Context(), s)
	if err == nil {
		err = policy.Check(s, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, j := range jobs {
		d := &plan.Jobs[i]
		said := fmt.Sprintf("%s=%d", d.Allocation.GPUType, d.Placement.GPUs())
		if d.Allocation.IsZero() {
			said = fmt.Sprintf("(%v %g/%g)", d.Why.Kind, d.Why.Value, d.Why.Limit)
		}
		all = append(all, string(j.ID)+" "+said)
	}
	return strings.Join(all, "; ")
}

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy { return kueue.New(kueue.Options{}) })
}

// Who is admitted, by Kueue's rules.
func TestPlan_quota(t *testing.T) {
	urgent := waits("z", "x", 8, 8)
	urgent.Priority = 1
	for name, test := range map[string]struct {
		queues string
		jobs   []*policy.Job
		want   string
	}{
		"within the quota": {
			"x big=a:8",
			[]*policy.Job{waits("j", "x", 8, 8), waits("k", "x", 1, 1)},
			"j a=8; k (waiting: quota 0/1)",
		},
		"a smaller one passes": {
			"x big=a:8",
			[]*policy.Job{runs("r", "x", 4, "a0"), waits("j", "x", 8, 8), waits("k", "x", 4, 4)},
			"r a=4; j (waiting: quota 0/8); k a=4",
		},
		"none passes a strict queue's first": {
			"x! big=a:8",
			[]*policy.Job{runs("r", "x", 4, "a0"), waits("j", "x", 8, 8), waits("k", "x", 4, 4)},
			"r a=4; j (waiting: quota 4/8); k (waiting: queue order 1/4)",
		},
		"by priority": {
			"x big=a:8",
			[]*policy.Job{waits("j", "x", 8, 8), urgent},
			"j (waiting: quota 0/8); z a=8",
		},
		"the next flavor": {
			"x big=a:8 small=b:4",
			[]*policy.Job{runs("r", "x", 8, "a0"), waits("j", "x", 4, 4)},
			"r a=8; j b=4",
		},
		"a flavor on whose nodes it may not run": {
			"x big=a:8 small=b:4",
			[]*policy.Job{runs("r", "x", 8, "a0"), waits("j", "x", 4, 4, "a")},
			"r a=8; j (waiting: quota 0/4)",
		},
		"more than there will ever be": {
			"x big=a:8",
			[]*policy.Job{waits("j", "x", 16, 8)},
			"j (impossible on this cluster 0/0)",
		},
		"borrowed": {
			"x@c big=a:8; y@c big=a:16",
			[]*policy.Job{waits("j", "x", 24, 8)},
			"j a=24",
		},
		"borrowed up to the limit": {
			"x@c big=a:8+8; y@c big=a:16",
			[]*policy.Job{waits("j", "x", 24, 8), waits("k", "x", 16, 8)},
			"j (impossible on this cluster 0/0); k a=16",
		},
		"lent up to the limit": {
			"x@c big=a:8; y@c big=a:16-8",
			[]*policy.Job{waits("j", "x", 16, 8), waits("k", "x", 8, 8), waits("l", "y", 8, 8)},
			"j a=16; k (waiting: quota 0/8); l a=8",
		},
		"who need not borrow comes first in a cycle": {
			"x@c big=a:8; y@c big=a:8",
			[]*policy.Job{waits("j", "x", 16, 8), waits("k", "y", 8, 8)},
			"j (waiting: quota 8/16); k a=8",
		},
		"a queue that is not named has no quota": {
			"x big=a:8",
			[]*policy.Job{waits("j", "other", 24, 8)},
			"j a=24",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decided(t, policyOf(t, test.queues), nodes(t, 3, 1), test.jobs...); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// Where nodes count CPUs, each pod goes where fewest are asked for.
func TestPlan_spreads(t *testing.T) {
	var all []cluster.Node
	for _, id := range []cluster.NodeID{"a0", "a1", "a2"} {
		all = append(all, cluster.Node{ID: id, GPUType: "a", Capacity: cluster.Resources{GPUs: 8, CPUs: 96, Memory: 1 << 40}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: start, Length: time.Minute, Cluster: c, Jobs: []*policy.Job{waits("j", "x", 1, 1), waits("k", "x", 4, 2), waits("l", "x", 1, 1)}}
	for _, j := range s.Jobs {
		j.CPUs = 8 * float64(j.GPUs)
	}
	plan, err := policyOf(t, "").Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%s %s %s", plan.Jobs[1].Placement[0].Node, plan.Jobs[1].Placement[1].Node, plan.Jobs[2].Placement[0].Node), "a1 a2 a0"; got != want {
		t.Errorf("two pods with 16 CPUs each beside one with 8, and one more: on %s, want %s", got, want)
	}
}

// A job that was admitted, and whose pods do not fit on nodes, uses its quota.
func TestPlan_nodes(t *testing.T) {
	c := nodes(t, 2, 0)
	p := policyOf(t, "x big=a:16")
	wide, small := waits("j", "x", 8, 8), waits("k", "x", 8, 4)
	first, second := runs("r", "other", 1, "a0"), runs("s", "other", 1, "a1")
	if got, want := decided(t, p, c, first, second, wide, small), "r a=1; s a=1; j (waiting: no capacity 6/8); k a=8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := decided(t, policyOf(t, "x big=a:16"), c, first, second, wide), "r a=1; s a=1; j (evicted: fragmentation 0/0)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := decided(t, policyOf(t, ""), c, runs("r", "x", 8, "a0"), waits("j", "x", 16, 8), waits("k", "x", 1, 1)),
		"r a=8; j (waiting: no capacity 8/16); k (waiting: queue order 1/1)"; got != want {
		t.Errorf("%s, want %s: a pod of j has the node that is idle", got, want)
	}
	elastic := waits("j", "x", 8, 8)
	elastic.Adaptivity, elastic.MinGPUs, elastic.NonPreemptive = job.GPUCount, 1, false
	if got, want := decided(t, policyOf(t, ""), c, runs("r", "x", 6, "a0", "a1"), elastic), "r a=12; j (waiting: no capacity 4/8)"; got != want {
		t.Errorf("%s, want %s: it is started with what it requests, not with the least that it runs on", got, want)
	}
	small = runs("k", "x", 4, "a0", "a1")
	if got, want := decided(t, p, c, first, second, wide, small, waits("l", "x", 1, 1)),
		"r a=1; s a=1; j (waiting: no capacity 6/8); k a=8; l (waiting: quota 0/1)"; got != want {
		t.Errorf("%s, want %s: the quota is used by k, and by j, which waits for nodes", got, want)
	}
}

// A queue uses no more than its quota and what it may borrow, a cohort no more than the quotas of its queues; and a job within what its queue
// lends to nobody starts at once, but behind a strict queue's first.
func TestQuotasHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := []string{}
		for _, name := range []string{"x", "y", "z"} {
			q := kueue.ClusterQueue{Name: name, Cohort: rapid.SampledFrom([]string{"", "c", "c"}).Draw(rt, "cohort"), Strict: rapid.IntRange(0, 3).Draw(rt, "strict") == 0}
			q.Flavors = []kueue.Flavor{{Name: "f", Types: []cluster.GPUType{"a"}, Nominal: rapid.IntRange(0, 20).Draw(rt, "nominal"), Borrow: rapid.IntRange(-1, 8).Draw(rt, "borrow"), Lend: rapid.IntRange(-1, 8).Draw(rt, "lend")}}
			text = append(text, q.String())
		}
		joined := strings.Join(text, "; ")
		queues, err := kueue.ParseQueues(joined)
		if err != nil {
			rt.Fatal(err)
		}
		if again := kueue.Format(queues); again != joined {
			rt.Fatalf("%q is written as %q", joined, again)
		}
		s := &policy.Snapshot{Now: start, Length: time.Minute, Cluster: nodes(t, 200, 0)}
		for i := range rapid.IntRange(1, 30).Draw(rt, "jobs") {
			j := waits(fmt.Sprint(i), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "queue"), rapid.IntRange(1, 8).Draw(rt, "gpus"), 0)
			j.Priority = float64(rapid.IntRange(0, 1).Draw(rt, "priority"))
			s.Jobs = append(s.Jobs, j)
		}
		plan, err := kueue.New(kueue.Options{Queues: queues}).Plan(t.Context(), s)
		if err != nil {
			rt.Fatal(err)
		}
		if complaint := wrong(queues, s, plan); complaint != "" {
			rt.Fatalf("%s\n%s\n%v", joined, complaint, plan.Jobs)
		}
	})
}

// wrong returns what of a plan breaks the rules. It counts for itself.
func wrong(queues []kueue.ClusterQueue, s *policy.Snapshot, p *policy.Plan) string {
	used := map[string]int{}
	for i, j := range s.Jobs {
		used[j.Queue] += p.Jobs[i].Allocation.GPUs
	}
	for _, q := range queues {
		f := q.Flavors[0]
		limit := f.Nominal
		if q.Cohort != "" {
			limit = shared(queues, q.Cohort)
			if f.Borrow >= 0 {
				limit = min(limit, f.Nominal+f.Borrow)
			}
		}
		if used[q.Name] > limit {
			return fmt.Sprintf("queue %s uses %d GPUs, want at most %d", q.Name, used[q.Name], limit)
		}
		if sum := together(queues, q.Cohort, used); q.Cohort != "" && sum > shared(queues, q.Cohort) {
			return fmt.Sprintf("cohort %s uses %d GPUs, want at most %d", q.Cohort, sum, shared(queues, q.Cohort))
		}
		for i, j := range s.Jobs {
			if kept := own(&q); j.Queue == q.Name && !q.Strict && p.Jobs[i].Allocation.IsZero() && used[q.Name]+j.GPUs <= kept {
				return fmt.Sprintf("job %s waits, though its queue lends nobody %d GPUs and uses %d", j.ID, kept, used[q.Name])
			}
		}
	}
	return ""
}

// own returns the GPUs that a queue lends nobody.
func own(q *kueue.ClusterQueue) int {
	f := &q.Flavors[0]
	switch {
	case q.Cohort == "":
		return f.Nominal
	case f.Lend < 0:
		return 0
	}
	return max(0, f.Nominal-f.Lend)
}

// shared returns the quotas of a cohort.
func shared(queues []kueue.ClusterQueue, cohort string) (n int) {
	for _, q := range queues {
		if q.Cohort == cohort {
			n += q.Flavors[0].Nominal
		}
	}
	return n
}

// together returns what a cohort uses.
func together(queues []kueue.ClusterQueue, cohort string, used map[string]int) (n int) {
	for _, q := range queues {
		if q.Cohort == cohort {
			n += used[q.Name]
		}
	}
	return n
}

func TestParseQueues_errors(t *testing.T) {
	for text, want := range map[string]string{
		"@c f=a:1":              `queue "@c": has no name`,
		"x f=a:1; x":            `queue "x": appears twice`,
		"x f=a:1 f=b:1":         "appears twice",
		"x a:1":                 "want name=type|type:GPUs",
		"x f=a":                 "want name=type|type:GPUs",
		"x f=a:-1":              "want name=type|type:GPUs",
		"x f=a:1+many":          "want name=type|type:GPUs",
		"x f=a:999999999999999": "want name=type|type:GPUs",
	} {
		if _, err := kueue.ParseQueues(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
