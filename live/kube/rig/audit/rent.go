package audit

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Most checks that no group has, and no plan wants, more nodes than the group's maximum.
type Most struct{}

// Name implements [Check].
func (Most) Name() string { return "rent most" }

// See implements [Check].
func (k Most) See(s *State, c *Change) (found []Finding) {
	say := func(format string, args ...any) {
		found = append(found, Finding{k.Name(), c.Revision, c.Key, fmt.Sprintf(format, args...)})
	}
	if p, ok := as[*v1alpha1.Plan](c.New); ok {
		for _, w := range p.Spec.NodeGroups {
			if g := s.groupOf(p.Name, w.Name); g != nil && w.Nodes > g.Most {
				say("it wants %d nodes of group %s, want at most %d", w.Nodes, w.Name, g.Most)
			}
		}
	}
	if n, ok := as[*corev1.Node](c.New); ok && c.Old == nil {
		if g, _ := s.rented(n); g != nil && s.count(g) > int(g.Most) {
			say("there are %d nodes of group %s, want at most %d", s.count(g), g.Name, g.Most)
		}
	}
	return found
}

// Vacated checks that no pod of a job is on a node that is removed because its group has more nodes than the plan
// wants.
type Vacated struct{}

// Name implements [Check].
func (Vacated) Name() string { return "rent vacated" }

// See implements [Check].
func (k Vacated) See(s *State, c *Change) []Finding {
	n, ok := as[*corev1.Node](c.Old)
	if !ok || c.New != nil {
		return nil
	}
	g, queue := s.rented(n)
	if g == nil || s.count(g)+1 <= s.wanted(queue, g.Name) {
		return nil
	}
	for _, p := range s.byNode[n.Name] {
		if p.Labels[v1alpha1.JobUID] != "" && bound(p) {
			return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf("it goes, of %d nodes where %d are wanted, and pod %s is on it, want it empty",
				s.count(g)+1, s.wanted(queue, g.Name), p.Name)}}
		}
	}
	return nil
}

func (s *State) rented(n *corev1.Node) (*v1alpha1.NodeGroup, string) {
	for q := range each[*v1alpha1.Queue](s, queues) {
		for i := range q.Spec.NodeGroups {
			if g := &q.Spec.NodeGroups[i]; labels.SelectorFromSet(g.NodeSelector).Matches(labels.Set(n.Labels)) {
				return g, q.Name
			}
		}
	}
	return nil, ""
}

func (s *State) groupOf(queue, group string) *v1alpha1.NodeGroup {
	for q := range each[*v1alpha1.Queue](s, queues) {
		for i := range q.Spec.NodeGroups {
			if g := &q.Spec.NodeGroups[i]; q.Name == queue && g.Name == group {
				return g
			}
		}
	}
	return nil
}

func (s *State) count(g *v1alpha1.NodeGroup) int {
	n, of := 0, labels.SelectorFromSet(g.NodeSelector)
	for node := range s.Nodes() {
		if of.Matches(labels.Set(node.Labels)) {
			n++
		}
	}
	return n
}

func (s *State) wanted(queue, group string) int {
	for p := range s.Plans() {
		for _, w := range p.Spec.NodeGroups {
			if p.Name == queue && w.Name == group {
				return int(w.Nodes)
			}
		}
	}
	return math.MaxInt
}
