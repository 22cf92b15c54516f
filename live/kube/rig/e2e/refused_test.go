package e2e

import (
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// A storm takes so long, and a scheduler in it tries each thing no more often than that: after
// 1, 2 and 4 s plans, after 2 and 4 s jobs, and their conditions once.
const (
	storm  = 8 * time.Second
	seldom = 8
)

// plans are how the scheduler decides.
var plans = fault.Match{Verb: "update", Resource: "plans.oxgang.dev"}

// isRefusedForLong: an API server that refuses everything for a while is asked seldom.
func isRefusedForLong(c *scene) {
	for job, m := range map[string]fault.Match{"one": plans, "two": {Verb: "patch", Resource: "jobs.batch"}} {
		n := c.weathers(job, m)
		c.Logf("%s: tried %d times in %v", m.Resource, n, storm)
		if n > seldom {
			c.Errorf("%s: tried %d times in %v, want at most %d", m.Resource, n, storm, seldom)
		}
		c.runs(job, 1)
	}
}

// weathers refuses a kind of write, which a new job asks for, during a storm, and returns how often
// it was tried.
func (c *scene) weathers(job string, m fault.Match) (n int) {
	c.Helper()
	before := len(c.proxy.Calls())
	c.proxy.Rules.Answer(&m, 1<<30, http.StatusServiceUnavailable, 0)
	defer c.proxy.Rules.Calm()
	c.submit(job, 1, 8)
	refused := func() (n int) {
		for _, call := range c.proxy.Calls()[before:] {
			if call.Code == http.StatusServiceUnavailable {
				n++
			}
		}
		return n
	}
	c.until("it is tried", func() error {
		if refused() == 0 {
			return errNot("it was not")
		}
		return nil
	})
	time.Sleep(storm) // that is how long it takes
	return refused()
}

// quotaIsFull: a job whose pods a ResourceQuota refuses is given up, its condition says why, and
// others get its turn; it runs when there is room.
func quotaIsFull(c *scene) {
	q := c.quota(8)
	c.submit("one", 2, 8)
	c.Logf("the condition says why after %v", c.refused("one").Round(10*time.Millisecond))
	c.submit("two", 1, 8)
	c.Logf("another has its turn %v later", c.runs("two", 1).Round(10*time.Millisecond))
	c.delete(q)
	all := c.of("two")
	if err := c.Exit(c.Context(), &all[0], 0); err != nil {
		c.Fatal(err)
	}
	c.runs("one", 2)
}

// quotaLeavesHalf: a job that may be resized runs on as much as a ResourceQuota leaves it.
func quotaLeavesHalf(c *scene) {
	c.quota(8)
	c.make(Job("one", c.queue, 2, 8, map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MinGPUs: "8"}))
	c.Logf("the condition says why after %v", c.refused("one").Round(10*time.Millisecond))
	c.Logf("it runs on half of what it asks for %v later", c.runs("one", 1).Round(10*time.Millisecond))
}

// quota bounds the GPUs of pods in the namespace from now on.
func (c *scene) quota(gpus int64) *corev1.ResourceQuota {
	c.Helper()
	q := &corev1.ResourceQuota{}
	q.Name, q.Namespace = "gpus", "default"
	q.Spec.Hard = corev1.ResourceList{"requests." + rig.GPU: *resource.NewQuantity(gpus, resource.DecimalSI)}
	c.make(q)
	c.Cleanup(func() { c.delete(q) })
	c.until("the quota holds", func() error {
		if err := c.k.Get(c.Context(), client.ObjectKeyFromObject(q), q); err != nil || len(q.Status.Hard) == 0 {
			return errNot("%v, %v", q.Status, err)
		}
		return nil
	})
	return q
}

// refused waits until the condition of a job says that its pods are refused for a quota.
func (c *scene) refused(job string) time.Duration {
	c.Helper()
	return c.until("the condition of "+job+" says why", func() error { return c.saysRefused(job) })
}

// saysRefused returns nothing if the condition of a job says that.
func (c *scene) saysRefused(job string) error {
	c.Helper()
	all := c.job(job).Status.Conditions
	for _, d := range all {
		if d.Type == v1alpha1.ScheduledCondition && d.Reason == kube.StepFailed && strings.Contains(d.Message, "exceeded quota: gpus") {
			return nil
		}
	}
	return errNot("%v", all)
}
