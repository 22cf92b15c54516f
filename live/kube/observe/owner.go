package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// A pod belongs to the job that its chain of controllers leads to, in its own namespace. Labels are no proof: a
// user could name another namespace's job there.

const deepest = 3

type parent struct{ of *metav1.OwnerReference }

type ownership struct {
	uid   string
	known bool // to its end
}

// owner returns the uid of the queue's job that has pod p, or "".
func (s *Observation) owner(p *corev1.Pod) string { return s.owners[p.UID] }

func (ob *Observer) findOwners(ctx context.Context, s *Observation) error {
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

func (ob *Observer) owner(ctx context.Context, s *Observation, p *corev1.Pod, parents map[types.UID]parent) (ownership, error) {
	by := metav1.GetControllerOfNoCopy(p)
	for range deepest {
		if by == nil {
			return ownership{known: true}, nil
		}
		if namespace, named := s.namespaces[string(by.UID)]; named {
			if namespace != p.Namespace {
				return ownership{known: true}, nil
			}
			return ownership{string(by.UID), true}, nil
		}
		next, known, err := ob.parent(ctx, s, p.Namespace, by, parents)
		if err != nil || !known {
			return ownership{}, err
		}
		by = next
	}
	return ownership{known: true}, nil
}

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

func (ob *Observer) partOf(ctx context.Context, j *jobadapter.Job) (bool, error) {
	if j.Part == nil {
		return false, nil
	}
	of := *j.Part
	if of.Kind == "RayCluster" {
		name, made := jobadapter.RayJobOf(of.Name)
		if !made {
			return false, nil
		}
		of.Kind, of.Name, of.UID = "RayJob", name, ""
	}
	gvk, watched := ob.kind(&of)
	if !watched {
		return false, nil
	}
	var o unstructured.Unstructured
	o.SetGroupVersionKind(gvk)
	err := ob.client.Get(ctx, client.ObjectKey{Namespace: j.Namespace, Name: of.Name}, &o)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return of.UID == "" || o.GetUID() == of.UID, nil
}

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

// marked is used while an object of the chain is missing.
func (s *Observation) marked(p *corev1.Pod) string {
	if uid := p.Labels[v1alpha1.JobUID]; uid != "" && s.namespaces[uid] == p.Namespace {
		return uid
	}
	return ""
}

// IsOurs returns a function that reports whether a pod belongs to a job of the queue, even if that was deleted or has
// opted out.
func (ob *Observer) IsOurs(s *Observation) func(p *corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		return s.Ours[s.owner(p)] || p.Labels[v1alpha1.QueueLabel] == ob.options.Queue.Name && jobstate.Generation(p) > 0 && ob.allows(p.Namespace)
	}
}
