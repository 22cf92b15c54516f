package real

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// The kinds of job, and the condition of each that says that all went well.
var complete = map[string]struct {
	gvk       schema.GroupVersionKind
	condition string
}{
	"job":      {schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, "Complete"},
	"jobset":   {schema.GroupVersionKind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"}, "Completed"},
	"trainjob": {schema.GroupVersionKind{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: "TrainJob"}, "Complete"},
}

func (b *bench) object(kind, name string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(complete[kind].gvk)
	return o, b.k.Get(b.Context(), client.ObjectKey{Namespace: "default", Name: name}, o)
}

// has returns nothing if an object has a condition that is true, or false with a reason.
func (b *bench) has(kind, name, condition, reason string) error {
	o, err := b.object(kind, name)
	if err != nil {
		return err
	}
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range all {
		if c, _ := one.(map[string]any); c["type"] == condition && (c["status"] == "True" || reason != "" && c["reason"] == reason) {
			return nil
		}
	}
	return fmt.Errorf("conditions %v", all)
}

// ends lets a job end, and waits until it is complete.
func (b *bench) ends(kind, name string) {
	b.Helper()
	b.end(name)
	b.until(name+" is complete", func() error { return b.has(kind, name, complete[kind].condition, "") })
}

// admits: a Job, a JobSet and a TrainJob that Kueue queues, held back until the plan has GPUs
// for them, wait for Kueue's quota, run where the plan has them and complete.
func (b *bench) admits() {
	b.queue(v1alpha1.Admit, "fifo")
	b.apply("kueue.yaml", "QUOTA", "0")
	b.apply("job.yaml", "NAME", "kjob", "WORKERS", "1")
	b.apply("jobset.yaml", "NAME", "kset", "WORKERS", "1")
	b.apply("trainjob.yaml", "NAME", "ktrain", "WORKERS", "2")
	names := map[string]string{"job": "kjob", "jobset": "kset", "trainjob": "ktrain"}
	for kind, name := range names {
		b.until(name+" waits for quota", func() error { return b.has(kind, name, v1alpha1.ScheduledCondition, "WaitingForQuota") })
		if pods, err := b.pods(name); err != nil || len(pods) > 0 {
			b.Errorf("%d pods of %s, %v, want none", len(pods), name, err)
		}
	}
	b.apply("kueue.yaml", "QUOTA", "16")
	for kind, name := range names {
		b.until(name+" runs as planned", func() error { return b.asPlanned(name, 4) })
		b.ends(kind, name)
	}
	b.ranks("ktrain", 2)
}

// ranks checks that each pod of a TrainJob has said its rank of so many.
func (b *bench) ranks(name string, n int) {
	b.Helper()
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default")); err != nil {
		b.Fatal(err)
	}
	found := 0
	for i := range pods.Items {
		p := &pods.Items[i]
		if !strings.HasPrefix(p.Name, name+"-") {
			continue
		}
		found++
		said, err := b.Client().CoreV1().Pods("default").GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(b.Context())
		if err != nil || !strings.Contains(string(said), fmt.Sprintf("of %d\n", n)) {
			b.Errorf("pod %s said %q, %v, want its rank of %d", p.Name, said, err, n)
		}
	}
	if found != n {
		b.Errorf("%d pods of %s, want %d", found, name, n)
	}
}

// spans: a TrainJob that Kueue queues comes, by JobSet, to pods on both nodes, which find each
// other. An elastic Job is given another size than it asks for, and that is what Kueue admits.
func (b *bench) spans() {
	b.queue(v1alpha1.Admit, "afs")
	b.apply("kueue.yaml", "QUOTA", "16")
	b.apply("trainjob.yaml", "NAME", "wide", "WORKERS", "4")
	b.until("wide runs as planned", func() error { return b.asPlanned("wide", 4) })
	pods, err := b.pods("wide")
	if err != nil {
		b.Fatal(err)
	}
	on := map[string]int{}
	for i := range pods {
		on[pods[i].Spec.NodeName]++
	}
	if on[b.Nodes[0].Name] != 2 || on[b.Nodes[1].Name] != 2 {
		b.Errorf("pods of nodes %v, want 2 of each", on)
	}
	b.ends("trainjob", "wide")
	b.ranks("wide", 4)

	b.apply("job.yaml", "NAME", "fits", "WORKERS", "2", ", MORE", `, oxgang.dev/resize: Restart, oxgang.dev/max-gpus: "16"`)
	b.until("fits runs as planned", func() error { return b.asPlanned("fits", 4) })
	if a, err := b.allocation("fits"); err != nil || a.GPUs != 16 {
		b.Errorf("it has %+v, %v, want all 16 GPUs, though it asks for 8", a, err)
	}
	b.ends("job", "fits")
}

// rival makes a Job that Kueue queues and that runs a second, so that by remaining time it
// comes before others of which it is known that they run longer. It takes all GPUs.
func (b *bench) rival(name string) {
	b.Helper()
	b.apply("job.yaml", "NAME", name, "WORKERS", "4", ", MORE", `, oxgang.dev/run-seconds: "1", oxgang.dev/restart-seconds: "1"`)
}

// yields: in the mode Resize, jobs of each kind that Kueue queues are stopped for a shorter one
// that came later, through Kueue, and started again.
func (b *bench) yields() {
	b.queue(v1alpha1.Resize, "srtf")
	b.apply("kueue.yaml", "QUOTA", "32")
	for _, kind := range []string{"job", "jobset", "trainjob"} {
		old, young := "old"+kind, "young"+kind
		b.apply(kind+".yaml", "NAME", old, "WORKERS", "4", ", MORE", `, oxgang.dev/run-seconds: "100000"`)
		b.until(old+" runs", func() error { return b.asPlanned(old, 4) })
		first, err := b.allocation(old)
		if err != nil {
			b.Fatal(err)
		}
		b.rival(young)
		b.until(young+" runs in its place", func() error { return b.asPlanned(young, 4) })
		b.end(young)
		b.until(old+" runs again", func() error { return b.asPlanned(old, 4) })
		if last, err := b.allocation(old); err != nil || last.Generation <= first.Generation {
			b.Errorf("generation %d after %d, %v, want a later one", last.Generation, first.Generation, err)
		}
		b.ends(kind, old)
		b.until(young+" is complete", func() error { return b.has("job", young, string(batchv1.JobComplete), "") })
	}
}
