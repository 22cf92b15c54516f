package kubetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Settle runs the simulated controllers until nothing changes.
func (t *Cluster) Settle() {
	for again := true; again; {
		again = t.Control() || t.Collect() || t.Bind() || t.Kubelet()
	}
}

// Control runs the Job controller once.
func (t *Cluster) Control() bool {
	done := false
	for _, j := range t.Jobs() {
		if ended(&j) || j.DeletionTimestamp != nil {
			continue
		}
		done = t.acknowledge(&j) || done
		want := int(*j.Spec.Completions)
		if *j.Spec.Suspend {
			want = 0
		}
		have := map[int]bool{}
		for _, p := range t.PodsOf(j.Name) {
			if p.DeletionTimestamp != nil || p.Labels[batchv1.ControllerUidLabel] != string(j.UID) || !metav1.IsControlledBy(p, &j) {
				continue
			}
			if i := index(p); i >= 0 && (i < want || over(p)) {
				have[i] = true
				continue
			}
			must(client.IgnoreNotFound(t.truth.Delete(context.Background(), p)))
			done = true
		}
		for i := range want {
			if p := t.pod(&j, i); !have[i] && (t.Admit == nil || t.Admit(p) == nil) {
				t.Create(p)
				done = true
			}
		}
	}
	return done
}

// Collect deletes pods whose Job does not exist.
func (t *Cluster) Collect() bool {
	there := map[types.UID]bool{}
	for _, j := range t.Jobs() {
		there[j.UID] = true
	}
	done := false
	for _, p := range t.pods() {
		if by := metav1.GetControllerOf(p); by != nil && by.Kind == "Job" && !there[by.UID] && p.DeletionTimestamp == nil {
			must(t.truth.Delete(context.Background(), p))
			done = true
		}
	}
	return done
}

func (t *Cluster) acknowledge(j *batchv1.Job) bool {
	runs := !*j.Spec.Suspend
	if runs == (j.Status.StartTime != nil) {
		return false
	}
	c := batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}
	j.Status.StartTime = nil
	if runs {
		c.Status, j.Status.StartTime = corev1.ConditionFalse, new(metav1.Now())
	}
	j.Status.Conditions = append(slices.DeleteFunc(j.Status.Conditions, func(o batchv1.JobCondition) bool { return o.Type == c.Type }), c)
	t.Update(j)
	return true
}

func (t *Cluster) pod(j *batchv1.Job, i int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: *j.Spec.Template.ObjectMeta.DeepCopy(), Spec: *j.Spec.Template.Spec.DeepCopy()}
	p.Name, p.Namespace = fmt.Sprintf("%s-%03d-%s", j.Name, i, t.uid()), j.Namespace
	p.Finalizers = []string{Kubelet}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[batchv1.JobNameLabel], p.Labels[batchv1.ControllerUidLabel] = j.Name, string(j.UID)
	p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(i)}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: j.UID, Controller: new(true)}}
	p.Status.Phase = corev1.PodPending
	return p
}

// Bind binds pods without gates to the node that they name, if there is room.
func (t *Cluster) Bind() bool {
	done := false
	all := t.pods()
	used := map[string]int{}
	for _, p := range all {
		if p.Spec.NodeName != "" && !over(p) {
			used[p.Spec.NodeName] += gpus(p)
		}
	}
	for _, p := range all {
		if p.Spec.NodeSelector[Serves] != "" && p.Spec.NodeName == "" && p.DeletionTimestamp == nil {
			done = t.bindServing(p, used) || done
			continue
		}
		to := pinned(p)
		if t.Unpinned && to == "" && gpus(p) > 0 && p.Spec.NodeName == "" {
			to = t.roomFor(p, used)
		}
		if to == "" || p.Spec.NodeName != "" || !tolerates(p, t.taints(to)) || len(p.Spec.SchedulingGates) > 0 || p.DeletionTimestamp != nil || !t.ready(to) || used[to]+gpus(p) > t.has(to) {
			continue
		}
		used[to] += gpus(p)
		p.Spec.NodeName = to
		t.Update(p)
		done = true
	}
	return done
}

func (t *Cluster) roomFor(p *corev1.Pod, used map[string]int) string {
	var all corev1.NodeList
	must(t.truth.List(context.Background(), &all, client.MatchingLabels(p.Spec.NodeSelector)))
	for i := range all.Items {
		if n := &all.Items[i]; t.ready(n.Name) && tolerates(p, n.Spec.Taints) && used[n.Name]+gpus(p) <= t.has(n.Name) {
			return n.Name
		}
	}
	return ""
}

func (t *Cluster) taints(node string) []corev1.Taint {
	var n corev1.Node
	must(client.IgnoreNotFound(t.truth.Get(context.Background(), client.ObjectKey{Name: node}, &n)))
	return n.Spec.Taints
}

func tolerates(p *corev1.Pod, taints []corev1.Taint) bool {
	for i := range taints {
		if !slices.ContainsFunc(p.Spec.Tolerations, func(o corev1.Toleration) bool {
			return o.Key == taints[i].Key && (o.Operator == corev1.TolerationOpExists || o.Value == taints[i].Value)
		}) {
			return false
		}
	}
	return true
}

// Kubelet runs the kubelets once.
func (t *Cluster) Kubelet() bool {
	done := false
	for _, p := range t.pods() {
		switch {
		case p.DeletionTimestamp != nil && slices.Contains(p.Finalizers, Kubelet):
			if len(p.Finalizers) > 1 && !over(p) {
				p.Status.Phase = corev1.PodFailed
				t.Update(p)
			}
			p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == Kubelet })
			must(t.truth.Update(context.Background(), p))
			done = true
		case p.Spec.NodeName != "" && p.Status.Phase == corev1.PodPending && t.ready(p.Spec.NodeName):
			p.Status.Phase = corev1.PodRunning
			t.Update(p)
			done = true
		}
	}
	return done
}

// Work advances running jobs by one look, and completes jobs at their last.
func (t *Cluster) Work() {
	for _, j := range t.Jobs() {
		n := 0
		for _, p := range t.PodsOf(j.Name) {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				n++
			}
		}
		if ended(&j) || *j.Spec.Suspend || n < int(*j.Spec.Completions) || t.Stuck {
			continue
		}
		if t.works(&j) {
			t.End(j.Name, batchv1.JobComplete)
		}
	}
}

func (t *Cluster) works(j *batchv1.Job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.work[j.UID] > 0 {
		t.work[j.UID]--
		return t.work[j.UID] == 0
	}
	return false
}

// End ends a job and its pods.
func (t *Cluster) End(name string, how batchv1.JobConditionType) {
	phase := corev1.PodSucceeded
	if how == batchv1.JobFailed {
		phase = corev1.PodFailed
	}
	for _, p := range t.PodsOf(name) {
		if p.DeletionTimestamp == nil {
			p.Status.Phase = phase
			t.Update(p)
		}
	}
	j := t.Job(name)
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: how, Status: corev1.ConditionTrue})
	t.Update(j)
}

// RemoveNode removes a node and its pods.
func (t *Cluster) RemoveNode(name string) {
	must(client.IgnoreNotFound(t.truth.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})))
	for _, p := range t.pods() {
		if p.Spec.NodeName == name {
			p.Finalizers = nil
			must(t.truth.Update(context.Background(), p))
			must(client.IgnoreNotFound(t.truth.Delete(context.Background(), p)))
		}
	}
}

func ended(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// Ended reports whether a job has ended or does not exist.
func (t *Cluster) Ended(name string) bool {
	j := t.Job(name)
	return j == nil || ended(j)
}

func over(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func index(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}
