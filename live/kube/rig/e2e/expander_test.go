package e2e

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// rents plays a scene of a queue whose policy rents nodes of two pools.
func (s *stage) rents(t *testing.T, name string, run func(*scene, *provider)) {
	p := provide(t, s.Cluster, s.k, 3*time.Second, "spot", "fixed")
	s.play(t, name, func(c *scene) {
		q := &v1alpha1.Queue{}
		q.Name = c.queue
		c.change(q, func() {
			q.Spec.Policy = v1alpha1.PolicyRef{Name: "boa"}
			q.Spec.Budget = &v1alpha1.Budget{MilliPerHour: 1_000_000}
			q.Spec.NodeGroups = []v1alpha1.NodeGroup{group("spot", 3, 8000), group("fixed", 2, 24000)}
			for i := range q.Spec.NodeGroups {
				q.Spec.NodeGroups[i].StartWithin = &metav1.Duration{Duration: 10 * time.Second}
			}
		})
		c.serving("Serving")
		run(c, p)
	})
}

// Jobs come, nodes come for them, and go when they are empty, whatever the provider and the
// scheduler do in between.
func TestExpander(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{}, repairs)
	s.rents(t, "nodes come and go", func(c *scene, p *provider) {
		c.submit("one", 1, 8)
		c.submit("two", 1, 8)
		c.Logf("two jobs run on nodes that were ordered for them after %v", max(c.runs("one", 1), c.runs("two", 1)))
		c.has(p, 2, "spot")
		kept, uid := c.nodeOf("two")
		finish(c.T, c.Cluster, c.k, "one")
		c.Logf("a node that is empty is gone after %v", c.has(p, 1, "spot"))
		if node, now := c.nodeOf("two"); node != kept || now != uid {
			c.Errorf("two is on %s as %s, want it left alone on %s as %s", node, now, kept, uid)
		}
		c.spot(p, kept)
		c.follower(p)
		c.elsewhere(p)
		for _, name := range []string{"two", "three", "four"} {
			finish(c.T, c.Cluster, c.k, name)
		}
		c.Logf("nothing is rented %v after the last job", max(c.has(p, 0, "spot"), c.has(p, 0, "fixed")))
	})
}

// spot takes the node of job two back: the job runs on another that is ordered for it.
func (c *scene) spot(p *provider, node string) {
	c.Helper()
	if err := p.lose(c.Context(), node); err != nil {
		c.Fatal(err)
	}
	c.Logf("a job whose spot node is taken back runs on another after %v", c.until("two runs elsewhere", func() error {
		if pods := c.pods("two"); len(pods) != 1 || strings.HasSuffix(pods[0], "@"+node) {
			return errNot("it has %q", pods)
		}
		return nil
	}))
}

// follower kills the scheduler with an order on its way: the next one goes on with that.
func (c *scene) follower(p *provider) {
	c.Helper()
	c.submit("three", 1, 8)
	c.until("a second node is wanted", func() error { return c.wants("spot", 2) })
	if err := c.scheduler.Kill(); err != nil {
		c.Fatal(err)
	}
	c.scheduler = Serve(c, c.Cluster, Setup{Name: "follower", Config: c.proxy.Config()})
	c.runs("three", 1)
	c.has(p, 2, "spot")
}

// elsewhere lets a pool refuse: after a time another one is asked.
func (c *scene) elsewhere(p *provider) {
	c.Helper()
	p.refuse("spot", true)
	c.submit("four", 1, 8)
	c.Logf("a job whose order is refused runs on a node of another group after %v", c.runs("four", 1))
	c.has(p, 1, "fixed")
	c.has(p, 2, "spot")
	p.refuse("spot", false)
}

// wants returns nothing if the plan wants so many nodes of a group.
func (c *scene) wants(group string, nodes int32) error {
	var got []v1alpha1.PlannedGroup
	c.audited(func(a *audit.Auditor) {
		for p := range a.State.Plans() {
			got = p.Spec.NodeGroups
		}
	})
	for _, g := range got {
		if g.Name == group && g.Nodes == nodes {
			return nil
		}
	}
	return errNot("it wants %v", got)
}

// The auditor finds a scheduler that orders as if nothing were on its way.
func TestExpander_is_found(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{}, repairs)
	s.serve(t, "greedy")
	s.rents(t, "orders are not counted", func(c *scene, p *provider) {
		c.allow = append(c.allow, "rent most")
		c.submit("one", 1, 8)
		c.submit("two", 1, 8)
		c.found("rent most", "")
		for _, name := range []string{"one", "two"} {
			finish(c.T, c.Cluster, c.k, name)
		}
	})
}
