package kube

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// one opens a backend of a twin with one job of two workers with two GPUs each.
func one(t *testing.T, twin *kubetest.Cluster, mode v1alpha1.Mode) (*Backend, job.ID) {
	t.Helper()
	j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2})
	w := open(t, twin, options(mode))
	news(t, w)
	return w, job.ID(j.UID)
}

// once returns a hook that fails, so many times, the calls of a verb on Plans.
func once(verb string, err error, times int) func(*kubetest.Call) error {
	return func(c *kubetest.Call) error {
		if _, plan := c.Object.(*v1alpha1.Plan); !plan || c.Verb != verb || times == 0 {
			return nil
		}
		times--
		return err
	}
}

func TestDo_commits(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "plans"}, queue, errors.New("it was changed"))
	for _, c := range []struct {
		name          string
		before, after func(*kubetest.Call) error
	}{
		{name: "at once"},
		{name: "after the API server did not answer", before: once("update", apierrors.NewInternalError(errors.New("etcd")), 5)},
		{name: "after it asked for patience", before: once("update", apierrors.NewTooManyRequests("slower", 1), 2)},
		{name: "once, if the answer was lost", after: once("update", errLost, 1)},
		{name: "if the history cannot be saved", before: once("status", apierrors.NewInternalError(errors.New("etcd")), 1)},
		{name: "after a conflict that has passed", before: once("update", conflict, 1)},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			w, id := one(t, twin, v1alpha1.Resize)
			twin.Before, twin.After = c.before, c.after
			do(t, w, runOn(id, on("n0", 4)))
			p := twin.Plan(queue)
			if p.Spec.Round != 1 || len(p.Spec.Allocations) != 1 || p.Spec.Allocations[0].Generation != 1 || p.Spec.Allocations[0].GPUs != 4 {
				t.Errorf("plan %+v, want round 1 with 4 GPUs for generation 1", p.Spec)
			}
			do(t, w) // nothing new
			do(t, w, scheduler.Preempt{Job: id})
			if p = twin.Plan(queue); p.Spec.Round != 2 || p.Spec.Allocations[0].GPUs != 0 {
				t.Errorf("plan %+v, want round 2 with nothing for the job", p.Spec)
			}
		})
	}
}

// When the API server answers "too many requests" with a delay, the scheduler sends no further
// write before the delay is over: no plans, jobs, nodes or scales.
func TestRetry_is_no_sooner_than_asked_for(t *testing.T) {
	patience := apierrors.NewTooManyRequests("slower", 40)
	bubble(t, "plans", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		twin.Before = once("update", patience, 1)
		began := time.Now()
		do(t, w, runOn(id, on("n0", 4)))
		if took := time.Since(began); took != 40*time.Second {
			t.Errorf("written after %v, want 40s", took)
		}
	})
	refuses := func(c *kubetest.Call) error {
		if c.Verb == "patch" || c.Verb == "scale" {
			return patience
		}
		return nil
	}
	bubble(t, "nodes", func(t *testing.T) {
		w, twin := newLender(t, v1alpha1.Resize)
		do(t, w, scheduler.Provision{Group: group, Nodes: 1})
		twin.Before = refuses
		pass(t, w, twin)
		if again := time.Until(w.nodes.Loans.NotBefore); again != 40*time.Second {
			t.Errorf("again in %v, want 40s", again)
		}
	})
	renting(t, "scales", func(t *tenant) {
		t.provision(1)
		t.twin.Before = refuses
		t.pass()
		if again := time.Until(t.w.nodes.Rented.Orders["spare"].NotBefore); again != 40*time.Second {
			t.Errorf("again in %v, want 40s", again)
		}
	})
	bubble(t, "jobs", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(id, on("n0", 4)))
		twin.Before = refuses
		looks(t, w, 1)
		if e := w.table.ByID[id]; e.Trouble == "" || time.Until(e.NotBefore) != 40*time.Second {
			t.Errorf("trouble %q, again in %v, want 40s", e.Trouble, time.Until(e.NotBefore))
		}
	})
}

func TestDo_does_not_commit(t *testing.T) {
	bubble(t, "against another leader", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		open(t, twin, options(v1alpha1.Resize))
		err := w.Do(t.Context(), []scheduler.Action{runOn(id, on("n0", 4))})
		if !errors.Is(err, planstore.ErrFenced) || len(twin.Plan(queue).Spec.Allocations) != 0 {
			t.Errorf("%v, want ErrFenced, and nothing planned", err)
		}
	})
	bubble(t, "what the API server forbids", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		twin.Before = once("update", apierrors.NewForbidden(schema.GroupResource{Resource: "plans"}, queue, errors.New("an older epoch")), 1)
		if err := w.Do(t.Context(), []scheduler.Action{runOn(id, on("n0", 4))}); !apierrors.IsForbidden(err) {
			t.Errorf("%v, want that it is forbidden", err)
		}
	})
	bubble(t, "after its context is done", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		twin.Before = once("update", apierrors.NewInternalError(errors.New("etcd")), 1000)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := w.Do(ctx, []scheduler.Action{runOn(id, on("n0", 4))}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the context's", err)
		}
	})
}

func TestDo_writes_over_what_somebody_edited(t *testing.T) {
	bubble(t, "allocations", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(id, on("n0", 4)))
		p := twin.Plan(queue)
		p.Spec.Allocations[0].GPUs = 2
		twin.Update(p)
		do(t, w, runOn(id, on("n1", 4)))
		p = twin.Plan(queue)
		if a := p.Spec.Allocations[0]; p.Spec.Round != 2 || a.GPUs != 4 || a.Nodes[0].Name != "n1" {
			t.Errorf("round %d %+v, want round 2 with 4 GPUs of n1", p.Spec.Round, a)
		}
	})
}

func TestModes(t *testing.T) {
	bubble(t, "Observe writes nothing", func(t *testing.T) {
		twin := newTwin()
		twin.Before = func(c *kubetest.Call) error {
			if c.Writes() {
				t.Errorf("%s %T %s, want nothing written", c.Verb, c.Object, c.Object.GetName())
			}
			return nil
		}
		w, id := one(t, twin, v1alpha1.Observe)
		do(t, w, runOn(id, on("n0", 4)))
		pass(t, w, twin)
		do(t, w, scheduler.Preempt{Job: id})
		pass(t, w, twin)
	})
	bubble(t, "Recommend plans, and starts nothing", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Recommend)
		do(t, w, runOn(id, on("n0", 4)))
		pass(t, w, twin)
		if j := twin.Job("a"); twin.Plan(queue).Spec.Allocations[0].GPUs != 4 || !*j.Spec.Suspend {
			t.Errorf("plan %+v, suspended %v, want a plan and a suspended job", twin.Plan(queue).Spec, *j.Spec.Suspend)
		}
	})
	bubble(t, "Admit says that no job may be preempted, and leaves one that somebody started", func(t *testing.T) {
		twin := newTwin()
		j := twin.Submit(queue, &kubetest.Ask{Name: "running", Workers: 1, GPUs: 4})
		*j.Spec.Suspend = false
		j.Spec.Template.Spec.NodeName = "n1"
		twin.Update(j)
		twin.Settle()
		w, id := one(t, twin, v1alpha1.Admit)
		if !w.table.ByID[id].Spec.NonPreemptive || w.table.ByID[job.ID(j.UID)] != nil {
			t.Error("want one job, which may not be preempted")
		}
		if n := len(w.extent.cluster.Nodes()); n != 1 {
			t.Errorf("%d nodes, want the one that nobody's pods fill", n)
		}
		before := twin.Job("running")
		do(t, w, runOn(id, on("n0", 4)))
		pass(t, w, twin)
		now := twin.Job("running")
		if !reflect.DeepEqual(now.Spec, before.Spec) || !reflect.DeepEqual(now.Annotations, before.Annotations) || *twin.Job("a").Spec.Suspend {
			t.Error("want the other job untouched, and ours started")
		}
	})
}

// Only a plan that says something new wakes the executor.
func TestDo_wakes_the_executor(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w)
		pass(t, w, twin)
		for _, c := range []struct {
			name string
			all  []scheduler.Action
			want int
		}{{"a job is given GPUs", []scheduler.Action{runOn(a, on("n0", 4))}, 1}, {"nothing", nil, 0}} {
			for len(w.Work) > 0 {
				<-w.Work
			}
			do(t, w, c.all...)
			if got := len(w.Work); got != c.want {
				t.Errorf("%s: woken %d times, want %d", c.name, got, c.want)
			}
		}
	})
}

// A plan is carried out from when it is committed on: the history of jobs is saved meanwhile, however long that takes.
func TestDo_has_the_plan_carried_out_before_the_history_is_saved(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w)
		pass(t, w, twin)
		for len(w.Work) > 0 {
			<-w.Work
		}
		saved := 0
		twin.Before = func(c *kubetest.Call) error {
			if _, plan := c.Object.(*v1alpha1.Plan); plan && c.Verb == "status" {
				w.Lock()
				defer w.Unlock()
				if saved++; len(w.Work) == 0 || w.table.ByID[a].Held.GPUs != 4 {
					t.Errorf("woken %d times, %d GPUs held, want the plan carried out", len(w.Work), w.table.ByID[a].Held.GPUs)
				}
			}
			return nil
		}
		if do(t, w, runOn(a, on("n0", 4))); saved != 1 {
			t.Errorf("saved %d times, want once", saved)
		}
	})
}
