package whatif

import (
	"fmt"
	"iter"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A changeVisitor is called with a change and the snapshot in which only that is changed. It
// reports whether to go on with the next change.
type changeVisitor func(Change, *policy.Snapshot) bool

// changes yields the changes for the job at an index, from cheap to expensive.
func changes(s *policy.Snapshot, at int) iter.Seq2[Change, *policy.Snapshot] {
	base := *s
	base.Computed = nil // belongs to another policy
	s = &base
	return func(yield func(Change, *policy.Snapshot) bool) {
		_ = yield(Change{Kind: NoChange}, s) &&
			fewer(s, at, yield) && otherTypes(s, at, yield) && gentler(s, at, yield) &&
			larger(s, at, yield) && emptier(s, at, yield)
	}
}

// with returns a copy of the snapshot in which a job's specification is changed.
func with(s *policy.Snapshot, at int, change func(*job.Spec)) *policy.Snapshot {
	then, row, spec := *s, *s.Jobs[at], *s.Jobs[at].Spec
	change(&spec)
	row.Spec = &spec
	then.Jobs = slices.Clone(s.Jobs)
	then.Jobs[at] = &row
	return &then
}

// fewer yields the snapshots in which the job asks for half of its GPUs, half of that, and so
// on down to 1.
func fewer(s *policy.Snapshot, at int, yield changeVisitor) bool {
	j := s.Jobs[at]
	asks := max(1, j.GPUs)
	if j.Adaptivity.Has(job.GPUCount) {
		asks = max(1, j.MinGPUs)
	}
	for asks > 1 {
		asks /= 2
		then := with(s, at, func(spec *job.Spec) {
			spec.MinGPUs = min(spec.MinGPUs, asks)
			if !spec.Adaptivity.Has(job.GPUCount) {
				spec.GPUs = asks
			}
		})
		if !yield(Change{Kind: FewerGPUs, GPUs: asks}, then) {
			return false
		}
	}
	return true
}

// otherTypes yields the snapshots in which the job may use one more GPU type of the cluster.
func otherTypes(s *policy.Snapshot, at int, yield changeVisitor) bool {
	for _, t := range s.Cluster.Types() {
		j := s.Jobs[at]
		if j.Eligible(t.Type) || j.GPUsPerReplica != nil {
			continue
		}
		then := with(s, at, func(spec *job.Spec) { spec.GPUTypes = append(slices.Clone(spec.GPUTypes), t.Type) })
		if !yield(Change{Kind: AnotherType, Type: t.Type}, then) {
			return false
		}
	}
	return true
}

// gentler yields the snapshots in which the job has checkpoints or may be preempted.
func gentler(s *policy.Snapshot, at int, yield changeVisitor) bool {
	j := s.Jobs[at]
	if j.NoCheckpoint && !yield(Change{Kind: Checkpoints}, with(s, at, func(spec *job.Spec) { spec.NoCheckpoint = false })) {
		return false
	}
	return !j.NonPreemptive || yield(Change{Kind: Preemptible}, with(s, at, func(spec *job.Spec) { spec.NonPreemptive = false }))
}

// larger yields the snapshots in which the cluster has 1, 2, 4 and so on more GPUs of a type
// that the job may use, up to twice as many as it has.
func larger(s *policy.Snapshot, at int, yield changeVisitor) bool {
	most := 0
	for _, t := range s.Cluster.Types() {
		if s.Jobs[at].Eligible(t.Type) {
			most = max(most, t.GPUs)
		}
	}
	for n := 1; n <= most; n *= 2 {
		for _, t := range s.Cluster.Types() {
			if n > t.GPUs || !s.Jobs[at].Eligible(t.Type) {
				continue
			}
			then := *s
			then.Cluster = grown(s.Cluster, &t, n)
			if then.Cluster != nil && !yield(Change{Kind: MoreGPUs, GPUs: n, Type: t.Type}, &then) {
				return false
			}
		}
	}
	return true
}

// grown returns a cluster with a number of additional GPUs of a type. They are on nodes no
// larger than the present ones, and each has the GPU-proportional share of CPUs and memory. It
// returns nil if there is no such cluster.
func grown(c *cluster.Cluster, t *cluster.TypeInfo, gpus int) *cluster.Cluster {
	nodes := slices.Clone(c.Nodes())
	like := nodes[slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.GPUType == t.Type })]
	for i := 0; gpus > 0; i++ {
		n := like
		n.ID, n.Tenure = cluster.NodeID(fmt.Sprintf("%s more-%d", t.Type, i)), cluster.Owned
		n.Capacity.GPUs = min(gpus, t.PerNode)
		if n.Capacity.CPUs, n.Capacity.Memory = 0, 0; t.Counts() {
			n.Capacity.CPUs, n.Capacity.Memory = float64(n.Capacity.GPUs)*t.Share.CPUs, int64(n.Capacity.GPUs)*t.Share.Memory
		}
		gpus -= n.Capacity.GPUs
		nodes = append(nodes, n)
	}
	more, err := cluster.New(nodes)
	if err != nil {
		return nil
	}
	return more
}

// emptier yields the snapshots without one of the jobs that hold GPUs, those that end soonest
// first.
func emptier(s *policy.Snapshot, at int, yield changeVisitor) bool {
	for _, gone := range holders(s, at) {
		then := *s
		then.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), func(j *policy.Job) bool { return j == gone })
		if !yield(Change{Kind: OneEnds, Job: gone.ID, In: endsIn(s, gone)}, &then) {
			return false
		}
	}
	return true
}
