package tenant

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Step is one request of the tenant, or time that passes.
type Step struct {
	Verb   string
	Change string // a name of the tables in objects.go
	N      int    // which of a few jobs or pods, or seconds
}

func (s Step) String() string { return fmt.Sprintf("%s %d %s", s.Verb, s.N, s.Change) }

const (
	create  = "create job"
	patch   = "patch job"
	remove  = "delete job"
	pod     = "create pod"
	podding = "patch pod"
	stop    = "delete pod"
	evict   = "evict pod"
	budget  = "create budget"
	wait    = "wait"
)

// Jobs is the number of jobs that the tenant may have at once.
const Jobs = 4

// verbs has frequent ones several times.
var verbs = []string{create, create, create, patch, patch, patch, patch, remove, pod, podding, podding, stop, evict, budget, wait, wait}

// which has the first object several times, so that several steps of a sequence are often about one object.
var which = []int{0, 0, 0, 1, 2, Jobs - 1}

// few is the number of changes of one verb that a sequence uses at most.
const few = 4

// Sequences generates sequences of 1 to most steps. Each sequence uses only a few of the changes, so that those which
// have an effect only together are often in one sequence (swarm testing: Groce et al., ISSTA 2012).
func Sequences(most int) *rapid.Generator[[]Step] {
	return rapid.Custom(func(t *rapid.T) []Step {
		changes := map[string][]string{}
		for _, verb := range []named[[]string]{{create, names(jobs)}, {patch, names(jobPatches)}, {remove, names(propagations)}, {pod, names(pods)}, {podding, names(podPatches)}} {
			changes[verb.name] = rapid.SliceOfNDistinct(rapid.SampledFrom(verb.is), 1, few, rapid.ID[string]).Draw(t, verb.name)
		}
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Step { return draw(t, changes) }), 1, most).Draw(t, "steps")
	})
}

func draw(t *rapid.T, changes map[string][]string) Step {
	s := Step{Verb: rapid.SampledFrom(verbs).Draw(t, "verb"), N: rapid.SampledFrom(which).Draw(t, "n")}
	if some := changes[s.Verb]; some != nil {
		s.Change = rapid.SampledFrom(some).Draw(t, "change")
	}
	if s.Verb == wait {
		s.N = rapid.IntRange(1, 40).Draw(t, "seconds")
	}
	return s
}

// A Tenant may edit one namespace.
type Tenant struct {
	Client    client.Client // with the tenant's rights
	Namespace string
	Queue     string
	Victim    *batchv1.Job // of another tenant
	GPU       corev1.ResourceName
}

// Do sends the request of a step, and returns the answer of the API server. Waiting is up to the caller.
func (n *Tenant) Do(ctx context.Context, s Step) error {
	named := metav1.ObjectMeta{Namespace: n.Namespace, Name: fmt.Sprintf("t%d", s.N)}
	switch s.Verb {
	case create:
		return n.Client.Create(ctx, n.job(s))
	case patch:
		return n.Client.Patch(ctx, &batchv1.Job{ObjectMeta: named}, merge(n.fill(find(jobPatches, s.Change))))
	case remove:
		return n.Client.Delete(ctx, &batchv1.Job{ObjectMeta: named}, find(propagations, s.Change))
	case pod:
		p, err := n.pod(ctx, s)
		if err != nil {
			return err
		}
		return n.Client.Create(ctx, p)
	case budget:
		all := intstr.FromString("100%")
		return n.Client.Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: named, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{}}})
	case wait:
		return nil
	}
	p, err := n.running(ctx, s.N)
	if p == nil {
		return err
	}
	switch s.Verb {
	case podding:
		return n.Client.Patch(ctx, p, merge(n.fill(find(podPatches, s.Change))))
	case evict:
		return n.Client.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{})
	}
	return n.Client.Delete(ctx, p)
}

func merge(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }

// running returns one of the pods in the namespace; nil: there is none.
func (n *Tenant) running(ctx context.Context, which int) (*corev1.Pod, error) {
	var all corev1.PodList
	if err := n.Client.List(ctx, &all, client.InNamespace(n.Namespace)); err != nil || len(all.Items) == 0 {
		return nil, err
	}
	return &all.Items[which%len(all.Items)], nil
}
