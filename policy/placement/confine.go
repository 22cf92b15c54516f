package placement

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Confine places the jobs of plan p that may use only some nodes (job.Spec.Parts). Placers call it first, and place the
// other jobs around them. Without such jobs it does nothing.
//
//  1. A confined job with the same GPUs as before stays where it is. All other jobs also stay for now.
//  2. The other confined jobs have their turn: by priority, then the jobs with the fewest nodes, then the largest. Each
//     takes idle GPUs of its nodes, first on nodes that few others need.
//  3. If too few are idle, jobs that can run elsewhere leave its nodes. They must have checkpoints, and there must be
//     room for all of them on other nodes.
//  4. If that fails too, the job keeps what it holds (policy.KeptNoPlace), or gets nothing (policy.Evicted).
//
// A job placed here gets at most the CPUs and memory in proportion to its GPUs, so that its neighbours keep theirs.
//
// Cost: linear in jobs and nodes, plus the nodes for each job in step 2.
func Confine(s *policy.Snapshot, p *policy.Plan) {
	c := confiner{s: s, p: p}
	if c.list(); len(c.todo) == 0 {
		return
	}
	c.count()
	slices.SortStableFunc(c.todo, c.order)
	for _, i := range c.todo {
		if !c.place(i, c.room) && !c.displace(i) {
			c.refuse(i)
		}
	}
}

type confiner struct {
	s    *policy.Snapshot
	p    *policy.Plan
	room *Room
	todo []int // confined jobs without a place
	need []int // by node: jobs of todo that may use it
}

func (c *confiner) list() {
	if !slices.ContainsFunc(c.s.Jobs, func(j *policy.Job) bool { return len(j.Parts) > 0 }) {
		return
	}
	c.room = NewRoom(c.s.Cluster)
	for n := range c.room.free {
		c.room.free[n].GPUs -= c.s.Continuing.On(n)
	}
	for i, j := range c.s.Jobs {
		d := &c.p.Jobs[i]
		switch {
		case d.Allocation.IsZero() || d.Allocation.Mixed():
			continue
		case len(j.Parts) == 0:
			c.room.Take(gpusOnly(c.where(i)))
			continue
		case stays(j, d):
			d.Allocation, d.Placement = j.Allocation, j.Placement
		}
		if len(d.Placement) > 0 && c.valid(i) {
			c.room.Take(gpusOnly(d.Placement))
			continue
		}
		d.Placement, c.todo = nil, append(c.todo, i)
	}
}

// where returns the nodes of an unconfined job that are known: the nodes that the policy chose, or on which it stays.
func (c *confiner) where(i int) cluster.Placement {
	j, d := c.s.Jobs[i], &c.p.Jobs[i]
	switch {
	case len(d.Placement) > 0:
		return d.Placement
	case d.Allocation.SameGPUs(&j.Allocation):
		return j.Placement
	}
	return kept(j, d)
}

func stays(j *policy.Job, d *policy.Decision) bool {
	return len(d.Placement) == 0 && d.Allocation.SameGPUs(&j.Allocation) && len(j.Placement) > 0
}

func (c *confiner) valid(i int) bool {
	j := c.s.Jobs[i]
	return !slices.ContainsFunc(c.p.Jobs[i].Placement, func(s cluster.Share) bool {
		_, there := c.s.Cluster.Index(s.Node)
		return !there || !j.MayUse(s.Node) && !j.On(s.Node)
	})
}

func (c *confiner) count() {
	c.need = make([]int, len(c.s.Cluster.Nodes()))
	for _, i := range c.todo {
		for _, part := range c.s.Jobs[i].Parts {
			for _, id := range part.Nodes {
				if n, there := c.s.Cluster.Index(id); there {
					c.need[n]++
				}
			}
		}
	}
}

func (c *confiner) order(a, b int) int {
	x, y := c.s.Jobs[a], c.s.Jobs[b]
	return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(len(x.Parts[0].Nodes), len(y.Parts[0].Nodes)),
		cmp.Compare(c.p.Jobs[b].Allocation.GPUs, c.p.Jobs[a].Allocation.GPUs))
}

// place finds nodes for a confined job in a room, and takes them. Its part with the fewest nodes chooses first.
func (c *confiner) place(i int, room *Room) bool {
	j, d := c.s.Jobs[i], &c.p.Jobs[i]
	all := kept(j, d)
	if !room.Holds(all) {
		return false
	}
	room.Take(all)
	left := d.Allocation.GPUs - all.GPUs()
	parts := slices.Clone(j.Parts)
	slices.SortStableFunc(parts, func(a, b job.Part) int { return cmp.Compare(len(a.Nodes), len(b.Nodes)) })
	for _, part := range parts {
		gpus := left
		if part.GPUs > 0 {
			gpus = min(left, part.GPUs)
		}
		where, ok := room.Place(Want{Type: d.Allocation.GPUType, GPUs: gpus, Unit: unit(c.s, c.p, i), Rank: c.rank(part.Nodes)})
		if !ok {
			break
		}
		all, left = append(all, where...), left-gpus
	}
	if left > 0 {
		room.Give(all)
		return false
	}
	all.Sort()
	c.put(d, merge(all))
	return true
}

// kept returns the GPUs that a job does not leave, because it changes its size while it trains.
func kept(j *policy.Job, d *policy.Decision) (all cluster.Placement) {
	if !j.Resizes || !j.Holding() || j.Allocation.GPUType != d.Allocation.GPUType {
		return nil
	}
	left, worker := d.Allocation.GPUs, max(1, j.WorkerGPUs)
	for _, share := range j.Placement {
		if n := min(left, share.GPUs) / worker * worker; n > 0 {
			all = append(all, cluster.Share{Node: share.Node, Resources: cluster.Resources{GPUs: n}})
			left -= n
		}
	}
	return all
}

func (c *confiner) rank(nodes []cluster.NodeID) func(int) int {
	return func(n int) int {
		if _, found := slices.BinarySearch(nodes, c.s.Cluster.Nodes()[n].ID); !found {
			return -1
		}
		return c.need[n]
	}
}

func (c *confiner) put(d *policy.Decision, where cluster.Placement) {
	a := &d.Allocation
	each := cluster.Resources{CPUs: a.CPUs / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs)}
	if t, ok := c.s.Cluster.Type(a.GPUType); ok && t.Counts() {
		each.CPUs, each.Memory = min(each.CPUs, t.Share.CPUs), min(each.Memory, t.Share.Memory)
	}
	for k := range where {
		where[k].CPUs, where[k].Memory = float64(where[k].GPUs)*each.CPUs, int64(where[k].GPUs)*each.Memory
	}
	if d.Placement = where; d.Why.Kind == policy.AboveShare {
		d.Why.Kind, d.Why.Value = policy.AsPlanned, 0
	}
	settle(a, where)
}

// mostLeaving bounds the jobs that displace tries to move for one confined job.
const mostLeaving = 64

// displace places a confined job on nodes that other jobs can leave, because there is room for them elsewhere.
func (c *confiner) displace(i int) bool {
	d := &c.p.Jobs[i]
	room, before := c.room.clone(), *d
	all := c.leaving(i)
	for n, other := range all {
		room.Give(gpusOnly(c.where(other)))
		if !c.place(i, room) {
			continue
		}
		if c.move(all[:n+1], room) {
			c.room = room
			return true
		}
		room.Give(gpusOnly(d.Placement))
		*d = before
	}
	return false
}

// move finds other nodes for jobs whose GPUs room counts as free, unless they can stay. It changes nothing if one finds
// no nodes.
func (c *confiner) move(all []int, room *Room) bool {
	where := make([]cluster.Placement, len(all))
	for k, i := range all {
		if now := c.where(i); room.Holds(gpusOnly(now)) {
			room.Take(gpusOnly(now))
			continue
		}
		var ok bool
		a := &c.p.Jobs[i].Allocation
		if where[k], ok = room.Place(Want{Type: a.GPUType, GPUs: a.GPUs, Unit: unit(c.s, c.p, i)}); !ok {
			for k, i := range all[:k] {
				if where[k] == nil {
					where[k] = c.where(i)
				}
				room.Give(gpusOnly(where[k]))
			}
			return false
		}
	}
	for k, i := range all {
		if where[k] != nil {
			c.put(&c.p.Jobs[i], where[k])
		}
	}
	return true
}

// leaving returns the unconfined jobs on the nodes of job i that may move: first jobs that hold nothing yet, then
// the smallest.
func (c *confiner) leaving(i int) (all []int) {
	for k, j := range c.s.Jobs {
		d := &c.p.Jobs[k]
		if len(j.Parts) > 0 || d.Allocation.IsZero() || d.Allocation.Mixed() || !c.leaves(j, d) {
			continue
		}
		if slices.ContainsFunc(c.where(k), func(s cluster.Share) bool { return c.s.Jobs[i].MayUse(s.Node) }) {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.holds(a), c.holds(b)), cmp.Compare(c.p.Jobs[a].Allocation.GPUs, c.p.Jobs[b].Allocation.GPUs))
	})
	return all[:min(len(all), mostLeaving)]
}

func (c *confiner) leaves(j *policy.Job, d *policy.Decision) bool {
	if !j.Holding() {
		return j.Reservation.IsZero()
	}
	return j.Phase == job.Running && !j.NoCheckpoint && !j.NonPreemptive && !j.Resizes && j.Reservation.IsZero() && d.Why.Kind != policy.PinnedNonPreempt
}

func (c *confiner) holds(i int) int { return c.s.Jobs[i].Allocation.GPUs }

// refuse takes the allocation of a job without a place back. If the job holds fewer GPUs of the type, it keeps these.
func (c *confiner) refuse(i int) {
	j, d := c.s.Jobs[i], &c.p.Jobs[i]
	granted := d.Allocation.Configuration
	*d = policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: granted}}
	if j.Holding() && j.Allocation.GPUType == granted.GPUType && j.Allocation.GPUs <= granted.GPUs && c.room.Holds(gpusOnly(j.Placement)) {
		c.room.Take(gpusOnly(j.Placement))
		d.Allocation, d.Placement, d.Why.Kind = j.Allocation, j.Placement, policy.KeptNoPlace
	}
}

// gpusOnly returns placement p without CPUs and memory, which Confine does not count.
func gpusOnly(p cluster.Placement) cluster.Placement {
	q := slices.Clone(p)
	for k := range q {
		q[k].CPUs, q[k].Memory = 0, 0
	}
	return q
}
