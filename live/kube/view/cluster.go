package view

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// A cluster is what exists of jobs: their objects, those that these made, and all pods.
type cluster struct {
	policy  common
	objects []object
	pods    []pod
	parents map[string]string // uid of the controller of each object, by uid
	rays    map[string]string // uid of each RayJob, by namespace/name
	listed  map[string]bool   // kinds of job that were listed, or that the cluster does not have
	hidden  []string          // kinds of job that the user may not list
}

// cluster returns what exists in a namespace, in all if it is empty. A kind that the cluster does
// not have, or that the user may not list, is left out; without pods there is an error.
func (k *Kubectl) cluster(ctx context.Context, namespace string) (*cluster, error) {
	where := scope(namespace)
	all, err := list[pod](ctx, k, slices.Concat([]string{"pods"}, where, []string{"--field-selector", unended})...)
	if err != nil {
		return nil, err
	}
	c := &cluster{policy: k.common(ctx), pods: all, parents: make(map[string]string), rays: make(map[string]string), listed: make(map[string]bool)}
	for _, of := range kinds {
		objects, err := list[object](ctx, k, slices.Concat([]string{of.resource}, where)...)
		if err != nil && !unseen(err) {
			return nil, err
		}
		if c.listed[of.kind] = !errors.Is(err, ErrForbidden); !c.listed[of.kind] {
			c.hidden = append(c.hidden, of.resource)
		}
		for i := range objects {
			o := &objects[i]
			o.Kind = of.kind
			c.parents[o.Meta.UID] = o.Meta.controller().UID
			if of.kind == "RayJob" {
				c.rays[o.Meta.Namespace+"/"+o.Meta.Name] = o.Meta.UID
			}
		}
		c.objects = append(c.objects, objects...)
	}
	return c, nil
}

// unended selects the pods that have not ended, which are the ones that use something.
const unended = "status.phase!=Succeeded,status.phase!=Failed"

// scope returns the flags of kubectl for a namespace, for all if it is empty.
func scope(namespace string) []string {
	if namespace == "" {
		return []string{"-A"}
	}
	return []string{"-n", namespace}
}

// unseen reports whether an error says that the user may not see something, or that there is none.
func unseen(err error) bool {
	return errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoKind) || errors.Is(err, ErrNotFound)
}

// common is what the ClusterPolicy says of GPUs.
type common struct {
	Resource string   `json:"gpuResource"`
	Labels   []string `json:"gpuTypeLabels"`
	Types    []struct {
		Product string `json:"product"`
		Name    string `json:"name"`
	} `json:"gpuTypes"`
}

// common returns what the ClusterPolicy says, or how NVIDIA calls things.
func (k *Kubectl) common(ctx context.Context) common {
	p, err := get[struct {
		Spec common `json:"spec"`
	}](ctx, k, "clusterpolicies.oxgang.dev", "default")
	var c common
	if err == nil { // there may be none
		c = p.Spec
	}
	c.Resource = cmp.Or(c.Resource, "nvidia.com/gpu")
	if len(c.Labels) == 0 {
		c.Labels = []string{"nvidia.com/gpu.product"}
	}
	return c
}

// part reports whether an object is part of another job.
func (o *object) part() bool {
	return slices.Contains([]string{"JobSet", "TrainJob", "RayJob", "RayCluster"}, o.Meta.controller().Kind)
}

// deepest is the length of the longest chain of controllers: pod, Job, JobSet, TrainJob.
const deepest = 3

// owners returns the uids of all objects that a pod is part of, from the inside out.
func (c *cluster) owners(p *pod) []string {
	by := p.Meta.controller()
	if by.Kind == "RayCluster" && len(by.Name) > raySuffix { // KubeRay names it after its RayJob
		return []string{c.rays[p.Meta.Namespace+"/"+by.Name[:len(by.Name)-raySuffix]]}
	}
	var all []string
	for uid := by.UID; uid != "" && len(all) < deepest; uid = c.parents[uid] {
		all = append(all, uid)
	}
	return all
}

// raySuffix is what KubeRay adds to the name of a RayJob: a dash and five others.
const raySuffix = 6
