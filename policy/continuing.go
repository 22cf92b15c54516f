package policy

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// Continuing is what is held by the jobs that a snapshot leaves out, because they keep what they hold: see
// Traits.Keeps. It holds for one round, and nobody but the scheduler changes it.
type Continuing struct {
	Jobs   int
	ByNode []int // GPUs, by the node's place in the cluster
	ByType []int // GPUs, by the type's place among the types of the cluster

	used []cluster.Resources // memory of usage
}

// usage returns what continuing jobs hold by node, in memory that the next call uses again; nothing of n nodes if s
// is nil.
func (s *Continuing) usage(n int) []cluster.Resources {
	if s == nil {
		return make([]cluster.Resources, n)
	}
	s.used = slices.Grow(s.used[:0], n)[:n]
	for at, gpus := range s.ByNode {
		s.used[at] = cluster.Resources{GPUs: gpus}
	}
	return s.used
}

// Of returns the GPUs that continuing jobs hold of a type, by its place; 0 if s is nil.
func (s *Continuing) Of(t int) int {
	if s == nil {
		return 0
	}
	return s.ByType[t]
}

// On returns the GPUs that continuing jobs hold of a node, by its place; 0 if s is nil.
func (s *Continuing) On(n int) int {
	if s == nil {
		return 0
	}
	return s.ByNode[n]
}

// Add counts one more job and where it is, on nodes of c; with n = -1, one less.
func (s *Continuing) Add(c *cluster.Cluster, j *Job, n int) {
	s.Jobs += n
	for _, share := range j.Placement {
		if at, ok := c.Index(share.Node); ok {
			s.ByNode[at] += n * share.GPUs
		}
	}
	for t, info := range c.Types() {
		if info.Type == j.Allocation.GPUType {
			s.ByType[t] += n * j.Allocation.GPUs
		}
	}
}

// Continues reports whether j, which got d, may be left out of later snapshots, as long as neither its row nor
// the nodes change, under a policy with Traits.Keeps: it keeps the GPUs of one type that it holds, where they
// are, and nothing obliges the policy to let it. Reservations come before other jobs.
func (j *Job) Continues(d *Decision) bool {
	return d.Why.Kind == AsPlanned && j.Holding() && !j.NonPreemptive && j.Reservation.IsZero() &&
		d.Allocation == j.Allocation && !d.Allocation.Mixed() && keepsPlace(j, d)
}
