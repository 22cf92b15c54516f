package pop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/policy/rivals/pop"
	"github.com/oxgang/oxgang/policy/sia"
)

func ofQueue(o queue.Options) func() (policy.Policy, error) {
	return func() (policy.Policy, error) { return queue.New(o), nil }
}

func ofSia() (policy.Policy, error) { return sia.New(sia.DefaultOptions()) }

func TestConformance(t *testing.T) {
	for name, of := range map[string]struct {
		pop.Options
		inner func() (policy.Policy, error)
	}{
		"sia, 3 random":     {pop.Options{Parts: 3, Split: pop.Random, Seed: 7}, ofSia},
		"sia, 2 balanced":   {pop.Options{Parts: 2, Split: pop.Balanced}, ofSia},
		"fifo, 2 random":    {pop.Options{Parts: 2, Split: pop.Random}, ofQueue(queue.FIFO())},
		"srtf, 16 balanced": {pop.Options{Parts: 16, Split: pop.Balanced}, ofQueue(queue.SRTF())},
	} {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy { return must(t, of.Options, of.inner) })
		})
	}
	t.Run("background work, 3 random", func(t *testing.T) {
		policytest.Run(t, func() policy.Policy {
			inner, _ := thinkers()
			return must(t, pop.Options{Parts: 3, Split: pop.Random, Seed: 7}, inner)
		})
	})
}

func must(t testing.TB, o pop.Options, inner func() (policy.Policy, error)) policy.Policy {
	t.Helper()
	p, err := pop.New(o, inner)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// One part is the policy itself, to the byte.
func TestPlan_one_part_is_the_whole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := policytest.NewWorld(r)
		parts, whole := must(t, pop.Options{Parts: 1, Split: pop.Random}, ofSia), must(t, pop.Options{Parts: 1, Split: pop.Balanced}, ofSia)
		inner, _ := ofSia()
		for range 4 {
			s := w.Snapshot()
			want := plan(r, inner, s)
			for _, p := range []policy.Policy{parts, whole} {
				got := plan(r, p, s)
				if fmt.Sprint(got.Jobs, got.Prices, got.Stats.Objective) != fmt.Sprint(want.Jobs, want.Prices, want.Stats.Objective) {
					r.Fatalf("got %v, want %v", got, want)
				}
			}
			w.Advance(r, want)
		}
	})
}

type fataler interface{ Fatal(args ...any) }

func plan(t fataler, p policy.Policy, s *policy.Snapshot) *policy.Plan {
	got, err := p.Plan(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(s, got); err != nil {
		t.Fatal(err)
	}
	return got
}

// A spy notes what it is shown, and grants what the queue does.
type spy struct {
	*queue.Policy
	seen []*policy.Snapshot
}

// Plan implements policy.Policy.
func (s *spy) Plan(ctx context.Context, snap *policy.Snapshot) (*policy.Plan, error) {
	s.seen = append(s.seen, snap)
	return s.Policy.Plan(ctx, snap)
}

// a setting is a cluster of one type, jobs, and what each part is shown.
type setting struct {
	*testing.T
	policy policy.Policy
	spies  []*spy
	nodes  []cluster.Node
	jobs   []*policy.Job
	round  int
}

func newSetting(t *testing.T, o pop.Options, nodes int) *setting {
	s := &setting{T: t}
	s.policy = must(t, o, func() (policy.Policy, error) {
		p := &spy{Policy: queue.New(queue.FIFO())}
		s.spies = append(s.spies, p)
		return p, nil
	})
	for i := range nodes {
		s.nodes = append(s.nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%02d", i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}})
	}
	return s
}

func (s *setting) submit(gpus int) {
	id := job.ID(fmt.Sprintf("j%02d", len(s.jobs)))
	s.jobs = append(s.jobs, &policy.Job{Spec: &job.Spec{ID: id, Weight: 1, GPUs: gpus, Adaptivity: job.Rigid}, Status: job.Status{Phase: job.Waiting, Submitted: policytest.Epoch}})
}

// play plans a round and returns, for each part that was asked, the GPUs of its
// cluster and the jobs it saw.
func (s *setting) play(nodes ...cluster.Node) map[int]string {
	c, err := cluster.New(nodes)
	if err != nil {
		s.Fatal(err)
	}
	for _, spy := range s.spies {
		spy.seen = nil
	}
	s.round++
	plan(s.T, s.policy, &policy.Snapshot{Now: policytest.Epoch, Round: s.round, Length: time.Minute, Cluster: c, Jobs: s.jobs})
	shown := map[int]string{}
	for i, spy := range s.spies {
		for _, seen := range spy.seen {
			shown[i] = fmt.Sprintf("%d:", seen.Cluster.GPUs())
			for _, j := range seen.Jobs {
				shown[i] += " " + string(j.ID)
			}
		}
	}
	return shown
}

// Thesis §4.5.1: "16 sub-problems with equal resources (and jobs whenever
// possible)".
func TestPlan_parts_are_equal(t *testing.T) {
	for _, kind := range []string{pop.Random, pop.Balanced} {
		s := newSetting(t, pop.Options{Parts: 4, Split: kind, Seed: 3}, 12)
		for range 20 {
			s.submit(2)
		}
		for part, shown := range s.play(s.nodes...) {
			if len(shown) != len("24:")+5*len(" j00") || shown[:3] != "24:" {
				t.Errorf("%s: part %d was shown %s, want 24 GPUs and 5 jobs", kind, part, shown)
			}
		}
	}
}

// Jobs keep their part while they are there, new ones go where there are fewest.
func TestPlan_jobs_stay(t *testing.T) {
	s := newSetting(t, pop.Options{Parts: 2, Split: pop.Random, Seed: 3}, 4)
	for range 4 {
		s.submit(2)
	}
	first := s.play(s.nodes...)
	gone := s.jobs[0].ID
	from := 0
	if !strings.Contains(first[0], string(gone)) {
		from = 1
	}
	s.jobs = s.jobs[1:]
	s.jobs = append(s.jobs, &policy.Job{Spec: &job.Spec{ID: "new", GPUs: 2, Adaptivity: job.Rigid}, Status: job.Status{Phase: job.Waiting, Submitted: policytest.Epoch}})
	second := s.play(s.nodes...)
	if second[1-from] != first[1-from] || !strings.Contains(second[from], "new") {
		t.Errorf("parts were %v; when %s left and another came, %v", first, gone, second)
	}
	if third := s.play(s.nodes[:3]...); len(third) != 2 || strings.Contains(third[0], "new") != strings.Contains(second[0], "new") {
		t.Errorf("parts were %v; when a node failed, %v", second, third)
	}
}

// A job too big for a part joins as many as it needs, for as long as it is there.
func TestPlan_big_job_joins_parts(t *testing.T) {
	s := newSetting(t, pop.Options{Parts: 4, Split: pop.Random, Seed: 3}, 8)
	for range 4 {
		s.submit(2)
	}
	s.submit(40) // parts have 16
	shown := s.play(s.nodes...)
	sizes := map[string]int{}
	for _, x := range shown {
		sizes[x[:3]]++
	}
	if len(shown) != 2 || sizes["48:"] != 1 || sizes["16:"] != 1 {
		t.Errorf("shown %v, want three parts as one and another", shown)
	}
	s.jobs = s.jobs[:4]
	if shown := s.play(s.nodes...); len(shown) != 4 {
		t.Errorf("shown %v after it left, want four parts", shown)
	}
	s.submit(100) // the cluster has 64
	if shown := s.play(s.nodes...); len(shown) != 4 {
		t.Errorf("shown %v beside a job that fits nowhere, want four parts", shown)
	}
}

// A non-preemptive job joins parts until they have the CPUs and memory it holds.
func TestPlan_parts_have_the_CPUs_of_non_preemptive_jobs(t *testing.T) {
	for name, test := range map[string]struct {
		cpus   float64
		memory int64
		want   string
	}{
		"a part has them":         {20, 300e9, "8: j00"},
		"a part has too few CPUs": {30, 300e9, "16: j00"},
		"a part lacks memory":     {20, 600e9, "16: j00"},
	} {
		s := newSetting(t, pop.Options{Parts: 2, Split: pop.Random, Seed: 3}, 2)
		for i := range s.nodes {
			s.nodes[i].Capacity.CPUs, s.nodes[i].Capacity.Memory = 24, 500e9
		}
		s.submit(4)
		j := s.jobs[0]
		j.NonPreemptive, j.Phase = true, job.Running
		j.Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}, CPUs: test.cpus, Memory: test.memory}
		got := ""
		for _, shown := range s.play(s.nodes...) {
			if strings.Contains(shown, "j00") {
				got = shown
			}
		}
		if got != test.want {
			t.Errorf("%s: its part is %q, want %q", name, got, test.want)
		}
	}
}

func TestNew_explains_what_is_wrong(t *testing.T) {
	_, err := pop.New(pop.Options{Split: "even"}, ofSia)
	const want = "pop: parts 0, want 1 to 4096\nsplit \"even\", want \"random\" or \"balanced\""
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
