package kube

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// An estate is a stage whose provider has two pools, of which boa rents.
type estate struct {
	*testing.T
	*stage
	pools map[string]*kubetest.Pool
}

// newEstate has nothing at first.
func newEstate(t *testing.T) *estate {
	twin := kubetest.New()
	o := letting()
	spot := &kubetest.Pool{Name: "pool", GPUs: 4, Type: "A100", Most: 4}
	fixed := &kubetest.Pool{Name: "fixed", GPUs: 4, Type: "A100", Most: 2}
	twin.AddPool(spot)
	twin.AddPool(fixed)
	g := o.Queue.Spec.NodeGroups[0]
	g.Name, g.Scales.Name, g.NodeSelector, g.PriceMilliPerHour, g.Most = "fixed", "fixed", map[string]string{kubetest.PoolLabel: "fixed"}, 24000, 2
	o.Queue.Spec.NodeGroups = append(o.Queue.Spec.NodeGroups, g)
	o.Nodes.Groups = o.Queue.Spec.NodeGroups
	return &estate{t, newStage(t, twin, o, "boa"), map[string]*kubetest.Pool{"pool": spot, "fixed": fixed}}
}

// until lets time pass until something is so, and the provider act every five seconds.
func (s *estate) until(what string, ok func() bool) {
	s.Helper()
	for end := time.Now().Add(time.Hour); !ok(); {
		if time.Now().After(end) {
			p := s.twin.Plan(queue)
			s.Fatalf("not within an hour: %s; the plan is %+v, and pools have %v and %v", what, p.Spec, s.twin.PoolNodes("pool"), s.twin.PoolNodes("fixed"))
		}
		s.live(5 * time.Second)
		s.twin.Provide()
		s.backend.News()
	}
}

// runs waits until a job runs on one of the nodes of a pool.
func (s *estate) runs(name, pool string) {
	s.Helper()
	s.until(name+" runs on "+pool, func() bool {
		for _, n := range s.twin.PoolNodes(pool) {
			if places(s.twin, name) == fmt.Sprintf("0 %s 1", n) {
				return true
			}
		}
		return false
	})
}

// BOA Constrictor rents on Kubernetes: nodes come for jobs, also from elsewhere where a group
// has none, across a crash, and go with the last job.
func TestRent_by_boa(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		s := newEstate(t)
		defer s.end()
		for _, name := range []string{"a", "b"} {
			s.twin.Submit(queue, &kubetest.Ask{Name: name, Workers: 1, GPUs: 4})
		}
		s.runs("a", "pool")
		s.runs("b", "pool")
		s.pools["pool"].Short = 4
		s.twin.Submit(queue, &kubetest.Ask{Name: "c", Workers: 1, GPUs: 4})
		s.until("a third node is wanted", func() bool { return s.twin.Replicas("pool") == 3 })
		s.crash()
		s.runs("c", "fixed")
		s.until("what was refused is cancelled", func() bool { return s.twin.Replicas("pool") == 2 })
		for _, name := range []string{"a", "b", "c"} {
			s.twin.End(name, "Complete")
		}
		s.until("all nodes are given back", func() bool {
			return s.twin.Replicas("pool")+s.twin.Replicas("fixed")+len(s.twin.PoolNodes("pool"))+len(s.twin.PoolNodes("fixed")) == 0
		})
		if err := s.twin.Wrong(); err != nil {
			t.Error(err)
		}
	})
}
