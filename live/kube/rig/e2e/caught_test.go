package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// What the scenes of faults look for is found in a scheduler that does it: by the auditor, or
// because something comes to nothing that a scene waits for.
func TestFaults_are_found(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}}, 5*time.Second)
	for _, b := range []struct {
		bugs, showed string
		run          func(*scene)
	}{
		{"blind", "", doesNotSeeOthers},
		{"hasty,careless", "", doesNotWaitForOthers},
		{"stubborn", "", doesNotWaitForItself},
		{"deaf", "", doesNotMissGPU},
		{"clinging", "", keepsWhatIsGone},
		{"pressing", "", isNotRefused},
		{"patient", "no condition in 16 s", waitsForRefused},
		{"hurried,trusting", "the job that waits did not run within 16 s", neverFindsOut},
	} {
		t.Run(b.bugs, func(t *testing.T) {
			if b.showed != "" {
				long(t, b.showed)
			}
			s.catch(t, b.bugs, b.run)
		})
	}
}

// catch plays a scene in which defects are to be found.
func (s *stage) catch(t *testing.T, bugs string, run func(*scene)) {
	t.Helper()
	s.act(t, bugs, func(c *scene) {
		c.allow = []string{""} // anything
		c.serve(c.T, bugs)
		defer c.serve(c.T, "") // clears up
		run(c)
	})
}

// found waits until the auditor has found something of a check, with some words.
func (c *scene) found(check, words string) {
	c.Helper()
	c.until("the auditor finds "+check, func() error {
		var all []audit.Finding
		c.audited(func(a *audit.Auditor) { all = slices.Clone(a.Findings[c.seen:]) })
		for _, f := range all {
			if f.Check == check && strings.Contains(f.String(), words) {
				c.Log(f)
				return nil
			}
		}
		return errNot("%v", all)
	})
}

// never fails if something comes to be so, within a time, that a scene waits for.
func (c *scene) never(what string, d time.Duration, ok func() bool) {
	c.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			c.Fatalf("%s all the same: this defect is not found", what)
		}
	}
	c.Logf("not within %v: %s", d, what)
}

func doesNotSeeOthers(c *scene) {
	p := foreign("other", 4)
	c.make(p)
	defer c.delete(p)
	c.until("a pod of others runs", func() error {
		if p.Spec.NodeName == "" {
			return errNot("it does not: %v", c.k.Get(c.Context(), client.ObjectKeyFromObject(p), p))
		}
		return nil
	})
	c.submit("one", 2, 8)
	c.found("I1 pinned", "node "+p.Spec.NodeName+" has")
}

func doesNotWaitForOthers(c *scene) {
	c.displaces()
	c.found("I1 pinned", "has 16 nvidia.com/gpu taken")
}

func doesNotWaitForItself(c *scene) {
	node := c.away()
	c.found("I4 generations", "of generation 2 is live")
	if err := c.Return(c.Context(), node); err != nil {
		c.Fatal(err)
	}
}

func doesNotMissGPU(c *scene) {
	node := c.breaks()
	defer c.allocatable(node, 8)
	c.found("I2 repair", "nodes/"+node)
}

func keepsWhatIsGone(c *scene) {
	c.submit("one", 2, 8)
	c.runs("one", 2)
	c.delete(c.job("one"))
	c.submit("two", 1, 8)
	c.never("two runs", storm, func() bool { return len(c.pods("two")) > 0 })
}

func waitsForRefused(c *scene) {
	q := c.quota(8)
	defer c.delete(q)
	c.submit("one", 2, 8)
	c.until("one of its pods is refused", func() error {
		if n := len(c.of("one")); n != 1 {
			return errNot("%d pods", n)
		}
		return nil
	})
	c.never("its condition says why", 2*storm, func() bool { return c.saysRefused("one") == nil }) // the product takes 10 s
}

func isNotRefused(c *scene) {
	n := c.weathers("one", plans)
	c.Logf("tried %d times in %v", n, storm)
	if n <= seldom {
		c.Errorf("tried %d times in %v: this defect is not found", n, storm)
	}
}

func neverFindsOut(c *scene) {
	defer c.proxy.Rules.Calm()
	c.misses()
	c.never("three runs, or the scheduler ends", 2*storm, func() bool { // the product takes one of these
		return len(c.pods("three")) > 0 || !c.scheduler.Running()
	})
}
