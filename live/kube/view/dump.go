package view

import (
	"context"
	"errors"
	"fmt"
)

// A part of a dump: what kubectl lists.
type part struct {
	resource string
	needed   bool // without it there is nothing to simulate
}

// dumped are the parts of a dump, as package trace reads them.
var dumped = []part{
	{"jobs.batch", true},
	{"jobsets.jobset.x-k8s.io", false},
	{"trainjobs.trainer.kubeflow.org", false},
	{"rayjobs.ray.io", false},
	{"workloads.kueue.x-k8s.io", false},
	{"clusterqueues.kueue.x-k8s.io", false},
	{"localqueues.kueue.x-k8s.io", false},
	{"resourceflavors.kueue.x-k8s.io", false},
	{"pods", false},
	{"nodes", true},
}

// Dump returns lists of all that is known of the cluster's jobs, one after another, and says
// of what it lacks why. Kinds that the cluster does not have are left out in silence.
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
