package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// Parts of refusals.
const (
	byRoles  = "is forbidden: User \"" + attackers + "\" cannot"
	byMarks  = "'oxgang-pod-marks'"
	byJobs   = "'oxgang-job-marks'"
	byQueue  = "'oxgang-queue'"
	byGPUs   = "'oxgang-gpus'"
	byOrphan = "'oxgang-orphans'"
)

// attacks are what somebody tries who may edit one namespace. Those before the flood leave room for what follows.
var attacks = []attack{
	// Marks, owners and gates.
	{"a pod with the marks of another's job", byMarks, func(a *attacker) error { return a.pod("marked", a.marks()) }},
	{"a gated pod with the marks of another's job", byMarks, func(a *attacker) error { return a.pod("gated", a.marks(), withGate) }},
	{"a job whose template has the marks of another's", byJobs, func(a *attacker) error { return a.job("marked", a.template(a.marks())) }},
	{"a job that pretends to be part of a JobSet, with the marks of another's", "", func(a *attacker) error {
		return a.job("child", a.template(a.marks(), withGate), func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "u", Controller: new(true)}}
		})
	}},
	{"a pod that another's job controls", "", func(a *attacker) error { return a.pod("owned", a.controlled()) }},
	{"a pod that another's job controls, with its marks", byMarks, func(a *attacker) error { return a.pod("owned-marked", a.controlled(), a.marks()) }},
	{"a pod with the label of the queue", "", func(a *attacker) error { return a.pod("labelled", labelled) }},
	{"the gate of a pod is removed", byMarks, func(a *attacker) error {
		if err := a.pod("waits", withGate); err != nil {
			return err
		}
		return a.patch(&corev1.Pod{}, "waits", `{"spec":{"schedulingGates":[]}}`)
	}},
	{"marks are changed", byMarks, func(a *attacker) error {
		return a.patch(&corev1.Pod{}, a.owned.Name, fmt.Sprintf(`{"metadata":{"labels":{"oxgang.dev/job-uid":%q}}}`, a.victim.UID))
	}},
	{"an epoch on a job", byJobs, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"annotations":{"oxgang.dev/epoch":"99999"}}}`)
	}},
	{"an epoch on a pod", byMarks, func(a *attacker) error {
		return a.patch(&corev1.Pod{}, a.owned.Name, `{"metadata":{"annotations":{"oxgang.dev/epoch":"99999"}}}`)
	}},

	// Tokens.
	{"a token of another's pod", "", (*attacker).stolen},
	{"a report by a pod of no job", "", (*attacker).reports},
	{"a token of another's namespace", byRoles, func(a *attacker) error { return a.token(victims, a.victimPod) }},

	// Other objects.
	{"the status of a job", byRoles, func(a *attacker) error {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "own"}}
		return a.client.Status().Patch(a.Context(), j, client.RawPatch(types.MergePatchType, []byte(`{"status":{"active":0}}`)))
	}},
	{"the Plan", byRoles, func(a *attacker) error {
		return a.client.Delete(a.Context(), &v1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: "train"}})
	}},
	{"the Queue", byRoles, func(a *attacker) error {
		return a.client.Delete(a.Context(), &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "train"}})
	}},
	{"the Plan is read", byRoles, func(a *attacker) error {
		return a.client.Get(a.Context(), client.ObjectKey{Name: "train"}, &v1alpha1.Plan{})
	}},
	{"another's job is deleted", byRoles, func(a *attacker) error { return a.client.Delete(a.Context(), a.victim.DeepCopy()) }},
	{"another's pod is evicted", byRoles, func(a *attacker) error {
		return a.client.SubResource("eviction").Create(a.Context(), a.victimPod.DeepCopy(), &policyv1.Eviction{})
	}},
	{"a pod is bound by hand", byRoles, func(a *attacker) error {
		return a.client.SubResource("binding").Create(a.Context(), a.owned.DeepCopy(), &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: a.victimPod.Spec.NodeName}})
	}},

	// Past the queue.
	{"a queue of others", byQueue, func(a *attacker) error {
		return a.job("foreign", func(j *batchv1.Job) { j.Labels[v1alpha1.QueueLabel] = "other" })
	}},
	{"a pod with GPUs and a node", byGPUs, func(a *attacker) error {
		return a.pod("pinned", withGPUs, func(p *corev1.PodTemplateSpec) { p.Spec.NodeName = a.victimPod.Spec.NodeName })
	}},
	{"a pod with GPUs and a priority", byGPUs, func(a *attacker) error {
		return a.pod("urgent", withGPUs, func(p *corev1.PodTemplateSpec) { p.Spec.PriorityClassName = "system-node-critical" })
	}},
	{"a running job is given more workers", byQueue, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"spec":{"parallelism":4,"completions":4}}`)
	}},
	{"a running job leaves the queue", byQueue, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"labels":{"oxgang.dev/queue":null,"color":"blue"}}}`)
	}},
	{"a running job opts out", byQueue, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"annotations":{"oxgang.dev/opt-out":"true"}}}`)
	}},
	{"a job opts out", byQueue, func(a *attacker) error { return a.job("out", annotated(v1alpha1.OptOut, "true")) }},
	{"a pod is taken from its job", byMarks, func(a *attacker) error {
		return a.patch(&corev1.Pod{}, a.owned.Name, `{"metadata":{"ownerReferences":null}}`)
	}},
	{"a pod loses the label by which its job knows it", byMarks, func(a *attacker) error {
		return a.patch(&corev1.Pod{}, a.owned.Name, `{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":null}}}`)
	}},
	{"a job is deleted and its pods are not", byOrphan, func(a *attacker) error {
		return a.client.Delete(a.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "own"}}, client.PropagationPolicy("Orphan"))
	}},
	{"a job is deleted, and nothing said of its pods", byOrphan, func(a *attacker) error {
		return a.clients.BatchV1().Jobs(attackers).Delete(a.Context(), "own", metav1.DeleteOptions{})
	}},
	{"a job with the finalizer orphan is deleted", byOrphan, func(a *attacker) error {
		if err := a.patch(&batchv1.Job{}, "own", `{"metadata":{"finalizers":["orphan"]}}`); err != nil {
			return err
		}
		err := a.clients.BatchV1().Jobs(attackers).Delete(a.Context(), "own", metav1.DeleteOptions{})
		return errors.Join(err, a.patch(&batchv1.Job{}, "own", `{"metadata":{"finalizers":null}}`))
	}},
	{"a running job with a finalizer is deleted", byOrphan, func(a *attacker) error {
		if err := a.patch(&batchv1.Job{}, "own", `{"metadata":{"finalizers":["example.com/never"]}}`); err != nil {
			return err
		}
		err := a.client.Delete(a.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "own"}}, client.PropagationPolicy("Background"))
		return errors.Join(err, a.patch(&batchv1.Job{}, "own", `{"metadata":{"finalizers":null}}`))
	}},
	{"an owner of a running job is invented", byJobs, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayJob","name":"none","uid":"u","controller":true}]}}`)
	}},
	{"a running job goes to a queue of Kueue", byQueue, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"nope"}}}`)
	}},
	{"GPUs are asked for in parts", byQueue, func(a *attacker) error {
		return a.job("part", func(j *batchv1.Job) {
			j.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/mig-1g.10gb": resource.MustParse("1")}
		})
	}},

	// What is accepted, and comes to nothing.
	{"more GPUs are claimed", "", func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"annotations":{"oxgang.dev/max-gpus":"400"}}}`)
	}},
	{"what was asked for is forged", byJobs, func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"annotations":{"oxgang.dev/asked":"{\"asked\":{\"workers\":64},\"granted\":{\"workers\":1}}"}}}`)
	}},
	{"a job asks for more than it may", "", func(a *attacker) error { return a.job("greedy", workers(8)) }},
	{"a job for a queue of Kueue that is not there", "", func(a *attacker) error {
		return a.job("kueue", func(j *batchv1.Job) { j.Labels["kueue.x-k8s.io/queue-name"] = "nope" })
	}},
	{"a budget keeps pods", "", func(a *attacker) error {
		all := intstr.FromString("100%")
		return a.client.Create(a.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "keep"},
			Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{}},
		})
	}},
	{"a job that is not to be preempted", "", func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"annotations":{"oxgang.dev/non-preemptible":"true"}}}`)
	}},
	{"a waiting job is started", byQueue, func(a *attacker) error {
		if err := a.job("eager", annotated(v1alpha1.GPUTypes, "h100")); err != nil {
			return err
		}
		return a.patch(&batchv1.Job{}, "eager", `{"spec":{"suspend":false}}`)
	}},
	{"a waiting job is made larger than it may be", "", func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "eager", `{"metadata":{"annotations":{"oxgang.dev/gpu-types":null}},"spec":{"parallelism":4,"completions":4}}`)
	}},
	{"a pod with a finalizer is deleted", "", (*attacker).clings},
	{"a job is pinned to another's node", "", func(a *attacker) error {
		return a.job("beside", func(j *batchv1.Job) {
			j.Spec.Template.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": a.victimPod.Spec.NodeName}
		})
	}},
	{"a job whose pods another scheduler is to place", "", func(a *attacker) error {
		return a.job("astray", func(j *batchv1.Job) { j.Spec.Template.Spec.SchedulerName = "nobody" })
	}},
	{"the annotations of a running job are spoilt", "", func(a *attacker) error {
		return a.patch(&batchv1.Job{}, "own", `{"metadata":{"annotations":{"oxgang.dev/max-gpus":"banana"}}}`)
	}},
	{"a flood", "", func(a *attacker) error {
		var all []error
		for i := range 100 {
			all = append(all, a.job(fmt.Sprintf("flood-%d", i), annotated(v1alpha1.NonPreemptible, "true")))
		}
		return errors.Join(all...)
	}},
}

func (a *attacker) pod(name string, changes ...func(*corev1.PodTemplateSpec)) error {
	t := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}}}
	for _, change := range changes {
		change(&t)
	}
	t.Name, t.Namespace = name, attackers
	return a.client.Create(a.Context(), &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec})
}

// job creates a job of queue train that asks for a node, with changes.
func (a *attacker) job(name string, changes ...func(*batchv1.Job)) error {
	j := a.ofTenant(attackers, name, 1, 8, "1000000")
	for _, change := range changes {
		change(j)
	}
	return a.client.Create(a.Context(), j)
}

func (a *attacker) patch(o client.Object, name, change string) error {
	o.SetNamespace(attackers)
	o.SetName(name)
	return a.client.Patch(a.Context(), o, client.RawPatch(types.MergePatchType, []byte(change)))
}

// marks returns a change that makes a pod one of another's job.
func (a *attacker) marks() func(*corev1.PodTemplateSpec) {
	return func(p *corev1.PodTemplateSpec) {
		p.Labels = map[string]string{v1alpha1.QueueLabel: "train", v1alpha1.JobUID: string(a.victim.UID), v1alpha1.Generation: "1"}
	}
}

// controlled returns a change that makes another's job the controller of a pod.
func (a *attacker) controlled() func(*corev1.PodTemplateSpec) {
	return func(p *corev1.PodTemplateSpec) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: a.victim.Name, UID: a.victim.UID, Controller: new(true)}}
	}
}

func (a *attacker) template(changes ...func(*corev1.PodTemplateSpec)) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		for _, change := range changes {
			change(&j.Spec.Template)
		}
	}
}

func withGate(p *corev1.PodTemplateSpec) {
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: v1alpha1.PlacementGate}}
}

func labelled(p *corev1.PodTemplateSpec) { p.Labels = map[string]string{v1alpha1.QueueLabel: "train"} }

func withGPUs(p *corev1.PodTemplateSpec) {
	p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{rig.GPU: resource.MustParse("8")}
}

func annotated(key, value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Annotations = maps.Clone(j.Annotations)
		j.Annotations[key] = value
	}
}

func workers(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Parallelism, j.Spec.Completions = &n, &n }
}

// token asks for a token of a namespace's account that is bound to a pod.
func (a *attacker) token(namespace string, p *corev1.Pod) error {
	_, err := a.clients.CoreV1().ServiceAccounts(namespace).CreateToken(a.Context(), "default", request(p), metav1.CreateOptions{})
	return err
}

func request(p *corev1.Pod) *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:      []string{"oxgang-agents"},
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
	}}
}

// stolen asks for a token of the attacker's own account that is bound to a pod of another, which the API server
// does not give.
func (a *attacker) stolen() error {
	if err := a.token(attackers, a.victimPod); err == nil {
		return errors.New("the API server gave a token of another's pod")
	}
	return nil
}

// reports speaks to the agent API with the token of a pod that is of no job. It returns an error if that is heard.
func (a *attacker) reports() error {
	if err := a.pod("agent"); err != nil {
		return err
	}
	var p corev1.Pod
	if err := a.client.Get(a.Context(), client.ObjectKey{Namespace: attackers, Name: "agent"}, &p); err != nil {
		return err
	}
	token, err := a.clients.CoreV1().ServiceAccounts(attackers).CreateToken(a.Context(), "default", request(&p), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"generation": 1, "world_size": 2})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(a.Context(), http.MethodPost, "https://"+a.agents+"/v1/hello", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token.Status.Token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := Trusting(a.Context(), a, a.k, attackers).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if said, err := io.ReadAll(answer.Body); answer.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("answer %s: %s, %w; want 401", answer.Status, said, err)
	}
	return nil
}

// clings has a job run and deletes it, with a finalizer on its pod: the object stays, and its GPUs are free.
func (a *attacker) clings() error {
	if err := a.job("clings"); err != nil {
		return err
	}
	p := a.running(attackers, "clings", 1)
	if err := a.patch(&corev1.Pod{}, p.Name, `{"metadata":{"finalizers":["example.com/never"]}}`); err != nil {
		return err
	}
	return a.client.Delete(a.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "clings"}}, client.PropagationPolicy("Background"))
}
