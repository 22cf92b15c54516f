package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// Whose a pod is. Labels do not say it: anybody who may create pods in one namespace could name the
// job of another there. A pod belongs to a job of its own namespace to which its controller leads:
// that of the pod, that of its Job, that of its JobSet.

// deepest is the length of the longest chain: pod, Job, JobSet, TrainJob.
const deepest = 3

// A parent is the controller of an object that is part of a job.
type parent struct{ of *metav1.OwnerReference }

// An owned is what a pod belongs to.
type owned struct {
	uid   string // of the job
	known bool   // the chain is known to its end
}

// Owner returns the uid of the job that a pod of the observation belongs to, if it names the queue;
// empty: none does. A job that had the name before is another.
func (s *Observation) Owner(p *corev1.Pod) string { return s.owners[p.UID] }

// own notes whose each pod is.
func (ob *Observer) own(ctx context.Context, s *Observation) error {
	s.owners = make(map[types.UID]string)
	parents := make(map[types.UID]parent) // that a pod still has
	for _, p := range s.AllPods {
		o, err := ob.owner(ctx, s, p, parents)
		if err != nil {
			return err
		}
		if o.uid == "" && !o.known {
			o.uid = s.marked(p)
		}
		if o.uid != "" {
			s.owners[p.UID] = o.uid
		}
	}
	ob.parents = parents
	return nil
}

// owner follows the controllers of a pod until one is a job of the queue.
func (ob *Observer) owner(ctx context.Context, s *Observation, p *corev1.Pod, parents map[types.UID]parent) (owned, error) {
	by := metav1.GetControllerOfNoCopy(p)
	for range deepest {
		if by == nil {
			return owned{known: true}, nil
		}
		if namespace, named := s.namespaces[string(by.UID)]; named {
			if namespace != p.Namespace {
				return owned{known: true}, nil
			}
			return owned{string(by.UID), true}, nil
		}
		next, known, err := ob.parent(ctx, s, p.Namespace, by, parents)
		if err != nil || !known {
			return owned{}, err
		}
		by = next
	}
	return owned{known: true}, nil
}

// parent returns the controller of an object that controls others; nil: it has none. It is not known
// of an object that watches do not show (any more).
func (ob *Observer) parent(ctx context.Context, s *Observation, namespace string, of *metav1.OwnerReference, parents map[types.UID]parent) (by *metav1.OwnerReference, known bool, err error) {
	if of.Kind == "RayCluster" {
		return s.rayJob(namespace, of.Name), true, nil
	}
	gvk, watched := ob.kind(of)
	if !watched {
		return nil, true, nil
	}
	p, seen := ob.parents[of.UID]
	if !seen {
		var o unstructured.Unstructured
		o.SetGroupVersionKind(gvk)
		if err := ob.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: of.Name}, &o); err != nil {
			return nil, false, client.IgnoreNotFound(err)
		}
		if o.GetUID() != of.UID {
			return nil, false, nil
		}
		p = parent{metav1.GetControllerOf(&o)}
	}
	parents[of.UID] = p
	return p.of, true, nil
}

// kind returns the kind of an object that controls others, if objects of that kind are watched.
func (ob *Observer) kind(of *metav1.OwnerReference) (schema.GroupVersionKind, bool) {
	g, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{}, false
	}
	for _, k := range ob.options.Kinds {
		if gvk := k.GVK(); gvk.Kind == of.Kind && gvk.Group == g.Group {
			return gvk, true
		}
	}
	return schema.GroupVersionKind{}, false
}

// rayJob returns a reference to the RayJob of the queue that has made a RayCluster; nil: none has.
// RayClusters are not watched: KubeRay names them after their RayJob, in its namespace.
func (s *Observation) rayJob(namespace, cluster string) *metav1.OwnerReference {
	name, made := jobadapter.RayJobOf(cluster)
	if !made {
		return nil
	}
	uid := s.uids[jobadapter.Key{Kind: "RayJob", Namespace: namespace, Name: name}]
	if uid == "" {
		return nil
	}
	return &metav1.OwnerReference{Kind: "RayJob", Name: name, UID: types.UID(uid)}
}

// marked returns the job that the mark of a pod names, if that is one of its namespace. It is asked
// while an object between the two is not seen (any more).
func (s *Observation) marked(p *corev1.Pod) string {
	if uid := p.Labels[v1alpha1.JobUID]; uid != "" && s.namespaces[uid] == p.Namespace {
		return uid
	}
	return ""
}

// IsOurs returns whether a pod is, or was, one of a job of the queue: also after the job is gone,
// or has opted out, if the pod has the marks that the scheduler's template gave it.
func (ob *Observer) IsOurs(s *Observation) func(p *corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		return s.Ours[s.Owner(p)] || p.Labels[v1alpha1.QueueLabel] == ob.options.Queue.Name && jobstate.Generation(p) > 0 && ob.lists(p.Namespace)
	}
}
