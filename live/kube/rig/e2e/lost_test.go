package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// Nodes that go and come back, GPUs that break or are taken by others, watches that are late,
// and an API server that refuses: no GPU is given twice, and every job runs in the end.
func TestFaults_of_the_cluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}}, repairs)
	s.play(t, "a GPU breaks", losesGPU)
	s.play(t, "others take GPUs", sharesGPUs)
	s.play(t, "a node is away for a while", returns)
	s.play(t, "pods are seen late", seesLate)
	s.play(t, "an answer is lost", hearsNothing)
	s.play(t, "the API server refuses", isRefused)
	s.play(t, "others go slowly", waitsForOthers)
	s.play(t, "a job ends as it is stopped", endsAsItIsStopped)
	s.playLong(t, "the API server refuses everything for long", "plans, and starts of jobs, were tried 4 times in 8 s", isRefusedForLong)
	s.playLong(t, "a quota is full", "the condition said why after 13 s, and another job had its turn a second later", quotaIsFull)
	s.playLong(t, "a quota leaves room for half a job", "the condition said why after 13 s, and the job ran with half its workers a second later", quotaLeavesHalf)
	s.playLong(t, "a deletion is not told", "with 5 s for 5 minutes it was found after 19 s, and the job that waited ran 2 s later", isNotTold)
}

// losesGPU: a job on a node that has a GPU less goes elsewhere, and the others of that node are
// of use.
func losesGPU(c *scene) {
	node := c.breaks()
	defer c.allocatable(node, 8)
	took := c.until("it runs elsewhere", func() error {
		if p := c.of("one"); len(p) != 1 || p[0].Spec.NodeName == node || p[0].Status.Phase != corev1.PodRunning {
			return errNot("pods %q", c.pods("one"))
		}
		return nil
	})
	c.Logf("it ran elsewhere after %v", took.Round(10*time.Millisecond))
	c.submit("small", 1, 7)
	c.runs("small", 1)
	if at := c.of("small")[0].Spec.NodeName; at != node {
		c.Errorf("small runs on %s, want the healthy GPUs of %s", at, node)
	}
	c.settles()
}

// breaks takes a GPU from the node of a job that has all eight, and returns the node.
func (c *scene) breaks() string {
	c.Helper()
	c.submit("one", 1, 8)
	c.runs("one", 1)
	node := c.of("one")[0].Spec.NodeName
	c.allocatable(node, 7)
	return node
}

// allocatable sets how many GPUs a node has for pods.
func (c *scene) allocatable(node string, gpus int64) {
	c.Helper()
	n := &corev1.Node{}
	if err := c.k.Get(c.Context(), client.ObjectKey{Name: node}, n); err != nil {
		c.Fatal(err)
	}
	old := n.DeepCopy()
	n.Status.Allocatable[rig.GPU] = *resource.NewQuantity(gpus, resource.DecimalSI)
	if err := c.k.Status().Patch(c.Context(), n, client.MergeFrom(old)); err != nil {
		c.Fatal(err)
	}
}

// foreign returns a pod that is nobody's, with so many GPUs.
func foreign(name string, gpus int64) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Namespace = name, "default"
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "x", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{rig.GPU: *resource.NewQuantity(gpus, resource.DecimalSI)},
	}}}
	return p
}

// sharesGPUs: a pod for which kube-scheduler puts ours off its node, and one that somebody
// binds where there is no room, leave ours the rest.
func sharesGPUs(c *scene) {
	first := &schedulingv1.PriorityClass{Value: 1000}
	first.Name = "first"
	c.make(first)
	c.submit("one", 1, 8)
	c.runs("one", 1)
	node := c.of("one")[0].Spec.NodeName
	p := foreign("urgent", 2)
	p.Spec.PriorityClassName, p.Spec.NodeSelector = "first", map[string]string{corev1.LabelHostname: node}
	c.make(p)
	defer c.delete(p)
	var to string
	c.until("one runs elsewhere", func() error {
		all := c.of("one")
		if len(all) != 1 || all[0].Spec.NodeName == node || all[0].Status.Phase != corev1.PodRunning {
			return errNot("pods %q", c.pods("one"))
		}
		to = all[0].Spec.NodeName
		return nil
	})
	hand := foreign("by-hand", 1)
	hand.Spec.NodeName = to
	c.allow = append(c.allow, hand.Name, "node "+to+" has 9 ") // the hand's doing, and no one else's
	c.make(hand)
	defer c.delete(hand)
	c.runs("one", 0)
	c.delete(hand)
	c.runs("one", 1)
}

// returns: a job whose node is away does not start elsewhere before its pods are gone for
// certain; the node comes back, they are, and it goes on.
func returns(c *scene) {
	node := c.away()
	uid := c.of("one")[0].UID
	took := c.until("it is suspended", func() error {
		if j := c.job("one"); j.Spec.Suspend == nil || !*j.Spec.Suspend {
			return errNot("suspend %v", j.Spec.Suspend)
		}
		return nil
	})
	c.Logf("it was stopped after %v", took.Round(10*time.Millisecond))
	time.Sleep(3 * time.Second) // three rounds, in which it might start elsewhere
	if all := c.of("one"); len(all) != 1 || all[0].UID != uid {
		c.Errorf("%d pods, want the one that nobody can tell the end of", len(all))
	}
	if err := c.Return(c.Context(), node); err != nil {
		c.Fatal(err)
	}
	c.runs("one", 1)
	c.submit("two", 1, 8)
	c.runs("two", 1)
}

// away cuts off the node of a job, and returns it.
func (c *scene) away() string {
	c.Helper()
	c.submit("one", 1, 8)
	c.runs("one", 1)
	node := c.of("one")[0].Spec.NodeName
	if err := c.Lose(c.Context(), node); err != nil {
		c.Fatal(err)
	}
	return node
}

// waitsForOthers: a job that displaces another starts when the pods of that are gone, and they
// take their time.
func waitsForOthers(c *scene) {
	c.displaces()
	took := c.runs("short", 2)
	if took < lingers/2 { // it may have begun before this looked
		c.Errorf("it ran after %v, and pods take %v to stop: this shows nothing", took, lingers)
	}
	c.Logf("it ran after %v; pods take %v to stop", took.Round(10*time.Millisecond), lingers)
	c.runs("long", 0)
}

// endsAsItIsStopped: an elastic job is stopped as its first worker ends, of which nobody has told. It
// is complete at its next start, and no worker waits for that one.
func endsAsItIsStopped(c *scene) {
	c.policy("srtf")
	c.make(Job("long", c.queue, 2, 8, map[string]string{v1alpha1.RunSeconds: "1000000", v1alpha1.ResizeBy: "Restart", v1alpha1.MinGPUs: "16"}))
	c.runs("long", 2)
	release := c.proxy.Rules.Hold("pods")
	defer release()
	all := c.of("long")
	first := slices.IndexFunc(all, func(p corev1.Pod) bool { return p.Annotations[batchv1.JobCompletionIndexAnnotation] == "0" })
	if err := c.Exit(c.Context(), &all[first], 0); err != nil {
		c.Fatal(err)
	}
	c.make(Job("short", c.queue, 2, 8, map[string]string{v1alpha1.RunSeconds: "1000"}))
	c.until("long is stopped", func() error {
		if j := c.job("long"); !*j.Spec.Suspend {
			return errNot("%+v", j.Status)
		}
		return nil
	})
	release()
	c.runs("short", 2)
	for _, p := range c.of("short") {
		if err := c.Exit(c.Context(), &p, 0); err != nil {
			c.Fatal(err)
		}
	}
	c.until("long is complete", func() error {
		j := c.job("long")
		if !slices.ContainsFunc(j.Status.Conditions, func(d batchv1.JobCondition) bool {
			return d.Type == batchv1.JobComplete && d.Status == corev1.ConditionTrue
		}) {
			return errNot("%+v", j.Status)
		}
		return nil
	})
}

// policy has the queue planned by another policy.
func (c *scene) policy(name string) {
	c.Helper()
	q := &v1alpha1.Queue{}
	q.Name = c.queue
	c.change(q, func() { q.Spec.Policy.Name = name })
}

// lingers is how long pods take to stop that displaces displaces.
const lingers = 4 * time.Second

// displaces submits a job that takes the GPUs of another which has more to do.
func (c *scene) displaces() {
	c.Helper()
	c.policy("srtf")
	j := Job("long", c.queue, 2, 8, map[string]string{v1alpha1.RunSeconds: "1000000"})
	j.Spec.Template.Annotations = map[string]string{rig.StopAfter: lingers.String()}
	c.make(j)
	c.runs("long", 2)
	c.make(Job("short", c.queue, 2, 8, map[string]string{v1alpha1.RunSeconds: "1000"}))
}

// seesLate: with pods that are seen 5 s late every job gets its turn: as slowly as that, or sooner because the scheduler
// reads pods that its watch is late to show.
func seesLate(c *scene) {
	const late = 5 * time.Second
	c.submit("zero", 1, 8)
	c.runs("zero", 1) // so the queue's leader has listed pods, as it does at first
	c.delete(c.job("zero"))
	lists := fault.Match{Verb: "list", Resource: "pods"}
	before := c.proxy.Asked(lists)
	c.proxy.Rules.Delay("pods", late)
	defer c.proxy.Rules.Delay("pods", 0)
	c.submit("one", 2, 8)
	took, read := c.runs("one", 2), c.proxy.Asked(lists)-before
	c.Logf("it ran after %v, and pods were read %d times", took.Round(10*time.Millisecond), read)
	if took < late && read == 0 { // they go to their nodes once they are seen
		c.Errorf("it ran after %v, and its pods were to be seen after %v: this shows nothing", took, late)
	}
	c.submit("two", 1, 8)
	c.submit("three", 1, 8)
	j := c.job("one")
	c.delete(j)
	c.runs("two", 1)
	c.runs("three", 1)
}

// hearsNothing: plans, starts and pins that were carried out, and of which nobody said so, are
// found done.
func hearsNothing(c *scene) {
	c.proxy.Rules.Cut(&plans, 2, fault.AfterAnswer)
	c.proxy.Rules.Cut(&fault.Match{Verb: "patch", Resource: "jobs.batch"}, 2, fault.AfterAnswer)
	c.proxy.Rules.Cut(&fault.Match{Verb: "patch", Resource: "pods"}, 2, fault.AfterAnswer)
	c.proxy.Rules.Cut(&plans, 1, fault.BeforeSent)
	c.submit("one", 2, 8)
	c.runs("one", 2)
	if left := c.proxy.Rules.Calm(); left > 0 {
		c.Errorf("%d connections were still to be cut: this shows less than it says", left)
	}
	if j := c.job("one"); j.Status.Failed > 0 {
		c.Errorf("%d pods failed", j.Status.Failed)
	}
}

// isRefused: a scheduler that is refused a while tries again, and writes no more than twice what
// it has to.
func isRefused(c *scene) {
	plain := c.batch("plain")
	writes := []fault.Match{{Verb: "patch", Resource: "jobs.batch"}, {Verb: "patch", Resource: "pods"}, plans}
	codes := []int{429, 500, 503, 409}
	for i, code := range codes {
		for _, m := range writes {
			c.proxy.Rules.Answer(&m, 1, code, time.Duration(1-min(i, 1))*time.Second)
		}
	}
	stormy, refused := c.batch("stormy"), len(codes)*len(writes)
	c.Logf("%d writes without faults, %d with %d that were refused", plain, stormy, refused)
	if left := c.proxy.Rules.Calm(); left > 0 {
		c.Errorf("%d of %d refusals never came: this shows less than it says", left, refused)
	}
	if stormy > 2*plain+refused {
		c.Errorf("%d writes, want at most twice %d besides the %d refused", stormy, plain, refused)
	}
}

// batch runs four jobs to their end, one after the other, and returns how many writes the scheduler
// tried.
func (c *scene) batch(name string) int {
	c.Helper()
	before := len(c.proxy.Calls())
	for i := range 4 {
		c.submit(fmt.Sprint(name, "-", i), 2, 8)
	}
	over := map[string]bool{}
	for range 4 {
		job := c.next(name, over)
		over[job] = true
		for _, p := range c.of(job) {
			if err := c.Exit(c.Context(), &p, 0); err != nil {
				c.Fatal(err)
			}
		}
	}
	c.settles()
	return len(c.proxy.Calls()) - before
}

// next waits until another job of a batch runs, and returns its name. Those made in one second have no order: creation
// times have no parts of seconds.
func (c *scene) next(batch string, over map[string]bool) (job string) {
	c.Helper()
	c.until("another job of the batch runs", func() error {
		for i := range 4 {
			if job = fmt.Sprint(batch, "-", i); !over[job] && len(c.pods(job)) == 2 {
				return nil
			}
		}
		return errNot("of %v no other does", over)
	})
	return job
}
