package e2e

import (
	"os"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// isNotTold: that a pod has ended, and is gone, is lost on its way to the scheduler. It finds that
// by itself, and the next one gives the GPUs to a job that waits.
func isNotTold(c *scene) {
	c.serve(c.T, "hurried") // in five seconds, not minutes
	defer c.serve(c.T, "")
	defer c.proxy.Rules.Calm()
	began := c.misses()
	select {
	case <-c.scheduler.Done():
	case <-time.After(within):
		c.Fatalf("the scheduler has not found out within %v", within)
	}
	c.Logf("found out after %v", time.Since(began).Round(10*time.Millisecond))
	if log, err := os.ReadFile(c.scheduler.Log); err != nil || !strings.Contains(string(log), observe.ErrWatches.Error()) {
		c.Errorf("its log, %v, does not say %q", err, observe.ErrWatches)
	}
	if err := c.scheduler.Start(); err != nil { // as its Deployment would
		c.Fatal(err)
	}
	c.runs("three", 1)
	c.Logf("the job that waits runs after %v", time.Since(began).Round(10*time.Millisecond))
}

// misses deletes a job whose GPUs another waits for, of whose pods the scheduler hears no more.
func (c *scene) misses() time.Time {
	c.Helper()
	c.submit("one", 1, 8)
	c.submit("two", 1, 8)
	c.runs("one", 1)
	c.runs("two", 1)
	c.submit("three", 1, 8)
	c.proxy.Rules.Drop("pods", 1<<30, func(e fault.Event) bool { return strings.HasPrefix(e.Name, "one-") })
	c.delete(c.job("one"))
	return time.Now()
}
