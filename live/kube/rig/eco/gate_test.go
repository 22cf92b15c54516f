package eco

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestGate: Kueue leaves jobs alone that carry our gate, of any kind; they are changed and let
// go of in one update, and their pods are as they were changed.
func TestGate(t *testing.T) {
	c := fake(t, Kueue)
	apply(t, c, "queue.yaml", "")
	const held = "{name: NAME, labels: {kueue.x-k8s.io/queue-name: train}, " +
		"annotations: {kueue.x-k8s.io/admission-gated-by: oxgang.dev/admission}}"
	kinds := []string{"job", "jobset", "trainjob"}
	for _, k := range kinds {
		apply(t, c, k+".yaml", k, "{name: NAME}", strings.ReplaceAll(held, "NAME", k))
		apply(t, c, k+".yaml", "free"+k, "{name: NAME}", "{name: free"+k+", labels: {kueue.x-k8s.io/queue-name: train}}")
	}
	for _, k := range kinds { // those without it are admitted meanwhile, though they came later
		has(t, c, "free"+k, 2)
		reason, err := get(t.Context(), c, k+"/"+k, ".spec.suspend")
		if err != nil || reason != "true" {
			t.Errorf("%s is suspended: %s, error %v, want true", k, reason, err)
		}
		has(t, c, k, 0)
	}
	try(t, c, "job/job", "another gate", at(annotation, "", `"oxgang.dev/admission,example.com/b"`), false)
	try(t, c, "job/freejob", "a gate later", at("/metadata/annotations", "", `{"kueue.x-k8s.io/admission-gated-by":"example.com/b"}`), false)
	release(t, c)
	for name, pods := range map[string]int{"job": 4, "jobset": 2, "trainjob": 2} {
		for _, p := range has(t, c, name, pods) {
			if p.Labels["oxgang.dev/generation"] != "1" || len(p.Spec.SchedulingGates) != 1 {
				t.Errorf("pod %s has labels %v, gates %v, want generation 1 and one gate", p.Name, p.Labels, p.Spec.SchedulingGates)
			}
		}
	}

	admitted(t, c)
}

func among(pods []corev1.Pod, uid types.UID) bool {
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == uid })
}

// admitted tries what Kueue does with jobs that run and are changed by others.
func admitted(t *testing.T, c *rig.Cluster) {
	t.Helper()
	suspended := func(object, want string) {
		await(t, object+" to be suspended: "+want, func(ctx context.Context) error {
			got, err := get(ctx, c, object, ".spec.suspend")
			if err == nil && got != want {
				err = fmt.Errorf("suspend is %s, want %s", got, want)
			}
			return err
		})
	}
	set := func(object, place, value string) {
		t.Helper()
		if err := change(t.Context(), c, object, at(place, "", value)); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range []string{"job/freejob", "jobset/freejobset", "trainjob/freetrainjob"} {
		set(object, "/spec/suspend", "true")
		suspended(object, "false")
	}
	old := has(t, c, "freejob", 2)
	if err := change(t.Context(), c, "job/freejob", at("/spec/", "parallelism", "3", "completions", "3")); err != nil {
		t.Fatal(err)
	}
	await(t, "three pods of freejob, all of them new", func(ctx context.Context) error {
		now, err := jobPods(ctx, c, "freejob")
		if err == nil && (len(now) != 3 || slices.ContainsFunc(now, func(p corev1.Pod) bool { return among(old, p.UID) })) {
			err = fmt.Errorf("%d pods, want 3 new ones", len(now))
		}
		return err
	})
	workload, err := kubectl(t.Context(), c, "", "get", "workloads", "-o", `jsonpath={.items[?(@.metadata.ownerReferences[0].name=="job")].metadata.name}`)
	if err != nil || workload == "" {
		t.Fatalf("workload %q of the job, error %v, want one", workload, err)
	}
	set("workload/"+workload, "/spec/active", "false")
	suspended("job/job", "true")
	has(t, c, "job", 0)
	set("workload/"+workload, "/spec/active", "true")
	suspended("job/job", "false")
}

// annotation is the place of the one by which a job is held back from Kueue.
const annotation = "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by"

// release lets go of the three jobs that are held back, and changes them: the Job's size too.
func release(t *testing.T, c *rig.Cluster) {
	t.Helper()
	const letGo = `{"op":"remove","path":"` + annotation + `"}]`
	and := func(patch string) string { return strings.TrimSuffix(patch, "]") + "," + letGo }
	mark := append(append([]string{}, changes["labels"]...), changes["gates"]...)
	patch := `{"manager":"oxgang.dev/scheduler","trainingRuntimeSpec":{"template":{"spec":{"replicatedJobs":[{"name":"node",` +
		`"template":{"spec":{"template":` + fmt.Sprintf(ours, 1) + `}}}]}}}}`
	for object, p := range map[string]string{
		"job/job":           and(at(ofJob, append(mark, changes["size"]...)...)),
		"jobset/jobset":     and(at(ofJobSet, mark...)),
		"trainjob/trainjob": and(at("/spec/runtimePatches/", "-", patch)),
	} {
		if err := change(t.Context(), c, object, p); err != nil {
			t.Fatal(err)
		}
	}
}
