package tenant

import (
	"context"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// A named thing can be drawn and printed.
type named[T any] struct {
	name string
	is   T
}

func names[T any](all []named[T]) []string {
	list := make([]string, len(all))
	for i := range all {
		list[i] = all[i].name
	}
	return list
}

func find[T any](all []named[T], name string) T {
	for i := range all {
		if all[i].name == name {
			return all[i].is
		}
	}
	panic("no " + name)
}

var propagations = []named[client.DeleteOption]{
	{"background", client.PropagationPolicy(metav1.DeletePropagationBackground)},
	{"foreground", client.PropagationPolicy(metav1.DeletePropagationForeground)},
	{"orphan", client.PropagationPolicy(metav1.DeletePropagationOrphan)},
	{"without a policy", &client.DeleteOptions{}},
}

// jobs are variants of a job with one worker on a whole node.
var jobs = []named[func(*Tenant, *batchv1.Job)]{
	{"one node", func(*Tenant, *batchv1.Job) {}},
	{"two nodes", size(2)},
	{"more than allowed", size(3)},
	{"elastic", annotated(v1alpha1.MinGPUs, "4", v1alpha1.MaxGPUs, "8", v1alpha1.ResizeBy, string(v1alpha1.Restart))},
	{"elastic in place", annotated(v1alpha1.MinGPUs, "4", v1alpha1.MaxGPUs, "400", v1alpha1.ResizeBy, string(v1alpha1.InPlace))},
	{"non-preemptible", annotated(v1alpha1.NonPreemptible, "true")},
	{"opted out", annotated(v1alpha1.OptOut, "true")},
	{"with checkpoints, short", annotated(v1alpha1.Checkpoints, "true", v1alpha1.RunSeconds, "1")},
	{"epoch", annotated(v1alpha1.Epoch, "99999")},
	{"asked", annotated(v1alpha1.Asked, `{"asked":{"workers":64},"granted":{"workers":1}}`)},
	{"no queue", func(_ *Tenant, j *batchv1.Job) { j.Labels = nil }},
	{"other queue", func(_ *Tenant, j *batchv1.Job) { j.Labels[v1alpha1.QueueLabel] = "other" }},
	{"queue of Kueue", func(_ *Tenant, j *batchv1.Job) { j.Labels["kueue.x-k8s.io/queue-name"] = "nope" }},
	{"nodeName", func(_ *Tenant, j *batchv1.Job) { j.Spec.Template.Spec.NodeName = "n0" }},
	{"own gate", gated("example.com/mine")},
	{"our gate", gated(v1alpha1.PlacementGate)},
	{"marks", marked},
	{"finalizer", func(_ *Tenant, j *batchv1.Job) { j.Finalizers = []string{"example.com/never"} }},
	{"finalizer orphan", func(_ *Tenant, j *batchv1.Job) { j.Finalizers = []string{"orphan"} }},
	{"managed by another controller", func(_ *Tenant, j *batchv1.Job) { j.Spec.ManagedBy = new("example.com/mine") }},
	{"part of a JobSet", func(_ *Tenant, j *batchv1.Job) { j.OwnerReferences = owner("jobset.x-k8s.io/v1alpha2", "JobSet", "u") }},
	{"part of a JobSet, with marks", func(n *Tenant, j *batchv1.Job) {
		j.OwnerReferences = owner("jobset.x-k8s.io/v1alpha2", "JobSet", "u")
		marked(n, j)
	}},
	{"controlled by the victim", func(n *Tenant, j *batchv1.Job) { j.OwnerReferences = owner("batch/v1", "Job", string(n.Victim.UID)) }},
	{"half a node", func(n *Tenant, j *batchv1.Job) {
		r := &j.Spec.Template.Spec.Containers[0].Resources
		r.Limits[n.GPU], r.Requests[n.GPU] = resource.MustParse("2"), resource.MustParse("2")
	}},
	{"not indexed", func(_ *Tenant, j *batchv1.Job) { j.Spec.CompletionMode = nil }},
}

func size(workers int32) func(*Tenant, *batchv1.Job) {
	return func(_ *Tenant, j *batchv1.Job) { j.Spec.Parallelism, j.Spec.Completions = &workers, &workers }
}

func annotated(pairs ...string) func(*Tenant, *batchv1.Job) {
	return func(_ *Tenant, j *batchv1.Job) {
		j.Annotations = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			j.Annotations[pairs[i]] = pairs[i+1]
		}
	}
}

func gated(name string) func(*Tenant, *batchv1.Job) {
	return func(_ *Tenant, j *batchv1.Job) {
		j.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: name}}
	}
}

func marked(n *Tenant, j *batchv1.Job) { j.Spec.Template.Labels = n.marks() }

func (n *Tenant) marks() map[string]string {
	return map[string]string{v1alpha1.QueueLabel: n.Queue, v1alpha1.JobUID: string(n.Victim.UID), v1alpha1.Generation: "1"}
}

func owner(version, kind, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "some", UID: types.UID(uid), Controller: new(true)}}
}

func (n *Tenant) job(s Step) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: fmt.Sprintf("t%d", s.N), Labels: map[string]string{v1alpha1.QueueLabel: n.Queue}}}
	j.Spec.Suspend, j.Spec.CompletionMode, j.Spec.BackoffLimit = new(false), new(batchv1.IndexedCompletion), new(int32(100))
	j.Spec.Parallelism, j.Spec.Completions = new(int32(1)), new(int32(1))
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: n.containers()}
	find(jobs, s.Change)(n, j)
	return j
}

func (n *Tenant) containers() []corev1.Container {
	q := corev1.ResourceList{n.GPU: resource.MustParse("4")}
	return []corev1.Container{{Name: "c", Image: "c", Resources: corev1.ResourceRequirements{Limits: q, Requests: q.DeepCopy()}}}
}

// jobPatches are JSON merge patches. VICTIM is the uid of the victim's job.
var jobPatches = []named[string]{
	{"leaves the queue", `{"metadata":{"labels":{"oxgang.dev/queue":null}}}`},
	{"another queue", `{"metadata":{"labels":{"oxgang.dev/queue":"other"}}}`},
	{"the queue", `{"metadata":{"labels":{"oxgang.dev/queue":"train"}}}`},
	{"a queue of Kueue", `{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"nope"}}}`},
	{"opts out", `{"metadata":{"annotations":{"oxgang.dev/opt-out":"true"}}}`},
	{"opts in", `{"metadata":{"annotations":{"oxgang.dev/opt-out":null}}}`},
	{"max-gpus", `{"metadata":{"annotations":{"oxgang.dev/max-gpus":"400"}}}`},
	{"spoilt annotation", `{"metadata":{"annotations":{"oxgang.dev/max-gpus":"banana"}}}`},
	{"non-preemptible", `{"metadata":{"annotations":{"oxgang.dev/non-preemptible":"true"}}}`},
	{"another type", `{"metadata":{"annotations":{"oxgang.dev/gpu-types":"h100"}}}`},
	{"epoch", `{"metadata":{"annotations":{"oxgang.dev/epoch":"99999"}}}`},
	{"asked", `{"metadata":{"annotations":{"oxgang.dev/asked":"{\"asked\":{\"workers\":64},\"granted\":{\"workers\":1}}"}}}`},
	{"finalizer", `{"metadata":{"finalizers":["example.com/never"]}}`},
	{"finalizer orphan", `{"metadata":{"finalizers":["orphan"]}}`},
	{"no finalizer", `{"metadata":{"finalizers":null}}`},
	{"invented owner", `{"metadata":{"ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayJob","name":"none","uid":"u","controller":true}]}}`},
	{"owner is the victim", `{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"victim","uid":"VICTIM","controller":true}]}}`},
	{"no owner", `{"metadata":{"ownerReferences":null}}`},
	{"suspend", `{"spec":{"suspend":true}}`},
	{"resume", `{"spec":{"suspend":false}}`},
	{"two workers", `{"spec":{"parallelism":2,"completions":2}}`},
	{"four workers", `{"spec":{"parallelism":4,"completions":4}}`},
	{"no workers", `{"spec":{"parallelism":0}}`},
	{"marks in the template", `{"spec":{"template":{"metadata":{"labels":{"oxgang.dev/job-uid":"VICTIM","oxgang.dev/generation":"1"}}}}}`},
	{"another generation in the template", `{"spec":{"template":{"metadata":{"labels":{"oxgang.dev/generation":"99"}}}}}`},
	{"no gate in the template", `{"spec":{"template":{"spec":{"schedulingGates":null}}}}`},
}

var podPatches = []named[string]{
	{"no gate", `{"spec":{"schedulingGates":[]}}`},
	{"the victim's marks", `{"metadata":{"labels":{"oxgang.dev/job-uid":"VICTIM"}}}`},
	{"another generation", `{"metadata":{"labels":{"oxgang.dev/generation":"99"}}}`},
	{"leaves the queue", `{"metadata":{"labels":{"oxgang.dev/queue":null}}}`},
	{"epoch", `{"metadata":{"annotations":{"oxgang.dev/epoch":"99999"}}}`},
	{"no owner", `{"metadata":{"ownerReferences":null}}`},
	{"owner is the victim", `{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"victim","uid":"VICTIM","controller":true}]}}`},
	{"unknown to its job", `{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":null}}}`},
	{"finalizer", `{"metadata":{"finalizers":["example.com/never"]}}`},
	{"no finalizer", `{"metadata":{"finalizers":null}}`},
}

func (n *Tenant) fill(patch string) string {
	return strings.ReplaceAll(patch, "VICTIM", string(n.Victim.UID))
}

// pods are variants of a pod with the GPUs of a whole node.
var pods = []named[func(*Tenant, *corev1.Pod)]{
	{"without GPUs", func(_ *Tenant, p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }},
	{"with GPUs", func(*Tenant, *corev1.Pod) {}},
	{"with GPUs and a node", func(_ *Tenant, p *corev1.Pod) { p.Spec.NodeName = "n0" }},
	{"labelled", func(n *Tenant, p *corev1.Pod) { p.Labels = map[string]string{v1alpha1.QueueLabel: n.Queue} }},
	{"gated", func(_ *Tenant, p *corev1.Pod) { gate(p) }},
	{"labelled and gated", func(n *Tenant, p *corev1.Pod) {
		gate(p)
		p.Labels = map[string]string{v1alpha1.QueueLabel: n.Queue}
	}},
	{"marked", func(n *Tenant, p *corev1.Pod) { p.Labels = n.marks() }},
	{"marked and gated", func(n *Tenant, p *corev1.Pod) { gate(p); p.Labels = n.marks() }},
	{"the victim's", func(n *Tenant, p *corev1.Pod) {
		gate(p)
		p.OwnerReferences = owner("batch/v1", "Job", string(n.Victim.UID))
		p.Labels = map[string]string{v1alpha1.QueueLabel: n.Queue, batchv1.JobNameLabel: n.Victim.Name, batchv1.ControllerUidLabel: string(n.Victim.UID)}
	}},
	{"epoch", func(_ *Tenant, p *corev1.Pod) { p.Annotations = map[string]string{v1alpha1.Epoch: "99999"} }},
	{"of a job, with its marks", func(n *Tenant, p *corev1.Pod) {
		p.Labels = map[string]string{v1alpha1.QueueLabel: n.Queue}
		gate(p)
	}},
	{"of a job, without a gate", func(n *Tenant, p *corev1.Pod) { p.Labels = map[string]string{v1alpha1.QueueLabel: n.Queue} }},
}

func gate(p *corev1.Pod) {
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: v1alpha1.PlacementGate}}
}

// pod returns the pod of a step. A pod "of a job" is controlled by the tenant's job of that number.
func (n *Tenant) pod(ctx context.Context, s Step) (*corev1.Pod, error) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: fmt.Sprintf("p%d", s.N)}}
	p.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: n.containers()}
	find(pods, s.Change)(n, p)
	if strings.HasPrefix(s.Change, "of a job") {
		var j batchv1.Job
		if err := n.Client.Get(ctx, client.ObjectKey{Namespace: n.Namespace, Name: fmt.Sprintf("t%d", s.N)}, &j); err != nil {
			return nil, err
		}
		p.OwnerReferences = owner("batch/v1", "Job", string(j.UID))
		p.OwnerReferences[0].Name = j.Name
		p.Labels[batchv1.JobNameLabel], p.Labels[batchv1.ControllerUidLabel] = j.Name, string(j.UID)
		if strings.HasSuffix(s.Change, "marks") {
			maps.Copy(p.Labels, j.Spec.Template.Labels)
		}
	}
	return p, nil
}
