package view

import (
	"context"
	"errors"
	"fmt"
)

type part struct {
	resource string
	needed   bool // a simulation is impossible without it
}

var dumped = []part{
	{"jobs.batch", true},
	{"jobsets.jobset.x-k8s.io", false},
	{"trainjobs.trainer.kubeflow.org", false},
	{"rayjobs.ray.io", false},
	{"rayclusters.ray.io", false},
	{"jobs.batch.volcano.sh", false},
	{"pytorchjobs.kubeflow.org", false},
	{"mpijobs.kubeflow.org", false},
	{"tfjobs.kubeflow.org", false},
	{"jaxjobs.kubeflow.org", false},
	{"leaderworkersets.leaderworkerset.x-k8s.io", false},
	{"workloads.kueue.x-k8s.io", false},
	{"clusterqueues.kueue.x-k8s.io", false},
	{"localqueues.kueue.x-k8s.io", false},
	{"resourceflavors.kueue.x-k8s.io", false},
	{"pods", false},
	{"nodes", true},
}

// Dump returns the lists of all kinds of objects, concatenated. lacks describes kinds that the user may not list.
func (k *Kubectl) Dump(ctx context.Context) (text []byte, lacks []string, err error) {
	for _, p := range dumped {
		list, err := k.Get(ctx, p.resource, "-A", "-o", "json")
		switch {
		case err == nil:
			text = append(text, list...)
		case errors.Is(err, ErrForbidden) && !p.needed:
			lacks = append(lacks, fmt.Sprintf("%s: %v", p.resource, err))
		case !errors.Is(err, ErrNoKind):
			return nil, nil, err
		}
	}
	return text, lacks, nil
}
