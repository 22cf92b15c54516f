package view

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

type cluster struct {
	policy  common
	objects []object
	pods    []pod
	parents map[string]string // of each object's controller, by uid
	rays    map[string]string // uid by namespace/name
	listed  map[string]bool   // listed job kinds, or missing in the cluster
	hidden  []string          // kinds that the user may not list
}

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

const unended = "status.phase!=Succeeded,status.phase!=Failed"

func scope(namespace string) []string {
	if namespace == "" {
		return []string{"-A"}
	}
	return []string{"-n", namespace}
}

func unseen(err error) bool {
	return errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoKind) || errors.Is(err, ErrNotFound)
}

type common struct {
	Resource string   `json:"gpuResource"`
	Labels   []string `json:"gpuTypeLabels"`
	Types    []struct {
		Product string `json:"product"`
		Name    string `json:"name"`
	} `json:"gpuTypes"`
}

func (k *Kubectl) common(ctx context.Context) common {
	p, err := get[struct {
		Spec common `json:"spec"`
	}](ctx, k, "clusterpolicies.oxgang.dev", "default")
	var c common
	if err == nil {
		c = p.Spec
	}
	c.Resource = cmp.Or(c.Resource, "nvidia.com/gpu")
	if len(c.Labels) == 0 {
		c.Labels = []string{"nvidia.com/gpu.product"}
	}
	return c
}

func (o *object) part() bool {
	return slices.Contains([]string{"JobSet", "TrainJob", "RayJob", "RayCluster"}, o.Meta.controller().Kind)
}

const deepest = 3

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

const raySuffix = 6
