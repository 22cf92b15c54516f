package view_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/view"
)

// submitted returns a suspended Job as its owner wrote it.
func submitted() *batchv1.Job {
	j := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "team", UID: "u", ResourceVersion: "7", Labels: map[string]string{v1alpha1.QueueLabel: "q"},
	}}
	j.Spec.Suspend, j.Spec.Parallelism, j.Spec.Completions, j.Spec.CompletionMode = new(true), new(int32(2)), new(int32(2)), new(batchv1.IndexedCompletion)
	j.Spec.Template.Labels = map[string]string{"app": "a"}
	j.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/data"}},
		Containers: []corev1.Container{{Name: "c", Image: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}},
	}
	return j
}

// started returns the object after the scheduler has started it, and stopped it again.
func started(t *testing.T, j *batchv1.Job, node string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, j)
	if err := jobadapter.Kinds[0].Start(o, &jobadapter.Grant{Epoch: 3, Generation: 2, Workers: 2, Node: node}); err != nil {
		t.Fatal(err)
	}
	if err := jobadapter.Kinds[0].Stop(o, 3); err != nil {
		t.Fatal(err)
	}
	return o
}

func object(t *testing.T, j *batchv1.Job) *unstructured.Unstructured {
	t.Helper()
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(j)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: o}
}

// released returns what kubectl is asked to write as a job is released, in a queue of a mode.
func released(t *testing.T, o *unstructured.Unstructured, mode string) (map[string]any, *view.Release, error) {
	t.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, text, 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, `queues.*) echo '{"spec": {"mode": "`+mode+`"}}' ;;
jobs.batch) cat `+in+` ;;
-f) [ "$1" = replace ] && cat > `+out+` ;;
`)
	r, err := new(view.Kubectl).Release(t.Context(), "team", "a")
	written, readErr := os.ReadFile(out)
	if readErr != nil {
		return nil, r, err
	}
	var got map[string]any
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	return got, r, err
}

// A job that is released is as its owner wrote it, but for the number of starts that it carries, and runs.
func TestRelease(t *testing.T) {
	for _, node := range []string{"", "n1"} {
		j := submitted()
		if node != "" {
			j.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "gpu", Operator: corev1.NodeSelectorOpExists}}}},
			}}}
		}
		want := object(t, j).Object["spec"].(map[string]any)
		o := started(t, j, node)
		if cmp.Equal(o.Object["spec"], any(want)) {
			t.Fatal("the start has changed nothing")
		}
		got, r, err := released(t, o, "Observe")
		if err != nil || *r != (view.Release{Kind: "Job", Namespace: "team", Name: "a"}) {
			t.Fatalf("%+v, %v", r, err)
		}
		want["suspend"] = false
		template := want["template"].(map[string]any)
		template["metadata"].(map[string]any)["labels"] = map[string]any{"app": "a", v1alpha1.QueueLabel: "q"}
		var is map[string]any
		text, _ := json.Marshal(want)
		_ = json.Unmarshal(text, &is)
		if diff := cmp.Diff(is, got["spec"]); diff != "" {
			t.Errorf("node %q (-want +got):\n%s", node, diff)
		}
		if version := got["metadata"].(map[string]any)["resourceVersion"]; version != "7" {
			t.Errorf("resourceVersion %v, want that of the object that was read: nobody else's write is lost", version)
		}
	}
}

// A job for Kueue is left to Kueue: it stays suspended, without our gate.
func TestRelease_to_Kueue(t *testing.T) {
	j := submitted()
	j.Labels["kueue.x-k8s.io/queue-name"] = "k"
	j.Annotations = map[string]string{"kueue.x-k8s.io/admission-gated-by": "oxgang.dev/admission,other.example.com/gate"}
	got, r, err := released(t, object(t, j), "Off")
	if err != nil || !r.Kueue {
		t.Fatalf("%+v, %v, want it released to Kueue", r, err)
	}
	annotations := got["metadata"].(map[string]any)["annotations"].(map[string]any)
	if annotations["kueue.x-k8s.io/admission-gated-by"] != "other.example.com/gate" || got["spec"].(map[string]any)["suspend"] != true {
		t.Errorf("annotations %v, suspended %v, want it suspended, and the gate of others", annotations, got["spec"].(map[string]any)["suspend"])
	}
}

// What need not or cannot be released is refused, and nothing is written.
func TestRelease_refused(t *testing.T) {
	for name, c := range map[string]struct {
		mode   string
		change func(*batchv1.Job)
		want   string
	}{
		"its queue starts jobs": {"Resize", func(*batchv1.Job) {}, "its queue starts jobs itself: queue q is in mode Resize"},
		"it runs":               {"Observe", func(j *batchv1.Job) { *j.Spec.Suspend = false }, "it is not suspended"},
		"it is of no queue":     {"Observe", func(j *batchv1.Job) { j.Labels = nil }, "it names no queue"},
	} {
		t.Run(name, func(t *testing.T) {
			j := submitted()
			c.change(j)
			got, _, err := released(t, object(t, j), c.mode)
			if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
				t.Errorf("%v, written %v, want %q, and nothing written", err, got, c.want)
			}
			if errors.Is(err, view.ErrManaged) != (c.mode == "Resize") {
				t.Errorf("%v: ErrManaged %v", err, errors.Is(err, view.ErrManaged))
			}
		})
	}
}
