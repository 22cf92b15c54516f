package goodput

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// Node sets. Some jobs may use only some nodes of a GPU type (job.Spec.Parts). The GPUs of each such set of nodes are a
// further resource of the program. A choice uses it with the GPUs that must be on nodes of the set. If sets overlap, their
// union counts too: by Hall's theorem, demands that fit into every union of their sets fit on the nodes, one GPU at a
// time. Whether whole workers fit is up to the placer.
//
// A job that is not confined uses a set only with GPUs that it keeps there and cannot move.

// mostSets bounds the sets of a program. The placer refuses what a missing set would have ruled out.
const mostSets = 32

type nodeSet struct {
	gpuType int // index of the type
	nodes   []uint64
	gpus    float64
}

func (s *nodeSet) has(n int) bool { return s.nodes[n/64]>>(n%64)&1 == 1 }

func (s *nodeSet) includes(of []uint64) bool {
	for k := range of {
		if of[k]&^s.nodes[k] != 0 {
			return false
		}
	}
	return true
}

func overlap(a, b []uint64) bool {
	for k := range a {
		if a[k]&b[k] != 0 {
			return true
		}
	}
	return false
}

type partKey struct {
	first *cluster.NodeID
	n     int
}

// A setFinder collects the node sets of a snapshot's jobs.
type setFinder struct {
	c    *cluster.Cluster
	sets []nodeSet
	seen map[partKey][]int // the sets of a list of nodes, one for each GPU type
}

// findSets returns the sets of all jobs, and unions of sets that overlap; none if no job is confined.
func findSets(s *policy.Snapshot) *setFinder {
	f := &setFinder{c: s.Cluster, seen: make(map[partKey][]int)}
	for _, j := range s.Jobs {
		for k := range j.Parts {
			f.of(j.Parts[k].Nodes)
		}
	}
	for i := range mostSets { // unions are added at the end meanwhile
		if i >= len(f.sets) {
			break
		}
		for k := range i {
			if a, b := &f.sets[i], &f.sets[k]; a.gpuType == b.gpuType && overlap(a.nodes, b.nodes) {
				union := slices.Clone(a.nodes)
				for w := range union {
					union[w] |= b.nodes[w]
				}
				f.add(a.gpuType, union)
			}
		}
	}
	return f
}

func key(nodes []cluster.NodeID) partKey {
	if len(nodes) == 0 {
		return partKey{}
	}
	return partKey{&nodes[0], len(nodes)}
}

const (
	notFiled = -1 // the program has no resource for the set
	noNodes  = -2 // the list has no nodes of the type
)

// of returns the set of a list of nodes for each GPU type.
func (f *setFinder) of(nodes []cluster.NodeID) []int {
	if all, known := f.seen[key(nodes)]; known {
		return all
	}
	all := make([]int, len(f.c.Types()))
	for t, on := range bitsets(f.c, nodes) {
		if all[t] = noNodes; slices.ContainsFunc(on, func(word uint64) bool { return word != 0 }) {
			all[t] = f.add(t, on)
		}
	}
	f.seen[key(nodes)] = all
	return all
}

func bitsets(c *cluster.Cluster, nodes []cluster.NodeID) [][]uint64 {
	all := make([][]uint64, len(c.Types()))
	for t := range all {
		all[t] = make([]uint64, (len(c.Nodes())+63)/64)
	}
	for _, id := range nodes {
		if n, there := c.Index(id); there {
			all[c.TypeIndex(c.Nodes()[n].GPUType)][n/64] |= 1 << (n % 64)
		}
	}
	return all
}

func (f *setFinder) add(t int, nodes []uint64) int {
	at := slices.IndexFunc(f.sets, func(s nodeSet) bool { return s.gpuType == t && slices.Equal(s.nodes, nodes) })
	switch {
	case at >= 0:
		return at
	case len(f.sets) == mostSets:
		return notFiled
	}
	set := nodeSet{gpuType: t, nodes: nodes}
	for n := range f.c.Nodes() {
		if set.has(n) {
			set.gpus += float64(f.c.Nodes()[n].Capacity.GPUs)
		}
	}
	f.sets = append(f.sets, set)
	return len(f.sets) - 1
}

func sameSet(a, b nodeSet) bool { return a.gpuType == b.gpuType && slices.Equal(a.nodes, b.nodes) }

// setUses returns how many GPUs of each node set a job uses with configuration c. A job keeps its nodes if c is what it
// holds and it is pinned, confined, or has no checkpoints.
func (rs *resources) setUses(r *Row, c *configuration) (uses []mmkp.Use) {
	if len(rs.sets) == 0 {
		return nil
	}
	held := c.Configuration == r.job.Allocation.Configuration && len(r.job.Placement) > 0
	for k := range rs.sets {
		set := &rs.sets[k]
		if set.gpuType != c.resource {
			continue
		}
		n := 0
		switch {
		case held && (len(r.job.Parts) > 0 || !r.pin.IsZero() || r.job.NoCheckpoint):
			n = rs.heldOn(set, r.job)
		case !held:
			n = rs.neededOn(set, r.job, c.GPUs)
		}
		if n > 0 {
			uses = append(uses, mmkp.Use{Resource: rs.firstSet + k, Amount: float64(n)})
		}
	}
	return uses
}

func (rs *resources) heldOn(set *nodeSet, j *policy.Job) (gpus int) {
	for _, share := range j.Placement {
		if n, there := rs.cluster.Index(share.Node); there && set.has(n) {
			gpus += share.GPUs
		}
	}
	return gpus
}

func (rs *resources) neededOn(set *nodeSet, j *policy.Job, gpus int) (n int) {
	for k := range j.Parts {
		part := &j.Parts[k]
		if at := rs.setOf[key(part.Nodes)]; at != nil && at[set.gpuType] >= 0 && set.includes(rs.sets[at[set.gpuType]].nodes) {
			n += cmp.Or(part.GPUs, gpus)
		}
	}
	return min(n, gpus)
}

// holdable reports whether the nodes that job j may use are large enough for configuration c when all are empty.
func (rs *resources) holdable(j *policy.Job, c *configuration) bool {
	return !slices.ContainsFunc(j.Parts, func(p job.Part) bool {
		return rs.units(p.Nodes, c, max(1, j.WorkerGPUs)) < cmp.Or(p.GPUs, c.GPUs)
	})
}

// units returns the GPUs of nodes in whole workers.
func (rs *resources) units(nodes []cluster.NodeID, c *configuration, worker int) (gpus int) {
	at := rs.setOf[key(nodes)]
	switch {
	case at == nil || at[c.resource] == notFiled:
		return c.GPUs
	case at[c.resource] == noNodes:
		return 0
	}
	for w, word := range rs.sets[at[c.resource]].nodes {
		for ; word != 0; word &= word - 1 {
			gpus += rs.cluster.Nodes()[64*w+bits.TrailingZeros64(word)].Capacity.GPUs / worker * worker
		}
	}
	return gpus
}

// freeFor returns how many GPUs are free for row r in configuration c, by its GPU type and its node sets.
func (rs *resources) freeFor(r *Row, c *configuration) float64 {
	free := rs.free[c.resource]
	for _, u := range rs.setUses(r, c) {
		free = min(free, rs.free[u.Resource])
	}
	return free
}
