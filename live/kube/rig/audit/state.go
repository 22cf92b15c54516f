package audit

import (
	"fmt"
	"iter"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

const (
	jobs   = "jobs"
	pods   = "pods"
	nodes  = "nodes"
	plans  = "plans.oxgang.dev"
	queues = "queues.oxgang.dev"
)

// A Key names an object. Resource includes the group, as in "pods" or "jobsets.jobset.x-k8s.io".
type Key struct{ Resource, Namespace, Name string }

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Resource + "/" + k.Name
	}
	return k.Resource + "/" + k.Namespace + "/" + k.Name
}

// An Object is one version of a Kubernetes object. It is immutable. Value has the object's Go type if that is known.
type Object struct {
	Key   Key
	Meta  metav1.Object
	Value runtime.Object
}

// A Change is one write: Old is nil for a create, New for a delete.
type Change struct {
	Revision int64
	Time     time.Time // of observation; in a replay, the time in its objects
	Key      Key
	Old, New *Object
}

// A State is all objects at one revision.
type State struct {
	Revision int64
	Time     time.Time

	kinds  map[string]map[Key]*Object
	byUID  map[types.UID]*Object
	byNode map[string]map[Key]*corev1.Pod // bound or pinned to the node
	byJob  map[string]map[Key]*corev1.Pod // by job UID in their labels
}

// NewState returns the state before the first write.
func NewState() *State {
	return &State{
		kinds: map[string]map[Key]*Object{}, byUID: map[types.UID]*Object{},
		byNode: map[string]map[Key]*corev1.Pod{}, byJob: map[string]map[Key]*corev1.Pod{},
	}
}

// Get returns an object; nil: none.
func (s *State) Get(k Key) *Object { return s.kinds[k.Resource][k] }

// ByUID returns the object with a UID; nil: none.
func (s *State) ByUID(uid types.UID) *Object { return s.byUID[uid] }

func (s *State) apply(c *Change) {
	s.Revision, s.Time = c.Revision, c.Time
	if c.Old != nil {
		s.remove(c.Old)
	}
	if c.New != nil {
		s.insert(c.New)
	}
}

func (s *State) remove(o *Object) {
	delete(s.kinds[o.Key.Resource], o.Key)
	delete(s.byUID, o.Meta.GetUID())
	if p, ok := o.Value.(*corev1.Pod); ok {
		drop(s.byNode, nodeOf(p), o.Key)
		drop(s.byJob, p.Labels[v1alpha1.JobUID], o.Key)
	}
}

func (s *State) insert(o *Object) {
	put(s.kinds, o.Key.Resource, o.Key, o)
	s.byUID[o.Meta.GetUID()] = o
	if p, ok := o.Value.(*corev1.Pod); ok {
		put(s.byNode, nodeOf(p), o.Key, p)
		put(s.byJob, p.Labels[v1alpha1.JobUID], o.Key, p)
	}
}

func put[V any](m map[string]map[Key]V, at string, k Key, v V) {
	if m[at] == nil {
		m[at] = map[Key]V{}
	}
	m[at][k] = v
}

func drop[V any](m map[string]map[Key]V, at string, k Key) {
	if delete(m[at], k); len(m[at]) == 0 {
		delete(m, at)
	}
}

// Pods yields all pods in any order.
func (s *State) Pods() iter.Seq[*corev1.Pod] { return each[*corev1.Pod](s, pods) }

// Nodes yields all nodes in any order.
func (s *State) Nodes() iter.Seq[*corev1.Node] { return each[*corev1.Node](s, nodes) }

// Jobs yields all Jobs in any order.
func (s *State) Jobs() iter.Seq[*batchv1.Job] { return each[*batchv1.Job](s, jobs) }

// Plans yields all plans in any order.
func (s *State) Plans() iter.Seq[*v1alpha1.Plan] { return each[*v1alpha1.Plan](s, plans) }

func each[T runtime.Object](s *State, resource string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, o := range s.kinds[resource] {
			if v, ok := o.Value.(T); ok && !yield(v) {
				return
			}
		}
	}
}

func as[T runtime.Object](o *Object) (v T, ok bool) {
	if o == nil {
		return v, false
	}
	v, ok = o.Value.(T)
	return v, ok
}

// A Finding is a violation: the check, the revision, the object, and what was found and expected.
type Finding struct {
	Check    string
	Revision int64
	Object   Key
	Message  string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: revision %d: %s: %s", f.Check, f.Revision, f.Object, f.Message)
}
