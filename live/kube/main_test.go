package kube

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

const queue = "train"

// TestMain makes property tests short, unless their length is given: a story takes a second
// of a busy machine.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given && os.Getenv("OXGANG_LONG") == "" {
		if err := flag.Set("rapid.checks", "12"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// options are those of a backend of the twin's one queue.
func options(mode v1alpha1.Mode) jobstate.Options {
	o := jobstate.DefaultOptions()
	o.Queue = &v1alpha1.Queue{}
	o.Queue.Name = queue
	o.Queue.Spec.Mode = mode
	o.Queue.Spec.Policy.Name = "first-fit"
	o.Queue.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: kubetest.Namespace}}
	o.Kinds, o.Identity = jobadapter.Kinds[:1], "leader"
	return o
}

// newTwin returns two nodes of four GPUs of a type.
func newTwin() *kubetest.Cluster {
	t := kubetest.New()
	t.AddNode("n0", 4, "A100")
	t.AddNode("n1", 4, "A100")
	return t
}

func open(t testing.TB, twin *kubetest.Cluster, o jobstate.Options) *Backend {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := Open(ctx, twin.Client(), twin.Direct(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// looks lets the executor look, and act, so often.
func looks(t testing.TB, w *Backend, times int) {
	t.Helper()
	for range times {
		if err := w.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// unstopped lets the executor act, and the Job controller, which deletes pods; no kubelet stops
// them.
func unstopped(t testing.TB, w *Backend, twin *kubetest.Cluster) {
	t.Helper()
	for range 4 {
		looks(t, w, 1)
		twin.Control()
	}
}

// pass lets the executor and then the twin act until neither has anything to do.
func pass(t testing.TB, w *Backend, twin *kubetest.Cluster) {
	t.Helper()
	for range 6 {
		if err := w.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		twin.Settle()
	}
}

// news takes everything that the scheduler would be told by now.
func news(t testing.TB, w *Backend) []scheduler.Event {
	t.Helper()
	var all []scheduler.Event
	for w.Events.Len() > 0 {
		ev, err := w.Next(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
	return all
}

// exits returns how jobs ended, or were lost.
func exits(all []scheduler.Event) []scheduler.Exited {
	var some []scheduler.Exited
	for _, ev := range all {
		if x, ok := ev.(scheduler.Exited); ok {
			some = append(some, x)
		}
	}
	return some
}

// runOn returns the action that gives a job GPUs of nodes: pairs of a node and how many.
func runOn(id job.ID, at ...cluster.Share) scheduler.Run {
	a := scheduler.Run{Job: id, Placement: at}
	a.Allocation.GPUType, a.Allocation.Nodes = "A100", len(at)
	for _, s := range at {
		a.Allocation.GPUs += s.GPUs
	}
	return a
}

func on(node cluster.NodeID, gpus int) cluster.Share {
	return cluster.Share{Node: node, Resources: cluster.Resources{GPUs: gpus}}
}

// do commits actions.
func do(t testing.TB, w *Backend, all ...scheduler.Action) {
	t.Helper()
	if err := w.Do(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// fail makes pods ones that have failed, for which the twin's Job controller makes others.
func fail(twin *kubetest.Cluster, all ...*corev1.Pod) {
	for _, p := range all {
		p.Status.Phase = corev1.PodFailed
		p.Labels[batchv1.ControllerUidLabel] = ""
		twin.Update(p)
	}
}

// bubble runs a test whose clock stands still while anything happens.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// rows are jobs as a scheduler would see them.
func rows(all ...*policy.Job) func(time.Time) []*policy.Job {
	return func(time.Time) []*policy.Job { return all }
}

// elastic returns a job of workers of one GPU, so many of which run on node n, that is planned
// to have others there; 0: it is not, and was not.
func elastic(id string, has, gets int) *jobstate.Job {
	e := &jobstate.Job{Entry: driver.Entry{ID: job.ID(id)}, Parsed: &jobadapter.Job{UID: id, Generation: 1, Workers: has}, Spec: &job.Spec{ID: job.ID(id)}, Held: jobstate.Grant{Generation: 1}}
	e.Parsed.PerWorker.GPUs, e.Parsed.Suspended = 1, has == 0
	if gets > 0 {
		e.Held.GPUs = gets
		e.Held.Placement = cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: gets}}}
	}
	for i := range has {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(id, i), Labels: map[string]string{v1alpha1.Generation: "1"}}}
		p.Spec.NodeName = "n"
		e.Pods = append(e.Pods, p)
	}
	return e
}
