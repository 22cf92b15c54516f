package gandiva_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/gandiva"
)

func fresh(t testing.TB, change func(*gandiva.Options)) policy.Policy {
	t.Helper()
	o := gandiva.DefaultOptions()
	if change != nil {
		change(&o)
	}
	p, err := gandiva.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy { return fresh(t, nil) })
	t.Run("long slices", func(t *testing.T) {
		policytest.Run(t, func() policy.Policy {
			return fresh(t, func(o *gandiva.Options) { o.Slice, o.Grow = 3*time.Minute, false })
		})
	})
}

// plays returns what the jobs of a world have in each of some rounds.
func plays(w *policytest.Toy, p policy.Policy, rounds int) []string {
	var all []string
	for range rounds {
		w.Play(p)
		all = append(all, w.GPUs())
	}
	return all
}

// Gandiva §3.1: jobs that do not fit together share GPUs in time, round-robin.
func TestTurns_go_round(t *testing.T) {
	w := policytest.NewToy(t, 2)
	for _, id := range []job.ID{"a", "b", "c"} {
		w.Submit(id, 1, time.Hour)
	}
	want := []string{"a1 b1 c-", "a1 b- c1", "a- b1 c1", "a1 b1 c-"}
	if d := cmp.Diff(want, plays(w, fresh(t, nil), 4)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Jobs alike have as much time.
func TestTurns_are_fair(t *testing.T) {
	w := policytest.NewToy(t, 3)
	for i := range 7 {
		w.Submit(job.ID(fmt.Sprint(i)), 1, 100*time.Hour)
	}
	p, ran := fresh(t, nil), map[job.ID]int{}
	for range 70 {
		w.Play(p)
		for _, j := range w.Jobs {
			if j.Holding() {
				ran[j.ID]++
			}
		}
	}
	for id, n := range ran {
		if n < 29 || n > 31 {
			t.Errorf("job %s ran in %d rounds of 70, want 30 or nearly", id, n)
		}
	}
}

// A slice of several rounds is kept to its end, and nobody is stopped for nobody.
func TestTurns_last_a_slice(t *testing.T) {
	w := policytest.NewToy(t, 1)
	w.Submit("a", 1, time.Hour)
	p := fresh(t, func(o *gandiva.Options) { o.Slice = 2 * time.Minute })
	got := plays(w, p, 3)
	w.Submit("b", 1, time.Hour)
	got = append(got, plays(w, p, 4)...)
	want := []string{"a1", "a1", "a1", "a1 b-", "a- b1", "a- b1", "a1 b-"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Gandiva §3.3: jobs grow "opportunistically" to idle GPUs and shrink when they are needed.
func TestGrow_and_shrink(t *testing.T) {
	for _, test := range []struct {
		grow bool
		want []string
	}{{true, []string{"a4 b4", "a4 b2 c2"}}, {false, []string{"a1 b1", "a1 b1 c2"}}} {
		w := policytest.NewToy(t, 8)
		w.Elastic("a", 8, 9*time.Hour)
		w.Elastic("b", 8, 9*time.Hour)
		p := fresh(t, func(o *gandiva.Options) { o.Grow = test.grow })
		got := plays(w, p, 1)
		w.Submit("c", 2, time.Hour)
		if d := cmp.Diff(test.want, append(got, plays(w, p, 1)...)); d != "" {
			t.Errorf("grow %v -want +got\n%s", test.grow, d)
		}
	}
}

// Within a slice a job keeps what it grew to, and who comes has no more than it asked for.
func TestGrow_only_as_a_slice_begins(t *testing.T) {
	w := policytest.NewToy(t, 8)
	w.Elastic("a", 4, 9*time.Hour)
	p := fresh(t, func(o *gandiva.Options) { o.Slice = 3 * time.Minute })
	got := plays(w, p, 1)
	w.Elastic("b", 4, 9*time.Hour)
	got = append(got, plays(w, p, 3)...)
	if d := cmp.Diff([]string{"a4", "a4 b1", "a4 b1", "a4 b4"}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// A slice is long against what it costs to stop and to start.
func TestTurns_last_ten_restarts(t *testing.T) {
	w := policytest.NewToy(t, 1)
	w.Submit("a", 1, time.Hour).RestartOverhead = 10 * time.Second
	w.Submit("b", 1, time.Hour).RestartOverhead = 20 * time.Second
	if d := cmp.Diff([]string{"a1 b-", "a1 b-", "a1 b-", "a- b1"}, plays(w, fresh(t, nil), 4)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Whoever is there, everyone who asks for no more than there is has its turn: within as many
// rounds as there are jobs, because who was passed over stays ahead.
func TestNobodyStarves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := policytest.NewToy(t, 4)
		n := rapid.IntRange(1, 8).Draw(rt, "jobs")
		for i := range n {
			w.Submit(job.ID(fmt.Sprint(i)), rapid.IntRange(1, 4).Draw(rt, "GPUs"), 100*time.Hour)
		}
		ran := map[job.ID]int{}
		rounds := rapid.IntRange(1, 4).Draw(rt, "rounds of a slice")
		p := fresh(t, func(o *gandiva.Options) { o.Slice = time.Duration(rounds) * w.Length })
		for range 40 * rounds {
			w.Play(p)
			for _, j := range w.Jobs {
				if j.Holding() {
					ran[j.ID]++
				}
			}
		}
		for _, j := range w.Jobs {
			if ran[j.ID] < (40/n-1)*rounds {
				rt.Fatalf("job %s of %d GPUs ran in %d rounds of %d, with %d jobs", j.ID, j.GPUs, ran[j.ID], 40*rounds, n)
			}
		}
	})
}

func TestReasons(t *testing.T) {
	w := policytest.NewToy(t, 4)
	w.Submit("runs", 3, time.Hour)
	w.Submit("waits", 2, time.Hour).Submitted = w.Now.Add(time.Second)
	w.Submit("too large", 5, time.Hour)
	w.Now = w.Now.Add(time.Minute)
	plan := w.Play(fresh(t, nil))
	want := []policy.Reason{
		{Kind: policy.Started, Config: cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "a"}, Value: 1},
		{Kind: policy.WaitTurn, Limit: 59},
		{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 5}},
	}
	for i := range want {
		if d := cmp.Diff(want[i], plan.Jobs[i].Why); d != "" {
			t.Errorf("job %d -want +got\n%s", i, d)
		}
	}
}

func TestOptions_Validate(t *testing.T) {
	want := "gandiva: slice -1ns, want at least 0s\nrestarts NaN, want 0 to 1e6"
	if _, err := gandiva.New(gandiva.Options{Slice: -1, Restarts: math.NaN()}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
