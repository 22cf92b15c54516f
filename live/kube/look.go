package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// A sight is what the watches show of a queue at one time. Nothing in it may be changed.
type sight struct {
	jobs  []found                  // that name the queue, by creation, then namespace and name
	pods  map[string][]*corev1.Pod // by uid of the job; those that are its workers
	aides map[string][]*corev1.Pod // likewise; those that have no GPUs, and have not ended
	all   []*corev1.Pod            // of the cluster
	nodes []cluster.Node           // those that say that they are lent to the queue among them
	fleet map[string][]leased      // see fleet.nodes
	// Of nodes that can be lent.
	lender inventory.Lender
	marked []*corev1.Node            // as lent to the queue, whosever they are
	uids   map[jobadapter.Key]string // of jobs
	ours   map[string]bool           // jobs of the queue that it schedules, by uid
	fresh  map[string]uint64         // resource version of every pod, node and job, by uid
}

// A found job is an object that names the queue.
type found struct {
	kind   jobadapter.Kind
	object *unstructured.Unstructured
	job    *jobadapter.Job
}

func (f *found) key() jobadapter.Key {
	return jobadapter.Key{Kind: f.job.Kind, Namespace: f.job.Namespace, Name: f.job.Name}
}

// look returns what the watches show now.
func (w *World) look(ctx context.Context) (*sight, error) {
	s := &sight{
		pods: make(map[string][]*corev1.Pod), aides: make(map[string][]*corev1.Pod), uids: make(map[jobadapter.Key]string), ours: make(map[string]bool), fresh: make(map[string]uint64),
	}
	for _, k := range w.o.Kinds {
		if err := w.lookFor(ctx, k, s); err != nil {
			return nil, fmt.Errorf("%s: %w", k.GVK().Kind, err)
		}
	}
	slices.SortFunc(s.jobs, func(a, b found) int {
		return cmp.Or(a.job.Created.Compare(b.job.Created), cmp.Compare(a.job.Namespace, b.job.Namespace), cmp.Compare(a.job.Name, b.job.Name))
	})
	for i := range s.jobs {
		uid := s.jobs[i].job.UID
		s.uids[s.jobs[i].key()], s.ours[uid] = uid, w.takes(&s.jobs[i])
	}
	var all corev1.PodList
	var nodes corev1.NodeList
	if err := errors.Join(w.client.List(ctx, &all, client.UnsafeDisableDeepCopy), w.client.List(ctx, &nodes, client.UnsafeDisableDeepCopy)); err != nil {
		return nil, err
	}
	s.all = pointers(all.Items)
	for _, p := range s.all {
		switch uid := s.owner(p); {
		case uid == "":
		case w.works(p):
			s.pods[uid] = append(s.pods[uid], p)
		case !terminal(p):
			s.aides[uid] = append(s.aides[uid], p)
		}
		s.saw(p)
	}
	w.lookAtNodes(pointers(nodes.Items), s)
	return s, nil
}

// lookAtNodes adds the nodes that the queue may use, and those that it may be lent.
func (w *World) lookAtNodes(nodes []*corev1.Node, s *sight) {
	for _, n := range nodes {
		s.saw(n)
		if n.Labels[v1alpha1.LoanLabel] == w.o.Queue.Name {
			s.marked = append(s.marked, n)
		}
	}
	of := w.o.Nodes
	of.Now = time.Now()
	s.nodes = inventory.Read(nodes, s.all, func(p *corev1.Pod) bool { return s.ours[s.owner(p)] }, &of)
	s.lender = inventory.Survey(nodes, s.all, w.isOurs(s), &of)
	s.fleet = w.muster(nodes, s.all, s.nodes)
}

// lookFor adds the jobs of one kind, of none if the cluster does not know the kind.
func (w *World) lookFor(ctx context.Context, k jobadapter.Kind, s *sight) error {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(k.GVK())
	err := w.client.List(ctx, &list, client.UnsafeDisableDeepCopy, w.named())
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	weights := w.o.weights()
	for i := range list.Items {
		o := &list.Items[i]
		s.saw(o)
		if j := w.read(k, o, weights[o.GetNamespace()]); j.Queue != "" {
			s.jobs = append(s.jobs, found{k, o, j})
		}
	}
	return nil
}

// owner returns the uid of the job that a pod belongs to, if it names the queue; empty: none
// does. A job that had the name before is another.
func (s *sight) owner(p *corev1.Pod) string {
	if uid := p.Labels[v1alpha1.JobUID]; uid != "" {
		if _, known := s.ours[uid]; known {
			return uid
		}
		return ""
	}
	key, ok := jobadapter.Owner(p)
	if !ok {
		return ""
	}
	if uid := s.uids[key]; uid != "" {
		return uid
	}
	key, ok = key.Outer()
	if !ok {
		return ""
	}
	return s.uids[key]
}

// works reports whether a pod of a job is one of its workers: it has GPUs, as have all that are
// marked. The head of a RayJob, say, is none.
func (w *World) works(p *corev1.Pod) bool {
	return p.Labels[v1alpha1.JobUID] != "" || pods.Request(&p.Spec, corev1.ResourceName(w.o.Nodes.GPUResource)).GPUs > 0
}

// saw notes which version of an object the watches show.
func (s *sight) saw(o metav1.Object) { s.fresh[string(o.GetUID())] = version(o) }

// version returns an object's resource version, which grows with every write to the cluster.
func version(o metav1.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// pointers returns a pointer to each element.
func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

// takes reports whether a job is the world's to schedule. One that was started by somebody
// else is not, where the world starts jobs: its GPUs are taken.
func (w *World) takes(f *found) bool {
	id := job.ID(f.job.UID)
	switch {
	case f.job.OptOut:
		return false
	case w.knows(id):
		return true
	case w.refuses(f) != "":
		return false
	case w.o.acts():
		return f.job.Suspended || f.job.Generation != 0
	}
	return true
}

// knows reports whether a job was taken in.
func (w *World) knows(id job.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs[id] != nil || w.over[id]
}

// refuses returns why a job cannot be taken in, for people; empty: it can.
func (w *World) refuses(f *found) string {
	may := slices.ContainsFunc(w.o.Queue.Spec.Namespaces, func(n v1alpha1.NamespaceShare) bool { return n.Name == f.job.Namespace })
	switch {
	case f.job.OptOut:
		return "it has opted out"
	case !may:
		return fmt.Sprintf("namespace %s may not use queue %s, whose spec.namespaces does not list it", f.job.Namespace, w.o.Queue.Name)
	}
	return f.job.Problem
}

// named selects the jobs that name the queue.
func (w *World) named() client.ListOption {
	return client.MatchingLabels{v1alpha1.QueueLabel: w.o.Queue.Name}
}

// A reading is what an object of one version says.
type reading struct {
	version uint64
	job     *jobadapter.Job
}

// read returns what an object says, which takes a third of a millisecond, once for each of
// its versions.
func (w *World) read(k jobadapter.Kind, o *unstructured.Unstructured, weight int32) *jobadapter.Job {
	uid, v := string(o.GetUID()), version(o)
	if r, known := w.readings[uid]; known && r.version == v {
		return r.job
	}
	j := k.Read(o, &w.o.Queue.Spec.Defaults, weight)
	w.readings[uid] = reading{v, j}
	return j
}
