package audit

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

func ended(o *Object) string {
	if j, ok := as[*batchv1.Job](o); ok {
		for _, c := range j.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
				return string(c.Type)
			}
		}
		return ""
	}
	u, ok := as[*unstructured.Unstructured](o)
	if !ok || !isJob(o.Key) {
		return ""
	}
	ray, _, _ := unstructured.NestedString(u.Object, "status", "jobDeploymentStatus")
	if ray == "Complete" || ray == "Failed" {
		return ray
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		t, _ := m["type"].(string)
		if m["status"] == "True" && slices.Contains([]string{"Complete", "Completed", "Failed"}, t) {
			return t
		}
	}
	return ""
}

// ending reports whether a job has ended or its end is decided. Its controller removes pods before it reports the
// end.
func ending(o *Object) bool {
	if j, ok := as[*batchv1.Job](o); ok {
		for _, c := range j.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailureTarget || c.Type == batchv1.JobSuccessCriteriaMet) {
				return true
			}
		}
	}
	return ended(o) != ""
}

func isJob(k Key) bool {
	return slices.Contains([]string{
		jobs, "jobsets.jobset.x-k8s.io", "trainjobs.trainer.kubeflow.org", "rayjobs.ray.io",
	}, k.Resource)
}

// NonPreemptible checks invariant I6: bound pods of a non-preemptible job are not deleted until the job has ended, its
// owner deletes it, or its node or one of its GPUs is lost.
type NonPreemptible struct{}

// Name implements [Check].
func (NonPreemptible) Name() string { return "I6 non-preemptible" }

// See implements [Check].
func (k NonPreemptible) See(s *State, c *Change) []Finding {
	old, ok := as[*corev1.Pod](c.Old)
	if !ok || !bound(old) || old.DeletionTimestamp != nil {
		return nil
	}
	if now, ok := as[*corev1.Pod](c.New); ok && now.DeletionTimestamp == nil {
		return nil
	}
	job := s.jobOf(old)
	if job == nil || job.Meta.GetDeletionTimestamp() != nil || ending(job) ||
		job.Meta.GetAnnotations()[v1alpha1.NonPreemptible] != "true" || s.lost(old.Spec.NodeName) {
		return nil
	}
	return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
		"deleted while %s runs, want it kept until the job ends", job.Key)}}
}

func (s *State) lost(node string) bool {
	n, ok := as[*corev1.Node](s.Get(Key{nodes, "", node}))
	if !ok {
		return true
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return true
		}
	}
	whole := amountsOf(n.Status.Capacity)
	return s.has(node)[GPU] < max(whole[GPU], s.used(node, false)[GPU])
}

// EndsOnce checks invariant I15: a job that has ended does not change how it ended, and none of its pods is bound
// afterwards.
type EndsOnce struct{ how map[types.UID]string }

// Name implements [Check].
func (k *EndsOnce) Name() string { return "I15 ends once" }

// See implements [Check].
func (k *EndsOnce) See(_ *State, c *Change) []Finding {
	if k.how == nil {
		k.how = map[types.UID]string{}
	}
	if c.New == nil {
		return nil
	}
	if isJob(c.Key) {
		return k.seeJob(c)
	}
	return k.seePod(c)
}

func (k *EndsOnce) seeJob(c *Change) []Finding {
	uid, now := c.New.Meta.GetUID(), ended(c.New)
	was, over := k.how[uid]
	if now != "" && !over {
		k.how[uid] = now
	}
	if !over || now == was {
		return nil
	}
	return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf("ended as %q after %q, want one end", now, was)}}
}

func (k *EndsOnce) seePod(c *Change) []Finding {
	p, ok := as[*corev1.Pod](c.New)
	if !ok || !bound(p) {
		return nil
	}
	if old, was := as[*corev1.Pod](c.Old); was && bound(old) {
		return nil
	}
	uid := types.UID(p.Labels[v1alpha1.JobUID])
	if ref := metav1.GetControllerOf(p); uid == "" && ref != nil {
		uid = ref.UID
	}
	if how, over := k.how[uid]; over {
		return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
			"bound after job %s ended as %q, want no more pods", uid, how)}}
	}
	return nil
}

// Tenancy checks invariant I20: a plan gives GPUs to additional jobs only in namespaces that the queue lists at that
// revision.
type Tenancy struct{}

// Name implements [Check].
func (Tenancy) Name() string { return "I20 tenancy" }

// See implements [Check].
func (k Tenancy) See(s *State, c *Change) (found []Finding) {
	now, ok := as[*v1alpha1.Plan](c.New)
	if !ok {
		return nil
	}
	queue, ok := as[*v1alpha1.Queue](s.Get(Key{queues, "", now.Name}))
	held := holders(c.Old)
	for i := range now.Spec.Allocations {
		a := &now.Spec.Allocations[i]
		if a.GPUs == 0 || held[a.UID] || ok && lists(queue, a.Namespace) {
			continue
		}
		found = append(found, Finding{k.Name(), c.Revision, c.Key, fmt.Sprintf(
			"%d GPUs for %s/%s, want a namespace that the queue lists", a.GPUs, a.Namespace, a.Name)})
	}
	return found
}

func holders(o *Object) map[string]bool {
	m := map[string]bool{}
	if p, ok := as[*v1alpha1.Plan](o); ok {
		for i := range p.Spec.Allocations {
			m[p.Spec.Allocations[i].UID] = p.Spec.Allocations[i].GPUs > 0
		}
	}
	return m
}

func lists(q *v1alpha1.Queue, namespace string) bool {
	return slices.ContainsFunc(q.Spec.Namespaces, func(n v1alpha1.NamespaceShare) bool { return n.Name == namespace })
}
