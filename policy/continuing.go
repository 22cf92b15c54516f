package policy

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// Continuing counts the GPUs of running jobs that a snapshot omits because they keep their GPUs (Traits.Keeps). The
// counts are valid for one round. Policies must not modify them.
type Continuing struct {
	// number of omitted jobs
	Jobs   int
	ByNode []int // GPUs, by node index
	ByType []int // GPUs, by type index

	used []cluster.Resources // buffer of usage
}

// usage returns the GPUs held by node, in memory that the next call reuses. s may be nil.
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

// Of returns how many GPUs of type index t the omitted jobs hold; 0 if s is nil.
func (s *Continuing) Of(t int) int {
	if s == nil {
		return 0
	}
	return s.ByType[t]
}

// On returns how many GPUs the omitted jobs hold on node index n; 0 if s is nil.
func (s *Continuing) On(n int) int {
	if s == nil {
		return 0
	}
	return s.ByNode[n]
}

// Add adds n times the GPUs of job j to the counts. n is 1 to add the job and -1 to remove it.
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

// Continues reports whether later snapshots may leave out job j after decision d, until the job's row or the nodes
// change (Traits.Keeps). The job must be preemptible, have no reservation, and keep its GPUs, all of one type, on the
// same nodes.
func (j *Job) Continues(d *Decision) bool {
	return d.Why.Kind == AsPlanned && j.Holding() && !j.NonPreemptive && j.Reservation.IsZero() &&
		d.Allocation == j.Allocation && !d.Allocation.Mixed() && keepsPlace(j, d)
}
