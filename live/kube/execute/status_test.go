package execute

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/observe"
)

var noon = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// drawNode draws a node of a group: new or old, usable, with pods, marked, being taken away.
func drawNode(t *rapid.T, i int) observe.GroupNode {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), UID: types.UID(fmt.Sprint("uid-", i))}}
	n.CreationTimestamp = metav1.NewTime(noon.Add(-rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour}).Draw(t, "age")))
	if rapid.IntRange(0, 4).Draw(t, "going") == 0 {
		gone := metav1.NewTime(noon)
		n.DeletionTimestamp = &gone
	}
	if rapid.Bool().Draw(t, "marked") {
		inventory.Leave(n, "train")
	}
	l := observe.GroupNode{Object: n, Usable: rapid.Bool().Draw(t, "usable"), Held: rapid.Bool().Draw(t, "held")}
	l.Bound = l.Held && rapid.Bool().Draw(t, "bound")
	return l
}

// For any nodes and plan: each node is in one list; no node with a planned job leaves; none leaves while there are
// too few; nodes that the plan returns leave first; and the scale is never below the nodes that are wanted or must
// stay.
func TestStatus_property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := &v1alpha1.NodeGroup{Name: "g", Most: int32(rapid.IntRange(0, 6).Draw(rt, "most"))}
		p, planned := &v1alpha1.PlannedGroup{Nodes: int32(rapid.IntRange(0, 6).Draw(rt, "wanted"))}, map[string]bool{}
		ns := &Nodes{}
		ns.Rented.Nodes = map[string][]observe.GroupNode{}
		for i := range rapid.IntRange(0, 6).Draw(rt, "nodes") {
			l := drawNode(rt, i)
			planned[l.Name()] = rapid.IntRange(0, 2).Draw(rt, "planned") == 0
			if rapid.IntRange(0, 2).Draw(rt, "given back") == 0 {
				p.Leaving = append(p.Leaving, l.Ref())
			}
			ns.Rented.Nodes["g"] = append(ns.Rented.Nodes["g"], l)
		}
		s := ns.Status(g, p, planned, noon)
		all := slices.Concat(s.Stays, s.Coming, s.Leaves, s.Going)
		seen := map[string]bool{}
		for _, l := range all {
			seen[l.Name()] = true
		}
		if len(seen) != len(all) || len(all) != len(ns.Rented.Nodes["g"]) {
			rt.Errorf("%d of %d nodes in lists, %d of them once", len(all), len(ns.Rented.Nodes["g"]), len(seen))
		}
		named := func(l *observe.GroupNode) bool { return slices.ContainsFunc(p.Leaving, l.Is) }
		for _, l := range s.Leaves {
			if planned[l.Name()] {
				rt.Errorf("%s leaves, and a job is planned on it", l.Name())
			}
			if !named(l) && l.Held {
				rt.Errorf("%s leaves with pods on it, and the plan does not give it back", l.Name())
			}
			if !named(l) && slices.ContainsFunc(slices.Concat(s.Stays, s.Coming), func(o *observe.GroupNode) bool { return named(o) && !planned[o.Name()] }) {
				rt.Errorf("%s leaves before one that the plan gives back", l.Name())
			}
		}
		if most := max(0, s.Alive()-int(p.Nodes)); len(s.Leaves) > most {
			rt.Errorf("%d leave, want at most %d", len(s.Leaves), most)
		}
		stuck := 0
		for _, l := range s.Leaves {
			if l.Held || !inventory.Leaving(l.Object) {
				stuck++
			}
		}
		if got := s.target(); got < int(p.Nodes) || got < len(s.Stays)+len(s.Coming)+stuck {
			rt.Errorf("the scale is to say %d: %d are wanted, %d stay or come, %d cannot go yet", got, p.Nodes, len(s.Stays)+len(s.Coming), stuck)
		}
	})
}

// A node that jobs cannot use yet is on its way for so long as an order may take, and then one that
// is there, and broken.
func TestStatus_coming(t *testing.T) {
	node := observe.GroupNode{Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", CreationTimestamp: metav1.NewTime(noon)}}}
	ns := &Nodes{}
	ns.Rented.Nodes = map[string][]observe.GroupNode{"g": {node}}
	g, p := &v1alpha1.NodeGroup{Name: "g", Most: 1, StartWithin: &metav1.Duration{Duration: time.Minute}}, &v1alpha1.PlannedGroup{Nodes: 1}
	for after, coming := range map[time.Duration]int{0: 1, 59 * time.Second: 1, time.Minute: 0} {
		if s := ns.Status(g, p, nil, noon.Add(after)); len(s.Coming) != coming || len(s.Stays) != 1-coming {
			t.Errorf("after %v: %d on their way, %d there", after, len(s.Coming), len(s.Stays))
		}
	}
}
