package jobadapter

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

const product = "nvidia.com/gpu.product"

// queued returns a suspended Job that Kueue queues, with a node selector of its user; empty: none.
func queued(t *testing.T, own string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "job.yaml", func(o map[string]any) {
		child(o, "metadata", "labels")[kueueQueue] = "all"
		child(o, "metadata", "annotations")[v1alpha1.ResizeBy] = "Restart"
		delete(child(o, "spec", "template", "spec"), "nodeSelector")
		if own != "" {
			child(o, "spec", "template", "spec")["nodeSelector"] = map[string]any{product: own}
		}
	})
}

// startsOn starts a job on a type of GPUs, and returns the label by which Kueue chooses its flavor, and the types that the
// job may be planned on from then on.
func startsOn(t *testing.T, o *unstructured.Unstructured, gpuType string) (label any, types string) {
	t.Helper()
	k := kindOf(t, o)
	if err := k.Start(o, &Grant{Generation: 1, Workers: 4, Flavor: map[string]string{product: gpuType}}); err != nil {
		t.Fatal(err)
	}
	j := k.Read(o, &v1alpha1.JobDefaults{}, 1)
	if j.Problem != "" {
		t.Fatal(j.Problem)
	}
	return child(o.Object, "spec", "template", "spec", "nodeSelector")[product], fmt.Sprint(j.Spec.GPUTypes)
}

// A job that Kueue queues is charged to the flavor of the type that is planned, by the node selector. It may be planned on
// another type the next time, which replaces that; what its user wrote stays.
func TestStart_chooses_the_flavor(t *testing.T) {
	free, own := queued(t, ""), queued(t, "t4")
	read := kindOf(t, free).Read(free, &v1alpha1.JobDefaults{}, 1)
	if read.Problem != "" {
		t.Fatal(read.Problem)
	}
	before := read.Spec.GPUTypes
	for _, c := range []struct {
		o           *unstructured.Unstructured
		on          string
		label, want string
	}{{free, "a100", "a100", fmt.Sprint(before)}, {free, "t4", "t4", fmt.Sprint(before)}, {own, "t4", "t4", "[t4]"}} {
		if label, types := startsOn(t, c.o, c.on); label != c.label || types != c.want {
			t.Errorf("on %s: label %v, types %s, want %s and %s", c.on, label, types, c.label, c.want)
		}
	}
	alone := queued(t, "")
	child(alone.Object, "metadata", "labels")[kueueQueue] = ""
	if label, _ := startsOn(t, alone, "a100"); label != nil {
		t.Errorf("a job that Kueue does not queue gets label %v, want none", label)
	}
}

// What was there before is there again when nothing is chosen any more.
func TestChoose_takes_back(t *testing.T) {
	o := queued(t, "")
	before := o.DeepCopy()
	t1 := []template{template(child(o.Object, "spec", "template"))}
	added := choose(t1, nil, map[string]string{product: "a100"})
	if left := choose(t1, added, nil); len(left) != 0 {
		t.Errorf("%v is added, want nothing", left)
	}
	if len(child(o.Object, "spec", "template", "spec", "nodeSelector")) == 0 {
		delete(child(o.Object, "spec", "template", "spec"), "nodeSelector")
	}
	if diff := cmp.Diff(before.Object, o.Object); diff != "" {
		t.Error(diff)
	}
}
