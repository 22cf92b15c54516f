package jobadapter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

// started returns a job after a start on a node, and what is read of it then.
func started(t testing.TB, o *unstructured.Unstructured, generation int64, node string) *Job {
	t.Helper()
	k := kindOf(t, o)
	if err := k.Start(o, &Grant{Epoch: 1, Generation: generation, Workers: k.Read(o, byDefault, 1).Workers, Node: node}); err != nil {
		t.Fatal(err)
	}
	j := k.Read(o, byDefault, 1)
	child(o.Object, "spec")["suspend"] = true
	return j
}

// Whatever its user demands of nodes, the pods of a Job are sent to the one node that they may
// run on, or gated; and what the user demands is back at the next start, in other words or not.
func TestAim_property(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		own := drawTerms(r)
		o := object(t, "job.yaml", func(o map[string]any) {
			if err := template(child(o, "spec", "template")).require(own); err != nil {
				t.Fatal(err)
			}
		})
		for i, node := range []string{"n1", "n2", "", "n3", ""} {
			j := started(t, o, int64(i+1), node)
			p, err := template(child(o.Object, "spec", "template")).spec()
			if err != nil {
				r.Fatal(err)
			}
			if j.Node != "" && (j.Node != node || holds(p.Spec.SchedulingGates)) || j.Node == "" && !holds(p.Spec.SchedulingGates) {
				r.Fatalf("sent to %q: got node %q and gates %v, want that node or our gate", node, j.Node, p.Spec.SchedulingGates)
			}
			for _, name := range []string{"n1", "n2", "n3"} {
				for _, zone := range []string{"a", "b"} {
					want := meetsAny(own, name, zone) && (j.Node == "" || name == node)
					if got := meetsAny(inventory.Terms(&p.Spec), name, zone); got != want {
						r.Fatalf("sent to %q: node %s in zone %s: may run there: %v, want %v", node, name, zone, got, want)
					}
				}
			}
			if diff := cmp.Diff(own, inventory.Terms(&p.Spec)); j.Node == "" && len(own) > 0 && diff != "" {
				r.Fatal("gated, and what its user demands has changed:", diff)
			}
		}
	})
}

// A Job's pods are sent to their node, and nothing is left of that after a start without one.
func TestAim(t *testing.T) {
	zone := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}
	byName := []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{called("n1")}}}
	for _, c := range []struct {
		name, file string
		own        []corev1.NodeSelectorTerm
		node       string // that its pods are sent to
	}{
		{"demands nothing", "job.yaml", nil, "n1"},
		{"demands a zone", "job.yaml", zone, "n1"},
		{"names a node itself", "job.yaml", byName, ""},
		{"demands what no node meets", "job.yaml", []corev1.NodeSelectorTerm{{}}, ""},
		{"is a JobSet", "jobset.yaml", nil, ""},
		{"is a TrainJob", "trainjob.yaml", nil, ""},
		{"is a RayJob", "rayjob.yaml", nil, ""},
	} {
		o := object(t, c.file, func(o map[string]any) {
			if err := template(grow(o, "spec", "template")).require(c.own); err != nil {
				t.Fatal(err)
			}
		})
		started(t, o, 1, "")
		before := o.DeepCopy()
		if got := started(t, o, 2, "n1").Node; got != c.node {
			t.Errorf("one that %s: sent to %q, want %q", c.name, got, c.node)
		}
		started(t, o, 1, "")
		if diff := cmp.Diff(before.Object, o.Object); diff != "" {
			t.Errorf("one that %s: after the next start without a node: %s", c.name, diff)
		}
	}
	o := object(t, "job.yaml", func(o map[string]any) { grow(o, "metadata", "labels")[kueueQueue] = "team" })
	if got := started(t, o, 1, "n1").Node; got != "" {
		t.Errorf("one that Kueue queues: sent to %q, want it gated", got)
	}
}

// A Job that is suspended may have pods to come until its controller has said that it stopped.
func TestRead_stopping(t *testing.T) {
	suspended := func(status string) []any { return []any{map[string]any{"type": "Suspended", "status": status}} }
	for _, c := range []struct {
		name   string
		status map[string]any
		runs   bool
		want   bool
	}{
		{"it never ran", map[string]any{}, false, false},
		{"it was suspended when it was made", map[string]any{"conditions": suspended("True")}, false, false},
		{"it runs", map[string]any{"startTime": "2026-03-01T11:00:00Z", "active": int64(2)}, true, false},
		{"nothing is said yet", map[string]any{"startTime": "2026-03-01T11:00:00Z", "conditions": suspended("False")}, false, true},
		{"it has stopped", map[string]any{"startTime": "2026-03-01T11:00:00Z", "conditions": suspended("True")}, false, false},
		{"it has, and pods are left", map[string]any{"conditions": suspended("True"), "active": int64(1)}, false, true},
	} {
		o := object(t, "job.yaml", func(o map[string]any) { o["status"] = c.status; child(o, "spec")["suspend"] = !c.runs })
		if got := kindOf(t, o).Read(o, byDefault, 1).Stopping; got != c.want {
			t.Errorf("%s: stopping %v, want %v", c.name, got, c.want)
		}
	}
}
