package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// places returns where the pods of a job are that live: index, node and generation.
func places(twin *kubetest.Cluster, name string) string {
	var all []string
	for _, p := range twin.PodsOf(name) {
		if !jobstate.Terminal(p) {
			all = append(all, fmt.Sprintf("%d %s %d", jobstate.Index(p), inventory.Node(p), jobstate.Generation(p)))
		}
	}
	return strings.Join(all, ", ")
}

func TestSteps(t *testing.T) {
	elastic := map[string]string{v1alpha1.ResizeBy: "InPlace", v1alpha1.MinGPUs: "2", v1alpha1.MaxGPUs: "8"}
	for _, c := range []struct {
		name string
		ask  kubetest.Ask
		then []scheduler.Run // after one another; the job's id is filled in
		want string
	}{
		{
			"pods go to the nodes of the plan, by index",
			kubetest.Ask{Workers: 3, GPUs: 2},
			[]scheduler.Run{runOn("", on("n1", 2), on("n0", 4))},
			"0 n1 1, 1 n0 1, 2 n0 1",
		},
		{
			"a job that is moved is stopped first, and is a new generation",
			kubetest.Ask{Workers: 2, GPUs: 2},
			[]scheduler.Run{runOn("", on("n0", 4)), runOn("", on("n1", 4))},
			"0 n1 2, 1 n1 2",
		},
		{
			"an elastic one grows while it runs",
			kubetest.Ask{Workers: 2, GPUs: 1, Annotations: elastic},
			[]scheduler.Run{runOn("", on("n0", 2)), runOn("", on("n0", 2), on("n1", 1))},
			"0 n0 1, 1 n0 1, 2 n1 1",
		},
		{
			"and shrinks, to its first workers",
			kubetest.Ask{Workers: 4, GPUs: 1, Annotations: elastic},
			[]scheduler.Run{runOn("", on("n0", 2), on("n1", 2)), runOn("", on("n0", 2))},
			"0 n0 1, 1 n0 1",
		},
		{
			"but starts anew where the first ones cannot stay",
			kubetest.Ask{Workers: 4, GPUs: 1, Annotations: elastic},
			[]scheduler.Run{runOn("", on("n0", 2), on("n1", 2)), runOn("", on("n1", 2))},
			"0 n1 2, 1 n1 2",
		},
		{
			"the same again changes nothing",
			kubetest.Ask{Workers: 2, GPUs: 2},
			[]scheduler.Run{runOn("", on("n0", 4)), runOn("", on("n0", 4))},
			"0 n0 1, 1 n0 1",
		},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			c.ask.Name = "a"
			id := job.ID(twin.Submit(queue, &c.ask).UID)
			w := open(t, twin, options(v1alpha1.Resize))
			for _, a := range c.then {
				a.Job = id
				do(t, w, a)
				pass(t, w, twin)
				news(t, w)
			}
			if got := places(twin, "a"); got != c.want {
				t.Errorf("pods %s, want %s", got, c.want)
			}
			if err := twin.Wrong(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSteps_around_others(t *testing.T) {
	bubble(t, "a job waits until the pods of another are gone", func(t *testing.T) {
		twin := newTwin()
		w, a, b := behind(t, twin)
		do(t, w, scheduler.Preempt{Job: a}, runOn(b, on("n0", 4)))
		unstopped(t, w, twin)
		if !*twin.Job("a").Spec.Suspend || !*twin.Job("b").Spec.Suspend {
			t.Error("want a stopped, and b not started while a's pods are there")
		}
		pass(t, w, twin)
		if got := places(twin, "a") + places(twin, "b"); got != "0 n0 1" {
			t.Errorf("pods %s, want b's", got)
		}
	})
	bubble(t, "a pod that is replaced goes where the old one was", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(a, on("n0", 2), on("n1", 2)))
		pass(t, w, twin)
		fail(twin, twin.PodsOf("a")[1])
		pass(t, w, twin)
		if got := places(twin, "a"); got != "0 n0 1, 1 n1 1" {
			t.Errorf("pods %s, want one on each node", got)
		}
	})
	bubble(t, "nothing is concluded until watches show what was written", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(a, on("n0", 4)))
		twin.Hold()
		looks(t, w, 3)
		if v := twin.Job("a").ResourceVersion; len(w.writer.Unseen) != 1 || *twin.Job("a").Spec.Suspend || !w.table.ByID[a].Stale() {
			t.Errorf("version %s with %d writes to be shown, want the job started once", v, len(w.writer.Unseen))
		}
		deadline := time.Now()
		if ev, wait, err := w.Take(deadline); ev != nil || wait != observe.Recheck || err != nil {
			t.Errorf("%v %v %v, want that a round waits", ev, wait, err)
		}
		twin.Release()
		pass(t, w, twin)
		news(t, w)
		if ev, err := w.Next(t.Context(), deadline); ev != nil || err != nil || len(w.writer.Unseen) != 0 {
			t.Errorf("%v %v, want that the round has come", ev, err)
		}
	})
}

// Where writing takes long, a pass writes to some jobs and looks again: else a thousand starts would
// keep rounds waiting. All jobs get what was planned, also those behind others whose writes fail.
func TestPass_is_short(t *testing.T) {
	const jobs, failing, slow = 70, 40, time.Second
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		twin.AddNode("big", jobs, "A100")
		var all []scheduler.Action
		for i := range jobs {
			j := twin.Submit(queue, &kubetest.Ask{Name: fmt.Sprintf("j%d", i), Workers: 1, GPUs: 1})
			all = append(all, runOn(job.ID(j.UID), on("big", 1)))
		}
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, all...)
		twin.Before = func(c *kubetest.Call) error {
			j, is := c.Object.(*unstructured.Unstructured)
			if !is || !c.Writes() {
				return nil
			}
			time.Sleep(slow)
			if n, _ := strconv.Atoi(strings.TrimPrefix(j.GetName(), "j")); n < failing && c.Verb != "status" {
				return errors.New("this one fails")
			}
			return nil
		}
		longest, passes := time.Duration(0), 0
		for unsuspended(twin) < jobs-failing && passes < 20 {
			began := time.Now()
			looks(t, w, 1)
			longest, passes = max(longest, time.Since(began)), passes+1
			twin.Settle()
		}
		if got := unsuspended(twin); got != jobs-failing || passes < 2 {
			t.Errorf("%d jobs started in %d passes, want %d in some", got, passes, jobs-failing)
		}
		if longest > writeTime+slow {
			t.Errorf("a pass took %v, want at most %v", longest, writeTime+slow)
		}
		looks(t, w, 6)
		if got := withCondition(twin); got != failing {
			t.Errorf("%d jobs were told, want the %d that could not be started", got, failing)
		}
	})
}

// A look that takes longer than a pass may write keeps no job from being started.
func TestPass_writes_after_a_long_look(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 1}).UID)
		w, err := Open(t.Context(), slow{twin.Client()}, twin.Direct(), options(v1alpha1.Resize))
		if err != nil {
			t.Fatal(err)
		}
		do(t, w, runOn(id, on("n0", 1)))
		looks(t, w, 3)
		if unsuspended(twin) != 1 {
			t.Error("the job is not started after three looks, want it started")
		}
	})
}

// While pods are awaited people are told little: a pass ends soon, and the next one sends the pods that have come to their nodes.
func TestPass_sends_pods_before_it_tells(t *testing.T) {
	if testing.Short() {
		t.Skip("has 800 jobs")
	}
	const jobs, slow = 800, 100 * time.Millisecond
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "first", Workers: 1, GPUs: 1}).UID)
		why := said{}
		for i := range jobs {
			why[job.ID(twin.Submit(queue, &kubetest.Ask{Name: fmt.Sprintf("j%d", i), Workers: 1, GPUs: 1}).UID)] = [2]string{"waiting: capacity"}
		}
		o := options(v1alpha1.Resize)
		o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons { return why }
		w := open(t, twin, o)
		w.Round(&policy.Snapshot{}, &policy.Plan{}, nil)
		do(t, w, runOn(id, on("n0", 1)))
		twin.Before = func(c *kubetest.Call) error {
			if c.Verb == "status" || c.Verb == "patch" {
				time.Sleep(slow)
			}
			return nil
		}
		for _, most := range []time.Duration{writeTime + 2*slow, urgentTime + 2*slow} {
			began := time.Now()
			looks(t, w, 1)
			if took := time.Since(began); took > most {
				t.Errorf("a pass took %v, want at most %v", took, most)
			}
		}
		twin.Settle()
		looks(t, w, 10)
		if got := withCondition(twin); got <= jobs/2 {
			t.Errorf("%d jobs were told, want most of %d once nothing is awaited", got, jobs)
		}
	})
}

// slow is a client whose lists take longer than a pass writes.
type slow struct{ client.Client }

func (s slow) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	time.Sleep(2 * writeTime)
	return s.Client.List(ctx, list, o...)
}

func withCondition(twin *kubetest.Cluster) (n int) {
	for _, j := range twin.Jobs() {
		if slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == v1alpha1.ScheduledCondition }) {
			n++
		}
	}
	return n
}

// unsuspended returns how many jobs are not suspended.
func unsuspended(twin *kubetest.Cluster) (n int) {
	for _, j := range twin.Jobs() {
		if !*j.Spec.Suspend {
			n++
		}
	}
	return n
}

func TestDisrupt(t *testing.T) {
	for _, c := range []struct {
		name    string
		budgets []int32
		stops   bool
	}{
		{"no budget", nil, true},
		{"a budget that lets all go", []int32{2}, true},
		{"one that lets one of them go", []int32{1}, false},
		{"one that lets none go", []int32{0}, false},
		{"two, of which one lets too few go", []int32{2, 1}, false},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			w, a := one(t, twin, v1alpha1.Resize)
			do(t, w, runOn(a, on("n0", 4)))
			pass(t, w, twin)
			for i, n := range c.budgets {
				b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("b", i), Namespace: kubetest.Namespace}}
				b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.JobNameLabel: "a"}}
				b.Status.DisruptionsAllowed = n
				twin.Create(b)
			}
			do(t, w, scheduler.Preempt{Job: a})
			pass(t, w, twin)
			if got := *twin.Job("a").Spec.Suspend; got != c.stops {
				t.Errorf("stopped: %v, want %v", got, c.stops)
			}
			if trouble := w.table.ByID[a].Trouble; (trouble == "") != c.stops {
				t.Errorf("trouble %q", trouble)
			}
		})
	}
	bubble(t, "the queue ignores budgets", func(t *testing.T) {
		twin := newTwin()
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2})
		o := options(v1alpha1.Resize)
		o.Queue.Spec.Limits.IgnoreDisruptionBudgets = true
		w := open(t, twin, o)
		a := w.table.Order[0].ID
		do(t, w, runOn(a, on("n0", 4)))
		pass(t, w, twin)
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: kubetest.Namespace}}
		b.Spec.Selector = &metav1.LabelSelector{}
		twin.Create(b)
		do(t, w, scheduler.Preempt{Job: a})
		pass(t, w, twin)
		if !*twin.Job("a").Spec.Suspend {
			t.Error("it runs on, want it stopped")
		}
	})
	bubble(t, "trouble is over once the step is taken", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		w.o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons {
			return said{a: {"waiting: queue order"}}
		}
		w.Round(&policy.Snapshot{}, nil, nil)
		do(t, w, runOn(a, on("n0", 4)))
		pass(t, w, twin)
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: kubetest.Namespace}}
		b.Spec.Selector = &metav1.LabelSelector{}
		twin.Create(b)
		do(t, w, scheduler.Preempt{Job: a})
		pass(t, w, twin)
		if got := reason(twin); got != StepFailed {
			t.Errorf("reason %q, want %s", got, StepFailed)
		}
		b.Status.DisruptionsAllowed = 2
		twin.Update(b)
		time.Sleep(time.Hour)
		pass(t, w, twin)
		if got := reason(twin); !*twin.Job("a").Spec.Suspend || got != "QueueOrder" {
			t.Errorf("suspended %v, reason %q, want it stopped and said so", *twin.Job("a").Spec.Suspend, got)
		}
	})
}

// A step that failed, and that is none any more by a new plan, is no trouble from then on.
func TestTrouble_that_is_over(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(a, on("n0", 4)))
		twin.Before = func(c *kubetest.Call) error {
			if c.Verb == "patch" {
				return errLost
			}
			return nil
		}
		pass(t, w, twin)
		if got := w.table.ByID[a].Trouble; !strings.HasPrefix(got, "start: ") {
			t.Fatalf("trouble %q, want that it cannot be started", got)
		}
		twin.Before = nil
		do(t, w, scheduler.Preempt{Job: a})
		time.Sleep(time.Hour)
		pass(t, w, twin)
		if got := w.table.ByID[a].Trouble; got != "" {
			t.Errorf("trouble %q, want none: it is not to start", got)
		}
	})
}

func reason(twin *kubetest.Cluster) string {
	for _, c := range twin.Job("a").Status.Conditions {
		if c.Type == v1alpha1.ScheduledCondition {
			return c.Reason
		}
	}
	return ""
}

func message(twin *kubetest.Cluster) string {
	for _, c := range twin.Job("a").Status.Conditions {
		if c.Type == v1alpha1.ScheduledCondition {
			return c.Message
		}
	}
	return ""
}
