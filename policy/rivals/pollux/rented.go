package pollux

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type rentedNodes struct {
	s         *policy.Snapshot
	rental    *cluster.Rental // the scaled group: the first
	whole     *cluster.Cluster
	rank      map[cluster.NodeID]int // the lowest is kept longest
	ready     int
	pinned    int // with jobs that keep their GPUs
	least     int
	reserving bool // a reservation waits
}

func newRentedNodes(s *policy.Snapshot, least int) (*rentedNodes, error) {
	f := &rentedNodes{s: s, rental: &s.Rentals[0], rank: make(map[cluster.NodeID]int)}
	f.reserving = slices.ContainsFunc(s.Jobs, func(j *policy.Job) bool { return !j.Reservation.IsZero() && !j.Holding() })
	f.order()
	nodes := slices.Clone(s.Cluster.Nodes())
	for i := 0; len(f.rank) < f.rental.Most; i++ {
		n := f.rental.Node
		n.ID = cluster.NodeID(fmt.Sprintf("%s: %d to come", f.rental.Group, i))
		if _, taken := s.Cluster.Index(n.ID); !taken {
			f.rank[n.ID] = len(f.rank)
			nodes = append(nodes, n)
		}
	}
	var err error
	if f.whole, err = cluster.New(nodes); err != nil {
		return nil, fmt.Errorf("offer of group %s: %w", f.rental.Group, err)
	}
	f.least = f.fewest(least)
	return f, nil
}

func (f *rentedNodes) order() {
	used, fixed := make(map[cluster.NodeID]int), make(map[cluster.NodeID]bool)
	for _, j := range f.s.Jobs {
		for _, share := range j.Placement {
			used[share.Node] += share.GPUs
			fixed[share.Node] = fixed[share.Node] || j.NonPreemptive || !j.Reservation.IsZero()
		}
	}
	var rented []cluster.NodeID
	for _, n := range f.s.Cluster.Nodes() {
		if n.Tenure != cluster.Rented || n.Group != f.rental.Group {
			continue
		}
		rented = append(rented, n.ID)
		if fixed[n.ID] {
			used[n.ID] += n.Capacity.GPUs
			f.pinned++
		}
	}
	slices.SortStableFunc(rented, func(a, b cluster.NodeID) int { return cmp.Compare(used[b], used[a]) })
	for i, id := range rented {
		f.rank[id] = i
	}
	f.ready = len(rented)
}

func (f *rentedNodes) fewest(least int) int {
	most := f.rental.Most
	others := len(f.whole.Nodes()) - len(f.rank)
	n := min(max(least-others, f.pinned, 0), most)
	never := f.stuck(most)
	return n + sort.Search(most-n, func(more int) bool { return f.stuck(n+more) <= never })
}

func (f *rentedNodes) stuck(n int) int {
	r := &round{types: f.view(n).Cluster.Types()}
	reserved := make([]int, len(r.types))
	count := 0
	for _, j := range f.s.Jobs {
		want := j.Reservation
		kind := r.reservable(want)
		switch {
		case want.IsZero() && slices.Contains(r.usable(j), true):
		case kind >= 0 && reserved[kind]+want.GPUs <= r.types[kind].GPUs:
			reserved[kind] += want.GPUs
		default:
			count++
		}
	}
	return count
}

func (f *rentedNodes) view(n int) *policy.Snapshot {
	if n == f.ready {
		return f.s
	}
	v := *f.s
	v.Cluster = f.whole.Without(func(id cluster.NodeID) bool {
		rank, rented := f.rank[id]
		return rented && rank >= n
	})
	return &v
}

func (f *rentedNodes) shown(v *policy.Snapshot) int {
	return len(v.Cluster.Nodes()) - (len(f.whole.Nodes()) - len(f.rank))
}

func (f *rentedNodes) encourage(plan *policy.Plan) {
	r := &round{types: f.view(max(f.ready, f.rental.Most)).Cluster.Types()}
	for i, j := range f.s.Jobs {
		why := &plan.Jobs[i].Why
		if why.Kind != policy.Impossible {
			continue
		}
		want := j.Reservation
		if kind := slices.Index(r.usable(j), true); want.IsZero() && kind >= 0 {
			want = r.types[kind].Fewest(least(j, r.types[kind].Type))
		}
		if r.reservable(want) >= 0 {
			*why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(f.idle(plan, want.GPUType)), Limit: float64(want.GPUs)}
		}
	}
}

func (f *rentedNodes) idle(plan *policy.Plan, t cluster.GPUType) int {
	info, _ := f.s.Cluster.Type(t)
	for i := range plan.Jobs {
		if a := &plan.Jobs[i].Allocation; a.GPUType == t {
			info.GPUs -= a.GPUs
		}
	}
	return info.GPUs
}
