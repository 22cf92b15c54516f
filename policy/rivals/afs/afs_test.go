package afs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/afs"
)

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy { return afs.New(afs.DefaultOptions()) })
	t.Run("anew in every round", func(t *testing.T) {
		policytest.RunMemoryless(t, func() policy.Policy { return afs.New(afs.Options{}) })
	})
}

// AFS: two jobs alike share evenly, whatever their lengths, and one that scales better has
// more.
func TestShares(t *testing.T) {
	half := []float64{1, 1.5, 1.75, 1.875, 1.9375} // each GPU adds half of what the last did
	for _, test := range []struct {
		name string
		jobs func(w *policytest.Toy)
		want string
	}{
		{"alike", func(w *policytest.Toy) {
			w.Elastic("a", 8, time.Hour, half...)
			w.Elastic("b", 8, 9*time.Hour, half...)
		}, "a2 b2"},
		{"the better scaling has more", func(w *policytest.Toy) {
			w.Elastic("a", 8, time.Hour, half...)
			w.Elastic("b", 8, time.Hour, 1, 1.9, 2.7, 3.4)
		}, "a1 b3"},
		{"of perfectly scaling jobs the shorter doubles before the other starts", func(w *policytest.Toy) {
			w.Elastic("a", 8, 9*time.Hour)
			w.Elastic("b", 8, time.Hour)
		}, "a1 b3"},
		{"more jobs than GPUs: the shortest have one each", func(w *policytest.Toy) {
			for i, id := range []job.ID{"a", "b", "c", "d", "e", "f"} {
				w.Elastic(id, 8, time.Duration(9-i)*time.Hour, half...)
			}
		}, "a- b- c1 d1 e1 f1"},
		{"gangs get all or nothing, the shortest first", func(w *policytest.Toy) {
			w.Submit("a", 3, 3*time.Hour)
			w.Submit("b", 2, 2*time.Hour)
			w.Submit("c", 1, 4*time.Hour)
		}, "a- b2 c1"},
		{"a GPU that helps nobody stays idle", func(w *policytest.Toy) {
			w.Elastic("a", 8, time.Hour, 1, 0.9)
		}, "a1"},
	} {
		w := policytest.NewToy(t, 4)
		test.jobs(w)
		w.Play(afs.New(afs.DefaultOptions()))
		if got := w.GPUs(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// Shares stay until jobs come or go.
func TestShares_change_with_churn(t *testing.T) {
	w := policytest.NewToy(t, 4)
	p := afs.New(afs.DefaultOptions())
	var got []string
	play := func() {
		w.Play(p)
		got = append(got, w.GPUs())
	}
	w.Elastic("a", 8, 3*time.Hour, 1, 1.5, 1.75, 1.9)
	play()
	w.Elastic("b", 8, 3*time.Minute, 1, 1.5, 1.75, 1.9)
	play()
	play()
	play()
	if d := cmp.Diff([]string{"a4", "a2 b2", "a2", "a4"}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// A job that may not have its share any more, because its user has changed what it runs on, has
// another, and not nothing until jobs come or go.
func TestShares_change_with_what_a_job_runs_on(t *testing.T) {
	w := policytest.NewToy(t, 4, 2)
	p := afs.New(afs.DefaultOptions())
	j := w.Elastic("a", 8, 3*time.Hour)
	w.Play(p)
	got := []string{w.GPUs()}
	for _, change := range []func(*job.Spec){
		func(s *job.Spec) { s.WorkerGPUs = 3 },
		func(s *job.Spec) { s.WorkerGPUs, s.GPUTypes = 0, []cluster.GPUType{"b"} },
	} {
		other := *j.Spec
		change(&other)
		w.Jobs[0].Spec = &other
		w.Play(p)
		got = append(got, w.GPUs())
	}
	if d := cmp.Diff([]string{"a4", "a3", "a2"}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Without GPUs nobody has a share, in one round as in the next.
func TestShares_of_nothing(t *testing.T) {
	w := policytest.NewToy(t)
	w.Elastic("a", 8, 3*time.Hour)
	p := afs.New(afs.DefaultOptions())
	for range 2 {
		w.Play(p)
		if got := w.GPUs(); got != "a-" {
			t.Errorf("%s, want a-: nothing", got)
		}
	}
}

// An elastic job has whole workers.
func TestShares_are_whole_workers(t *testing.T) {
	w := policytest.NewToy(t, 7)
	w.Elastic("a", 8, 3*time.Hour).WorkerGPUs = 2
	w.Play(afs.New(afs.DefaultOptions()))
	if got := w.GPUs(); got != "a6" {
		t.Errorf("%s, want a6: three workers of 2 GPUs", got)
	}
}

func TestReasons(t *testing.T) {
	w := policytest.NewToy(t, 4)
	w.Submit("shortest", 3, time.Hour)
	w.Submit("waits", 2, 2*time.Hour)
	w.Submit("too large", 5, time.Hour)
	plan := w.Play(afs.New(afs.DefaultOptions()))
	gpus := func(n int) cluster.Configuration { return cluster.Configuration{Nodes: 1, GPUs: n, GPUType: "a"} }
	want := []policy.Reason{
		{Kind: policy.Started, Config: gpus(3), Value: 1},
		{Kind: policy.WaitNoCapacity, Config: gpus(2), Value: 1, Limit: 2},
		{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 5}},
	}
	for i := range want {
		if d := cmp.Diff(want[i], plan.Jobs[i].Why); d != "" {
			t.Errorf("job %d -want +got\n%s", i, d)
		}
	}
}

// TestAFS_compares_no_samples: of two jobs whose speed nobody knows, the one with fewer samples is
// not known to be shorter; the first to come is first.
func TestAFS_compares_no_samples(t *testing.T) {
	w := policytest.NewToy(t, 4)
	for _, id := range []job.ID{"more samples", "fewer"} {
		w.Submit(id, 4, time.Hour).Perf = nil
	}
	w.Jobs[0].Target, w.Jobs[1].Target = 1e9, 1
	s := w.Snapshot()
	plan, err := afs.New(afs.DefaultOptions()).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Jobs[0].Allocation.IsZero() || !plan.Jobs[1].Allocation.IsZero() {
		t.Errorf("%v and %v, want the first to run", plan.Jobs[0].Allocation, plan.Jobs[1].Allocation)
	}
}
