package e2e

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// serves is the label of the nodes on which somebody else serves inference.
var serves = map[string]string{"serves": "inference"}

// lender are the nodes of a queue and of a lender.
var lender = []rig.Nodes{{Type: "v100", Count: 2}, {Type: "t4", Count: 4, Labels: serves}}

// Nodes come on loan when they idle, and go back when their owner needs them, empty and at the
// cost of the fewest jobs; and a scheduler that does not wait until they are empty is found out.
func TestLoans(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{Nodes: lender}, repairs)
	keeps := func(c *scene) {
		before := c.lent(map[string][2]int{"left": {1, 4}, "right": {1, 4}, "one": {1, 8}, "wide": {2, 8}})
		c.asksBack()
		c.same1(before)
		c.settles()
		c.judge()
	}
	s.borrow(t, "borrow", "lyra", keeps)
	s.borrow(t, "default", "oxgang", keeps)
	s.serve(t, "eager")
	s.borrow(t, "eager", "lyra", func(c *scene) {
		c.lent(map[string][2]int{"one": {1, 8}, "two": {1, 8}, "three": {1, 8}, "four": {1, 8}})
		c.asksBack()
		c.found(audit.Loan{}.Name(), "")
	})
}

// borrow runs a scene in a queue that borrows all nodes of the lender, which waits two minutes
// for them. In the end all go back.
func (s *stage) borrow(t *testing.T, name, policy string, run func(*scene)) {
	t.Run(name, func(t *testing.T) {
		c := &scene{T: t, stage: s, queue: name}
		none := int32(0)
		q := Queue(name, v1alpha1.Resize, policy)
		q.Spec.Loans = &v1alpha1.Lender{NodeSelector: serves, HeadroomPercent: &none, GraceSeconds: 120}
		c.make(q)
		defer func() {
			c.change(q, func() { q.Spec.Loans = nil })
			for _, o := range []client.Object{&batchv1.Job{}, &corev1.Pod{}} {
				if err := c.k.DeleteAllOf(c.Context(), o, client.InNamespace("default"), client.PropagationPolicy("Background")); err != nil {
					c.Fatal(err)
				}
			}
			c.until("all nodes have gone back", c.onLoan(0))
			c.clear()
		}()
		run(c)
	})
}

// onLoan returns nothing if so many nodes are marked as lent.
func (c *scene) onLoan(want int) func() error {
	return func() error {
		var all corev1.NodeList
		if err := c.k.List(c.Context(), &all, client.MatchingLabels{v1alpha1.LoanLabel: c.queue}); err != nil || len(all.Items) != want {
			return errNot("%d are on loan, %v", len(all.Items), err)
		}
		return nil
	}
}

// lent waits until all nodes are on loan, a job has the queue's own, and jobs of so many workers
// and GPUs of each run on loan. It returns their pods.
func (c *scene) lent(jobs map[string][2]int) map[string][]string {
	c.Helper()
	c.Logf("all are on loan after %v", c.until("all nodes are on loan", c.onLoan(4)).Round(time.Millisecond))
	own := Job("own", c.queue, 2, 8, map[string]string{v1alpha1.GPUTypes: "v100"})
	c.make(own)
	c.runs("own", 2)
	before := map[string][]string{"own": c.pods("own")}
	for name, size := range jobs {
		j := Job(name, c.queue, size[0], size[1], nil)
		j.Spec.Template.Annotations = map[string]string{rig.StopAfter: "2s"}
		c.make(j)
	}
	for name, size := range jobs {
		c.runs(name, size[0])
		before[name] = c.pods(name)
	}
	return before
}

// asksBack: a pod of the owner that finds no room gets a node back.
func (c *scene) asksBack() {
	c.Helper()
	p := foreign("inference", 8)
	p.Spec.NodeSelector = serves
	c.make(p)
	took := c.until("the owner's pod runs", func() error {
		if err := c.k.Get(c.Context(), client.ObjectKeyFromObject(p), p); err != nil || p.Status.Phase != corev1.PodRunning {
			return errNot("it is %s, %v; %v", p.Status.Phase, p.Status.Conditions, err)
		}
		return nil
	})
	c.Logf("the owner has a node after %v, want at most the 2m0s that it waits", took.Round(time.Millisecond))
	if err := c.onLoan(3)(); err != nil {
		c.Error(err, "want 3")
	}
}

// same1 fails unless all jobs but one run on with their pods: that one, which had a node for
// itself, made way.
func (c *scene) same1(before map[string][]string) {
	c.Helper()
	for name, pods := range before {
		after := c.pods(name)
		if name == "one" {
			var j batchv1.Job
			if err := c.k.Get(c.Context(), client.ObjectKey{Namespace: "default", Name: name}, &j); err != nil || len(after) > 0 || !*j.Spec.Suspend {
				c.Errorf("one has pods %q, suspended %v, want it stopped: it had a node for itself (%v)", after, j.Spec.Suspend, err)
			}
		} else if !slices.Equal(after, pods) {
			c.Errorf("%s has pods %q, want those that it had: %q", name, after, pods)
		}
	}
}
