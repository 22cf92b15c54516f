package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// What people do to jobs, queues and the scheduler leaves no job behind and no GPU given twice.
func TestFaults_of_people(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}}, repairs)
	s.play(t, "a pod is deleted", losesPod)
	s.play(t, "a job is deleted and made again", againUnderItsName)
	s.play(t, "a queue is deleted and made again", queueAgain)
	s.play(t, "the mode is Observe for a while", observesMeanwhile)
	s.play(t, "everything is paused", pauses)
	s.play(t, "a running job opts out", optsOut)
	s.play(t, "a namespace goes", namespaceGoes)
}

// losesPod: the pod that comes instead of one that somebody deletes goes to the same node.
func losesPod(c *scene) {
	c.submit("one", 2, 4)
	c.submit("two", 1, 8)
	c.runs("one", 2)
	c.runs("two", 1)
	all := c.of("one")
	c.delete(&all[0])
	c.until("another pod runs instead", func() error {
		for _, p := range c.of("one") {
			if p.UID != all[0].UID && p.UID != all[1].UID && p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == all[0].Spec.NodeName {
				return nil
			}
		}
		return errNot("pods %q", c.pods("one"))
	})
	c.runs("one", 2)
}

// againUnderItsName: one that is deleted while it runs is another's predecessor in nothing but
// the name.
func againUnderItsName(c *scene) {
	c.submit("one", 2, 8)
	c.runs("one", 2)
	old := c.job("one")
	c.delete(old)
	c.until("its name is free", func() error {
		j := Job("one", c.queue, 1, 8, nil)
		return c.k.Create(c.Context(), j)
	})
	c.until("pods of the job before are gone, and the other runs", func() error {
		all := c.of("one")
		if len(all) != 1 || all[0].Labels[v1alpha1.JobUID] == string(old.UID) || all[0].Status.Phase != corev1.PodRunning {
			return errNot("%d pods there, want one", len(all))
		}
		return nil
	})
}

// queueAgain: jobs of a queue that is gone run on, and one that is made again takes them up.
func queueAgain(c *scene) {
	c.submit("one", 1, 8)
	c.runs("one", 1)
	before := c.pods("one")
	q := &v1alpha1.Queue{}
	q.Name = c.queue
	c.delete(q)
	c.submit("two", 1, 8)
	c.make(Queue(c.queue, v1alpha1.Resize, "fifo"))
	c.runs("two", 1)
	c.same(before)
}

// observesMeanwhile: a queue that is only watched for a while stops nothing, starts nothing,
// and takes up again what it left.
func observesMeanwhile(c *scene) {
	c.submit("one", 1, 8)
	c.runs("one", 1)
	before := c.pods("one")
	c.mode(v1alpha1.Observe)
	from := c.revision()
	c.submit("two", 1, 8)
	if n := c.quiet(from, 3*time.Second); n > 0 {
		c.Errorf("%d writes while it was to observe, want 0", n)
	}
	c.mode(v1alpha1.Resize)
	c.runs("two", 1)
	c.same(before)
}

// mode sets the mode of the queue, and waits until it is served so.
func (c *scene) mode(m v1alpha1.Mode) {
	c.Helper()
	q := &v1alpha1.Queue{}
	q.Name = c.queue
	c.change(q, func() { q.Spec.Mode = m })
	if m == v1alpha1.Observe { // it is promised that nothing is written, so nothing says when
		c.quiet(c.revision(), 2*time.Second)
	}
}

func (c *scene) revision() (r int64) {
	c.Helper()
	c.audited(func(a *audit.Auditor) { r = a.State.Revision })
	return r
}

// quiet returns how much the scheduler wrote from a revision on until some time from now.
func (c *scene) quiet(from int64, d time.Duration) (n int) {
	c.Helper()
	time.Sleep(d) // for something not to happen
	to := c.revision()
	c.audited(func(a *audit.Auditor) {
		n = a.Log.By("oxgang", from, to) + a.Log.By("oxgang-scheduler", from, to)
	})
	return n
}

// pauses: with the ClusterPolicy paused nothing is written and everything runs on.
func pauses(c *scene) {
	p := &v1alpha1.ClusterPolicy{}
	p.Name = "default"
	c.make(p)
	c.submit("one", 1, 8)
	c.runs("one", 1)
	before := c.pods("one")
	c.change(p, func() { p.Spec.Paused = true })
	c.serving("Paused")
	from := c.revision()
	c.submit("two", 1, 8)
	if n := c.quiet(from, 2*time.Second); n > 0 {
		c.Errorf("%d writes while it was paused, want 0", n)
	}
	c.change(p, func() { p.Spec.Paused = false })
	c.runs("two", 1)
	c.same(before)
}

// serving waits until the queue says why it is served, or not.
func (c *scene) serving(reason string) {
	c.Helper()
	c.until("the queue says "+reason, func() error {
		q := &v1alpha1.Queue{}
		if err := c.k.Get(c.Context(), client.ObjectKey{Name: c.queue}, q); err != nil {
			return err
		}
		for _, d := range q.Status.Conditions {
			if d.Type == v1alpha1.QueueActive && d.Reason == reason {
				return nil
			}
		}
		return errNot("conditions %v", q.Status.Conditions)
	})
}

// optsOut: a job that opts out while it runs is left alone from then on.
func optsOut(c *scene) {
	c.submit("one", 1, 8)
	c.runs("one", 1)
	before := c.pods("one")
	j := c.job("one")
	c.change(j, func() { metaSet(j, v1alpha1.OptOut, "true") })
	c.submit("two", 1, 8)
	c.runs("two", 1)
	c.submit("three", 1, 8)
	c.until("the plan gives it nothing", func() error {
		if a := c.planned(string(j.UID)); a != nil && a.GPUs > 0 {
			return errNot("%d GPUs", a.GPUs)
		}
		return nil
	})
	c.same(before)
	c.delete(j)
	c.runs("three", 1)
}

func metaSet(o client.Object, key, value string) {
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[key] = value
	o.SetAnnotations(a)
}

func (c *scene) planned(uid string) *v1alpha1.JobAllocation {
	c.Helper()
	var p v1alpha1.Plan
	if err := c.k.Get(c.Context(), client.ObjectKey{Name: c.queue}, &p); err != nil {
		c.Fatal(err)
	}
	for i := range p.Spec.Allocations {
		if p.Spec.Allocations[i].UID == uid {
			return &p.Spec.Allocations[i]
		}
	}
	return nil
}

// namespaceGoes: with a namespace go its jobs, those that are being started among them, and
// their GPUs are others'.
func namespaceGoes(c *scene) {
	ns := &corev1.Namespace{}
	ns.Name = "brief"
	c.make(ns)
	q := &v1alpha1.Queue{}
	q.Name = c.queue
	c.change(q, func() { q.Spec.Namespaces = append(q.Spec.Namespaces, v1alpha1.NamespaceShare{Name: ns.Name}) })
	for i := range 2 {
		j := Job(fmt.Sprint("gone-", i), c.queue, 1, 8, nil)
		j.Namespace = ns.Name
		c.make(j)
	}
	ctx, cancel := context.WithTimeout(c.Context(), within)
	defer cancel()
	if err := c.watcher.Until(ctx, func(a *audit.Auditor) bool {
		for p := range a.State.Pods() {
			if p.Namespace == ns.Name {
				return true // the first has come, and is not pinned yet
			}
		}
		return false
	}); err != nil {
		c.Fatal(err)
	}
	c.delete(ns)
	c.submit("one", 2, 8)
	c.runs("one", 2)
}
