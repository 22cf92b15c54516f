package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	_ "github.com/oxgang/oxgang/policy/standard"
	"github.com/oxgang/oxgang/scheduler"
)

const (
	queueName     = "train"
	attackers     = "mallory"
	jobController = "system:serviceaccount:kube-system:job-controller"
	round         = 10 * time.Second
)

// A world is a simulated cluster of eight nodes with four GPUs, with a scheduler, two tenants of the same weight and the
// policies of the chart. It runs in a synctest bubble.
type world struct {
	*kubetest.Cluster
	policies Policies
	queue    *unstructured.Unstructured
	victim   *batchv1.Job
	pods     []string // of the victim
	gained   []error  // what the tenant changed and may not

	stop    context.CancelFunc
	running sync.WaitGroup
	failed  error
}

func newWorld(policies Policies) *world {
	w := &world{Cluster: kubetest.New(), policies: policies}
	for i := range 8 {
		w.AddNode(fmt.Sprintf("n%d", i), 4, "A100")
	}
	w.Unpinned = true
	q := trainQueue()
	w.queue = untyped(q, "Queue")
	w.Admit = func(p *corev1.Pod) error {
		return w.admit(jobController, admission.Create, nil, p, &metav1.CreateOptions{})
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.running.Go(func() { w.failed = w.serve(ctx, q) })
	w.victim = w.Submit(queueName, &kubetest.Ask{Name: "victim", Workers: 1, GPUs: 4})
	w.live(3 * round)
	w.pods = w.podsOf("victim")
	return w
}

func trainQueue() *v1alpha1.Queue {
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: queueName}}
	q.Spec.Mode, q.Spec.Policy.Name = v1alpha1.Resize, "oxgang"
	q.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: kubetest.Namespace}, {Name: attackers, MaxJobs: 5}}
	q.Spec.Limits = v1alpha1.JobLimits{MaxGPUs: 8, DenyOptOut: true, DenyNonPreemptible: true, IgnoreDisruptionBudgets: true}
	return q
}

func untyped(o runtime.Object, kind string) *unstructured.Unstructured {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	return u
}

// serve runs a scheduler until the context ends.
func (w *world) serve(ctx context.Context, q *v1alpha1.Queue) error {
	o := jobstate.DefaultOptions()
	o.Queue, o.Identity, o.Kinds = q, "leader", jobadapter.Kinds[:1]
	b, err := kube.Open(ctx, w.Client(), w.Direct(), o)
	if err != nil {
		return err
	}
	entry, err := registry.Find(q.Spec.Policy.Name)
	if err != nil {
		return err
	}
	p, err := entry.New(nil)
	if err != nil {
		return err
	}
	placer, err := entry.NewPlacer("", registry.PlacerOptions{})
	if err != nil {
		return err
	}
	so := scheduler.DefaultOptions()
	so.Round, so.Profile, so.Estimate.Share = round, false, true
	s, err := scheduler.New(p, placer, b.Cluster(), so)
	if err != nil {
		return err
	}
	b.Follow(round, func(now time.Time) []*policy.Job { return s.Snapshot(now).Jobs })
	w.running.Go(func() { _ = b.Execute(ctx) }) // ends with the context
	return s.Run(ctx, b, b)
}

func (w *world) live(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second)
		synctest.Wait()
		w.Settle()
	}
}

func (w *world) end() {
	w.stop()
	w.running.Wait()
}

var resources = map[string]schema.GroupVersionResource{
	"Job": {Group: "batch", Version: "v1", Resource: "jobs"}, "Pod": {Version: "v1", Resource: "pods"},
}

func (w *world) admit(who string, op admission.Operation, old, now client.Object, options runtime.Object) error {
	r := &Request{User: who, Operation: op, Options: options}
	for _, o := range []client.Object{old, now} {
		switch o.(type) {
		case nil:
			continue
		case *batchv1.Job:
			o.GetObjectKind().SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
		case *corev1.Pod:
			o.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		default:
			return nil
		}
		r.Resource = resources[o.GetObjectKind().GroupVersionKind().Kind]
	}
	r.Old, r.New = old, now
	return w.policies.Admit(context.Background(), r, w.queue)
}

// An apiServer is the tenant's client: it holds requests against the policies, and what Kubernetes itself rejects.
type apiServer struct {
	client.Client
	w *world
}

// Create implements client.Client. Jobs are created suspended, as by the policy oxgang-suspend.
func (a *apiServer) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if j, ok := o.(*batchv1.Job); ok {
		if j.Labels[v1alpha1.QueueLabel] == queueName && j.Annotations[v1alpha1.OptOut] != "true" && !part(j) {
			j.Spec.Suspend = new(true)
		}
		o.SetUID(types.UID(fmt.Sprintf("job-%s-%d", j.Name, time.Now().UnixNano())))
	}
	if p, ok := o.(*corev1.Pod); ok {
		o.SetUID(types.UID(fmt.Sprintf("pod-%s-%d", p.Name, time.Now().UnixNano())))
		p.Status.Phase, p.Finalizers = corev1.PodPending, []string{kubetest.Kubelet}
	}
	if err := a.w.admit(attackers, admission.Create, nil, o, &metav1.CreateOptions{}); err != nil {
		return err
	}
	a.w.gains(nil, o)
	o.SetCreationTimestamp(metav1.Now())
	return a.Client.Create(ctx, o, opts...)
}

func part(j *batchv1.Job) bool {
	by := metav1.GetControllerOf(j)
	return by != nil && (by.Kind == "JobSet" || by.Kind == "RayJob")
}

// Patch implements client.Client.
func (a *apiServer) Patch(ctx context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
	if err := a.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	old := o.DeepCopyObject().(client.Object)
	if err := apply(o, p); err != nil {
		return err
	}
	if slices.Contains(old.GetFinalizers(), kubetest.Kubelet) && !slices.Contains(o.GetFinalizers(), kubetest.Kubelet) {
		o.SetFinalizers(append(o.GetFinalizers(), kubetest.Kubelet)) // no user removes it: it stands for the kubelet
	}
	if err := errors.Join(immutable(old, o), a.w.admit(attackers, admission.Update, old, o, &metav1.UpdateOptions{})); err != nil {
		return err
	}
	a.w.gains(old, o)
	return a.Client.Update(ctx, o)
}

// apply changes an object by a JSON merge patch.
func apply(o client.Object, p client.Patch) error {
	change, err := p.Data(o)
	if err != nil {
		return err
	}
	was, err := json.Marshal(o)
	if err != nil {
		return err
	}
	is, err := jsonpatch.MergePatch(was, change)
	if err != nil {
		return err
	}
	reflect.ValueOf(o).Elem().SetZero()
	return json.Unmarshal(is, o)
}

// immutable returns an error for a change that every API server rejects.
func immutable(old, now client.Object) error {
	if old.GetDeletionTimestamp() != nil && len(now.GetFinalizers()) > len(old.GetFinalizers()) {
		return errors.New("no finalizer is added to a deleted object")
	}
	switch old := old.(type) {
	case *batchv1.Job:
		j := now.(*batchv1.Job)
		if (!*old.Spec.Suspend || old.Status.StartTime != nil) && !equality.Semantic.DeepEqual(old.Spec.Template, j.Spec.Template) {
			return errors.New("the template of a running job is immutable")
		}
		if *old.Spec.Completions != *j.Spec.Completions && (j.Spec.CompletionMode == nil || *j.Spec.Completions != *j.Spec.Parallelism) {
			return errors.New("completions are immutable")
		}
	case *corev1.Pod:
		p := now.(*corev1.Pod).DeepCopy()
		p.Spec.SchedulingGates = old.Spec.SchedulingGates
		if !equality.Semantic.DeepEqual(old.Spec, p.Spec) {
			return errors.New("the spec of a pod is immutable")
		}
	}
	return nil
}

// Delete implements client.Client.
func (a *apiServer) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	if err := a.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	d := new(client.DeleteOptions).ApplyOptions(opts)
	if err := a.w.admit(attackers, admission.Delete, o, nil, d.AsDeleteOptions()); err != nil {
		return err
	}
	j, ok := o.(*batchv1.Job)
	if !ok {
		err := a.Client.Delete(ctx, o)
		a.w.Kubelet() // before the Job controller replaces it, which on a cluster waits for room
		return err
	}
	finalizers := len(j.Finalizers)
	switch propagation(j, d) {
	case metav1.DeletePropagationBackground:
	case metav1.DeletePropagationForeground:
		for _, p := range a.w.owned(j) {
			if err := client.IgnoreNotFound(a.Client.Delete(ctx, p)); err != nil {
				return err
			}
		}
	case metav1.DeletePropagationOrphan:
		for _, p := range a.w.owned(j) {
			p.OwnerReferences = nil
			if err := a.Client.Update(ctx, p); err != nil {
				return err
			}
		}
	}
	if j.Finalizers = slices.DeleteFunc(j.Finalizers, func(f string) bool { return f == metav1.FinalizerOrphanDependents }); len(j.Finalizers) < finalizers {
		if err := a.Client.Update(ctx, j); err != nil {
			return err
		}
	}
	return a.Client.Delete(ctx, j)
}

// propagation returns what the API server makes of a deletion. Without a policy the job's finalizers decide; without
// these, too, its pods are orphaned.
func propagation(j *batchv1.Job, d *client.DeleteOptions) metav1.DeletionPropagation {
	switch {
	case d.PropagationPolicy != nil:
		return *d.PropagationPolicy
	case !slices.Contains(j.Finalizers, metav1.FinalizerOrphanDependents) && slices.Contains(j.Finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationOrphan
}

func (w *world) owned(j *batchv1.Job) (all []*corev1.Pod) {
	for _, p := range w.all() {
		if metav1.IsControlledBy(p, j) {
			all = append(all, p)
		}
	}
	return all
}

func (w *world) all() []*corev1.Pod {
	var list corev1.PodList
	if err := w.Client().List(context.Background(), &list); err != nil {
		panic(err)
	}
	all := make([]*corev1.Pod, len(list.Items))
	for i := range all {
		all[i] = &list.Items[i]
	}
	return all
}

func (w *world) podsOf(job string) (all []string) {
	for _, p := range w.PodsOf(job) {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil && p.Namespace == kubetest.Namespace {
			all = append(all, string(p.UID))
		}
	}
	return all
}

// gains records an accepted request that changes what only the scheduler may change.
func (w *world) gains(old, now client.Object) {
	before, after := protected(old), protected(now)
	for _, k := range slices.Sorted(maps.Keys(after)) {
		if before[k] != after[k] {
			w.gained = append(w.gained, fmt.Errorf("%s of %T %s is %q, was %q", k, now, now.GetName(), after[k], before[k]))
		}
	}
	if p, ok := old.(*corev1.Pod); ok && p.Labels[v1alpha1.JobUID] != "" {
		for _, k := range slices.Sorted(maps.Keys(before)) {
			if _, left := after[k]; !left && k != v1alpha1.PlacementGate {
				w.gained = append(w.gained, fmt.Errorf("pod %s has no %s any more", p.Name, k))
			}
		}
	}
	if p, ok := old.(*corev1.Pod); ok && before[v1alpha1.PlacementGate] != "" && after[v1alpha1.PlacementGate] == "" {
		w.gained = append(w.gained, fmt.Errorf("pod %s has no gate any more", p.Name))
	}
}

// protected returns the labels, annotations, gates and controllers of an object that only the scheduler, or the Job
// controller, may set. Parts of other jobs may have marks if their pods are gated. Their generation has no effect
// without a job-uid.
func protected(o client.Object) map[string]string {
	all := map[string]string{}
	set := func(from map[string]string, keys ...string) {
		for _, k := range keys {
			if v, ok := from[k]; ok {
				all[k] = v
			}
		}
	}
	switch o := o.(type) {
	case *batchv1.Job:
		gated := slices.ContainsFunc(o.Spec.Template.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == v1alpha1.PlacementGate })
		if part(o) && gated {
			return all
		}
		if !part(o) {
			set(o.Annotations, v1alpha1.Epoch, v1alpha1.Asked)
		}
		if set(o.Spec.Template.Labels, v1alpha1.JobUID); !part(o) {
			set(o.Spec.Template.Labels, v1alpha1.Generation)
		}
		if by := metav1.GetControllerOf(o); by != nil && o.Spec.Template.Labels[v1alpha1.JobUID] != "" {
			all["controller"] = string(by.UID)
		}
	case *corev1.Pod:
		set(o.Annotations, v1alpha1.Epoch)
		set(o.Labels, v1alpha1.JobUID, v1alpha1.Generation)
		if o.Labels[v1alpha1.JobUID] != "" {
			set(o.Labels, v1alpha1.QueueLabel, batchv1.ControllerUidLabel)
			if by := metav1.GetControllerOf(o); by != nil {
				all["controller"] = string(by.UID)
			}
		}
		for _, g := range o.Spec.SchedulingGates {
			if g.Name == v1alpha1.PlacementGate && o.UID != "" {
				all[v1alpha1.PlacementGate] = "set"
			}
		}
		if o.ResourceVersion == "" {
			delete(all, v1alpha1.PlacementGate)
		}
	}
	return all
}
