package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// A stage is a cluster whose scheduler speaks through a proxy, and an auditor that follows.
type stage struct {
	*rig.Cluster
	k         client.Client
	proxy     *fault.Proxy
	watcher   *audit.Watcher
	scheduler *rig.Process
	seen      int // findings that were spoken of
}

// repairs is how soon a node is to be relieved that has come to have less than is on it, in a
// scheduler without defects.
const repairs = time.Minute

// open starts a stage for a test, whose auditor wants over-full nodes relieved within a time.
func open(t *testing.T, o rig.Options, repair time.Duration) *stage {
	t.Helper()
	o.History = true
	c := rig.Start(t, o)
	Prepare(t.Context(), t, c)
	p, err := fault.New(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	s := &stage{Cluster: c, k: Client(t, c.Config), proxy: p, watcher: audit.Follow(c.Etcd(t), audit.New(audit.All(time.Minute, repair)...))}
	s.serve(t, "")
	return s
}

// serve starts a scheduler with defects, with commas between, or the product; the one before is
// killed.
func (s *stage) serve(t *testing.T, bugs string) {
	t.Helper()
	if s.scheduler != nil {
		if err := s.scheduler.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	s.scheduler = Serve(t, s.Cluster, Setup{Config: s.proxy.Config(), Bugs: bugs})
}

// long skips a test that takes minutes, unless they are asked for.
func long(t *testing.T, showed string) {
	t.Helper()
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skipf("takes minutes: OXGANG_LONG=1 go test -run '^%s$' ./e2e (in live/kube/rig); it showed: %s", strings.ReplaceAll(t.Name(), "/", "$/^"), showed)
	}
}

type scene struct {
	*testing.T
	*stage
	queue string
	allow []string // parts of findings that the test itself brings about
}

// play runs a scene as a subtest: in the end everything is as planned, and the auditor has
// found nothing but what the scene allows.
func (s *stage) play(t *testing.T, name string, run func(*scene)) {
	t.Run(name, func(t *testing.T) { s.act(t, name, run) })
}

func (s *stage) playLong(t *testing.T, name, showed string, run func(*scene)) {
	t.Run(name, func(t *testing.T) {
		long(t, showed)
		s.act(t, name, run)
	})
}

func (s *stage) act(t *testing.T, name string, run func(*scene)) {
	c := &scene{T: t, stage: s, queue: strings.ToLower(strings.NewReplacer(" ", "-", ",", "").Replace(name))}
	c.make(Queue(c.queue, v1alpha1.Resize, "fifo"))
	defer c.clear()
	run(c)
	c.settles()
	c.judge()
}

func (c *scene) make(o client.Object) {
	c.Helper()
	if err := c.k.Create(c.Context(), o); err != nil {
		c.Fatal(err)
	}
}

func (c *scene) submit(name string, workers, gpus int) {
	c.make(Job(name, c.queue, workers, gpus, nil))
}

// until waits until something is so.
func (c *scene) until(what string, ok func() error) time.Duration {
	c.Helper()
	return Until(c.Context(), c, within, what, ok)
}

// pods returns the pods of a job that run and are not about to go, each as uid@node.
func (c *scene) pods(job string) []string {
	c.Helper()
	var all []string
	for _, p := range c.of(job) {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			all = append(all, string(p.UID)+"@"+p.Spec.NodeName)
		}
	}
	return all
}

func (c *scene) of(job string) []corev1.Pod {
	c.Helper()
	var pods corev1.PodList
	if err := c.k.List(context.WithoutCancel(c.Context()), &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
		c.Log(err) // of an API server that does not answer: none are seen
	}
	return pods.Items
}

func (c *scene) runs(job string, want int) time.Duration {
	c.Helper()
	return c.until("pods of "+job+" run", func() error {
		if got := c.pods(job); len(got) != want {
			var p v1alpha1.Plan
			err := c.k.Get(c.Context(), client.ObjectKey{Name: c.queue}, &p)
			return errNot("%d do, want %d; the plan has %v, %v", len(got), want, p.Spec.Allocations, err)
		}
		return nil
	})
}

// same fails if the pods of job "one" are not those that it had.
func (c *scene) same(before []string) {
	c.Helper()
	if after := c.pods("one"); strings.Join(after, " ") != strings.Join(before, " ") {
		c.Errorf("one has pods %q, want those that it had: %q", after, before)
	}
}

func (c *scene) job(name string) *batchv1.Job {
	c.Helper()
	var j batchv1.Job
	if err := c.k.Get(c.Context(), client.ObjectKey{Namespace: "default", Name: name}, &j); err != nil {
		c.Fatal(err)
	}
	return &j
}

// change patches an object as edit does.
func (c *scene) change(o client.Object, edit func()) {
	c.Helper()
	if err := c.k.Get(c.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		c.Fatal(err)
	}
	old := o.DeepCopyObject().(client.Object)
	edit()
	if err := c.k.Patch(c.Context(), o, client.MergeFrom(old)); err != nil {
		c.Fatal(err)
	}
}

// delete deletes an object, and what depends on it in the background.
func (c *scene) delete(o client.Object) {
	c.Helper()
	err := c.k.Delete(context.WithoutCancel(c.Context()), o, client.PropagationPolicy("Background"))
	if client.IgnoreNotFound(err) != nil {
		c.Fatal(err)
	}
}

func (c *scene) settles() {
	c.Helper()
	c.until("pods and plans agree", func() error {
		var bad []audit.Finding
		c.audited(func(a *audit.Auditor) { bad = audit.Settled(a.State) })
		if len(bad) > 0 {
			return errNot("%v", bad)
		}
		return nil
	})
}

// audited calls look with the auditor, once it has seen all that was written.
func (c *scene) audited(look func(a *audit.Auditor)) {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), time.Minute)
	defer cancel()
	if _, err := c.watcher.Sync(ctx); err != nil {
		c.Fatal(err)
	}
	c.watcher.Look(look)
}

// judge fails for what the auditor has found since it was last asked.
func (c *scene) judge() {
	c.Helper()
	c.audited(func(a *audit.Auditor) {
		for _, f := range a.Findings[c.seen:] {
			if !c.allows(f.String()) {
				c.Error(f)
			}
		}
		c.seen = len(a.Findings)
	})
}

func (c *scene) allows(finding string) bool {
	for _, part := range c.allow {
		if strings.Contains(finding, part) {
			return true
		}
	}
	return false
}

// clear deletes the jobs of the scene, and its queue when the plan gives nothing any more.
func (c *scene) clear() {
	c.Helper()
	if err := c.k.DeleteAllOf(context.WithoutCancel(c.Context()), &batchv1.Job{}, client.InNamespace("default"), client.PropagationPolicy("Background")); err != nil {
		c.Fatal(err)
	}
	Until(context.WithoutCancel(c.Context()), c, 2*within, "everything is gone", func() error {
		left := 0
		c.audited(func(a *audit.Auditor) {
			for range a.State.Pods() {
				left++
			}
			for p := range a.State.Plans() {
				left += len(p.Spec.Allocations)
			}
		})
		if left > 0 {
			return errNot("%d pods and allocations are left", left)
		}
		return nil
	})
	q := &v1alpha1.Queue{}
	q.Name = c.queue
	c.delete(q)
}
