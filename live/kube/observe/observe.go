package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// An Observation is the state of a queue's jobs, pods and nodes, as the watches show it. It must not be changed.
type Observation struct {
	Jobs       []ObservedJob            // by creation, then namespace and name
	Pods       map[string][]*corev1.Pod // by job uid
	Helpers    map[string][]*corev1.Pod // live pods without GPUs, by job uid
	Unmarked   map[string][]*corev1.Pod // pods with GPUs that this scheduler did not start
	AllPods    []*corev1.Pod            // relevant pods, and all on nodes with GPUs
	Nodes      []cluster.Node           // including nodes lent to the queue
	Whole      []cluster.Node           // the same nodes without any pod
	Objects    []*corev1.Node           // all nodes of the cluster, by name
	Groups     map[string][]GroupNode
	Lender     inventory.Lender
	Marked     []*corev1.Node // as lent to the queue
	uids       map[jobadapter.Key]string
	namespaces map[string]string
	owners     map[types.UID]string // job uid of each pod, by pod uid
	Ours       map[string]bool      // scheduled jobs that have not ended, by uid
	Beyond     map[string]bool      // jobs that exceed the limits of the queue or namespace, by uid
	// Labels are the node labels that distinguish Kueue's flavors; empty without jobs in Kueue.
	Labels   map[cluster.GPUType]map[string]string
	Versions map[string]uint64 // by uid
}

// An ObservedJob is a job's object whose label names the queue.
type ObservedJob struct {
	Adapter jobadapter.Kind
	Object  jobstate.Object
	Parsed  *jobadapter.Job
	Types   []cluster.GPUType // on whose nodes its pods have room; nil: any
	Parts   []job.Part        // of its GPUs, if kube-scheduler accepts its pods only on some nodes of a type; nil: on all
	Nowhere string            // for users, why its pods have room nowhere; empty: they have
}

func (f *ObservedJob) key() jobadapter.Key {
	return jobadapter.Key{Kind: f.Parsed.Kind, Namespace: f.Parsed.Namespace, Name: f.Parsed.Name}
}

// An Observer reads the objects of one queue, in one goroutine.
type Observer struct {
	options *jobstate.Options
	client  client.Client
	direct  client.Reader
	known   func(job.ID) (planned, over bool)
	parsed  map[string]parsedObject
	parents map[types.UID]parent // between jobs and their pods, by uid
	live    live
	nodes   map[string][]cluster.NodeID // that accept a role, by Role.Key
}

// New returns an Observer. c reads from watches, and direct from the API server. known reports whether a job is
// scheduled (planned), or was until it ended or opted out (over).
func New(o *jobstate.Options, c client.Client, direct client.Reader, known func(job.ID) (planned, over bool)) *Observer {
	return &Observer{options: o, client: c, direct: direct, known: known, parsed: make(map[string]parsedObject)}
}

// Forget deletes cached objects that observation s lacks.
func (ob *Observer) Forget(s *Observation) {
	for uid := range ob.parsed {
		if _, shown := s.Versions[uid]; !shown {
			delete(ob.parsed, uid)
		}
	}
}

// Parsed counts the cached parsed objects.
func (ob *Observer) Parsed() int { return len(ob.parsed) }

// Observe returns what the watches show now.
func (ob *Observer) Observe(ctx context.Context) (*Observation, error) {
	s := &Observation{
		Pods: make(map[string][]*corev1.Pod), Helpers: make(map[string][]*corev1.Pod), Unmarked: make(map[string][]*corev1.Pod), Ours: make(map[string]bool), Versions: make(map[string]uint64),
		Beyond: make(map[string]bool), uids: make(map[jobadapter.Key]string), namespaces: make(map[string]string),
	}
	for _, k := range ob.options.Kinds {
		if err := ob.observeJobs(ctx, k, s); err != nil {
			return nil, fmt.Errorf("%s: %w", k.GVK().Kind, err)
		}
	}
	slices.SortFunc(s.Jobs, func(a, b ObservedJob) int {
		return cmp.Or(a.Parsed.Created.Compare(b.Parsed.Created), cmp.Compare(a.Parsed.Namespace, b.Parsed.Namespace), cmp.Compare(a.Parsed.Name, b.Parsed.Name))
	})
	for i := range s.Jobs {
		uid := s.Jobs[i].Parsed.UID
		s.uids[s.Jobs[i].key()], s.namespaces[uid] = uid, s.Jobs[i].Parsed.Namespace
	}
	ob.choose(s)
	var nodes corev1.NodeList
	if err := ob.client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	if err := ob.observePods(ctx, nodes.Items, s); err != nil {
		return nil, err
	}
	if err := ob.findOwners(ctx, s); err != nil {
		return nil, err
	}
	for _, p := range s.AllPods {
		ob.assign(p, s)
		s.recordVersion(p)
	}
	ob.observeNodes(pointers(nodes.Items), s)
	ob.locate(s)
	return s, nil
}

func (ob *Observer) observePods(ctx context.Context, nodes []corev1.Node, s *Observation) error {
	keys, has := []string{inventory.Matters}, make(map[string]bool)
	for i := range nodes {
		if inventory.List(nodes[i].Status.Capacity, corev1.ResourceName(ob.options.Nodes.GPUResource)).GPUs+inventory.List(nodes[i].Status.Allocatable, corev1.ResourceName(ob.options.Nodes.GPUResource)).GPUs > 0 {
			keys, has[nodes[i].Name] = append(keys, inventory.OnNode(nodes[i].Name)), true
		}
	}
	seen := make(map[types.UID]bool)
	for _, key := range keys {
		var some corev1.PodList
		if err := ob.client.List(ctx, &some, client.UnsafeDisableDeepCopy, client.MatchingFields{inventory.Index: key}); err != nil {
			return err
		}
		for i := range some.Items {
			if p := &some.Items[i]; !seen[p.UID] {
				seen[p.UID] = true
				s.AllPods = append(s.AllPods, p)
			}
		}
	}
	s.AllPods = ob.live.newest(s.AllPods, func(p *corev1.Pod) bool { return inventory.Matter(p) || has[p.Spec.NodeName] })
	return nil
}

// Pods with GPUs that an acting scheduler has not marked are no workers.
func (ob *Observer) assign(p *corev1.Pod, s *Observation) {
	uid := s.owner(p)
	switch gpus := inventory.Request(&p.Spec, corev1.ResourceName(ob.options.Nodes.GPUResource)).GPUs; {
	case uid == "":
	case gpus > 0 && ob.options.Acts() && p.Labels[v1alpha1.JobUID] != uid:
		delete(s.owners, p.UID)
		s.Unmarked[uid] = append(s.Unmarked[uid], p)
	case gpus > 0:
		s.Pods[uid] = append(s.Pods[uid], p)
	case !jobstate.Terminal(p):
		s.Helpers[uid] = append(s.Helpers[uid], p)
	}
}

func (ob *Observer) observeNodes(nodes []*corev1.Node, s *Observation) {
	for _, n := range nodes {
		s.recordVersion(n)
		if n.Labels[v1alpha1.LoanLabel] == ob.options.Queue.Name {
			s.Marked = append(s.Marked, n)
		}
	}
	of := ob.options.Nodes
	of.Now = time.Now()
	s.Objects = slices.SortedFunc(slices.Values(nodes), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	s.Whole = inventory.Whole(nodes, &of)
	s.Nodes = inventory.Read(nodes, s.AllPods, func(p *corev1.Pod) bool { return s.Ours[s.owner(p)] }, &of)
	if slices.ContainsFunc(s.Jobs, func(f ObservedJob) bool { return f.Parsed.Kueue }) {
		s.Labels = inventory.Labels(nodes, &of)
	}
	s.Lender = inventory.Survey(nodes, s.AllPods, ob.IsOurs(s), &of)
	s.Groups = ob.groupNodes(nodes, s, s.Nodes)
}

func (ob *Observer) observeJobs(ctx context.Context, k jobadapter.Kind, s *Observation) error {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(k.GVK())
	err := ob.client.List(ctx, &list, client.UnsafeDisableDeepCopy, ob.byQueue())
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	weights := ob.options.Weights()
	for i := range list.Items {
		o := &list.Items[i]
		s.recordVersion(o)
		seen := jobstate.ObjectOf(o)
		j, err := ob.read(k, seen, weights[o.GetNamespace()])
		if err != nil {
			return err
		}
		part, err := ob.partOf(ctx, j)
		if err != nil {
			return err
		}
		if !part {
			s.Jobs = append(s.Jobs, ObservedJob{Adapter: k, Object: seen, Parsed: j})
		}
	}
	return nil
}

// Workers returns a job's pods with GPUs, whoever started them.
func (s *Observation) Workers(uid string) []*corev1.Pod {
	return slices.Concat(s.Pods[uid], s.Unmarked[uid])
}

// TypeOf returns the GPU type of a node of the queue, otherwise "".
func (s *Observation) TypeOf(node string) string {
	i, there := slices.BinarySearchFunc(s.Nodes, cluster.NodeID(node), func(n cluster.Node, id cluster.NodeID) int { return cmp.Compare(n.ID, id) })
	if !there {
		return ""
	}
	return string(s.Nodes[i].GPUType)
}

func (s *Observation) recordVersion(o metav1.Object) { s.Versions[string(o.GetUID())] = Version(o) }

// Version returns an object's resource version.
func Version(o metav1.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

// Takes reports whether the backend schedules job f. A backend that starts jobs ignores jobs started by others.
func (ob *Observer) Takes(f *ObservedJob) bool {
	switch planned, over := ob.known(job.ID(f.Parsed.UID)); {
	case f.Parsed.OptOut, f.Parsed.Ended != nil, over:
		return false
	case planned:
		return true
	case ob.Refuses(f) != "":
		return ob.options.Acts() && f.runs() && ob.allows(f.Parsed.Namespace) // so that it can still be stopped
	case ob.options.Acts():
		return f.Parsed.Suspended || f.Parsed.Generation != 0
	}
	return true
}

func (f *ObservedJob) runs() bool {
	return f.Parsed.Generation != 0 && !f.Parsed.Suspended && (f.Parsed.Spec != nil || f.Parsed.Plain != nil)
}

// Refuses returns a message for users why job f cannot be scheduled, otherwise "".
func (ob *Observer) Refuses(f *ObservedJob) string {
	switch {
	case f.Parsed.OnHold:
		return "somebody suspended it, so its GPUs are free; to let it start again, remove its annotation " + v1alpha1.Started
	case !ob.allows(f.Parsed.Namespace):
		return fmt.Sprintf("namespace %s may not use queue %s: add it to the queue's spec.namespaces", f.Parsed.Namespace, ob.options.Queue.Name)
	case f.Parsed.Spec != nil && ob.options.MostGPUs(f.Parsed.Namespace) > 0 && f.Parsed.Spec.GPUs > ob.options.MostGPUs(f.Parsed.Namespace):
		return fmt.Sprintf("it requests %s; a job of namespace %s may have at most %d in queue %s (maxGPUs of its spec.limits or spec.namespaces)", printable.Count(f.Parsed.Spec.GPUs, "GPU"), f.Parsed.Namespace, ob.options.MostGPUs(f.Parsed.Namespace), ob.options.Queue.Name)
	case f.Parsed.Kueue && ob.options.Kueue != nil && !ob.options.Kueue():
		return "it names a Kueue queue, but the cluster has no Kueue: remove its label kueue.x-k8s.io/queue-name or install Kueue"
	}
	return cmp.Or(f.Parsed.Problem, ob.options.NoClass(f.Parsed.PriorityClass))
}

func (ob *Observer) allows(namespace string) bool {
	return slices.ContainsFunc(ob.options.Queue.Spec.Namespaces, func(n v1alpha1.NamespaceShare) bool { return n.Name == namespace })
}

func (ob *Observer) byQueue() client.ListOption {
	return client.MatchingLabels{v1alpha1.QueueLabel: ob.options.Queue.Name}
}

type parsedObject struct {
	version uint64
	job     *jobadapter.Job
}

// read parses an object once per version: it takes a third of a millisecond.
func (ob *Observer) read(k jobadapter.Kind, o jobstate.Object, weight int32) (*jobadapter.Job, error) {
	uid, v := string(o.Meta().GetUID()), Version(o.Meta())
	if r, known := ob.parsed[uid]; known && r.version == v {
		return r.job, nil
	}
	whole, err := o.Unpack()
	if err != nil {
		return nil, err
	}
	j := k.Read(whole, &ob.options.Queue.Spec.Defaults, weight)
	ob.parsed[uid] = parsedObject{v, j}
	return j, nil
}
