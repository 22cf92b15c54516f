package schedulertest

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func (a *Auditor) shown(s *policy.Snapshot) {
	if shown := s.Computed != nil; shown != a.computed {
		a.complain("round %d: shows what was computed: %t, want %t", s.Round, shown, a.computed)
	}
	a.computed = false
	live := 0
	for _, j := range a.jobs {
		if !j.over {
			live++
		}
	}
	if len(s.Jobs) != live {
		a.complain("round %d: the snapshot shows %d jobs, want %d", s.Round, len(s.Jobs), live)
	}
	for _, row := range s.Jobs {
		j := a.live(row.ID, row)
		if j != nil && (row.Allocation != j.allocation || !row.Placement.Equal(j.placement)) {
			a.complain("job %s: shown with %v on %v, want what it holds, %v on %v",
				row.ID, row.Allocation, row.Placement, j.allocation, j.placement)
		}
	}
}

func (a *Auditor) act(actions []scheduler.Action) {
	for _, act := range actions {
		switch act := act.(type) {
		case scheduler.Preempt:
			if j := a.live(act.Job, act); j != nil {
				a.preempt(j)
			}
		case scheduler.Run:
			if j := a.live(act.Job, act); j != nil {
				a.run(j, &act)
			}
		case scheduler.Profile:
			a.live(act.Job, act)
		case scheduler.Compute:
			if a.thinks {
				a.complain("background work is asked for, want none while one is under way")
			}
			a.thinks = true
		case scheduler.Provision, scheduler.Return: // see rent
		}
	}
}

func (a *Auditor) rent(s *policy.Snapshot, actions []scheduler.Action) {
	for _, act := range actions {
		switch act := act.(type) {
		case scheduler.Provision:
			if most, known := offered(s, act.Group); !known || act.Nodes < 0 || act.Nodes > most {
				a.complain("group %s: %d nodes asked for, want no more than are offered", act.Group, act.Nodes)
			}
		case scheduler.Return:
			for _, id := range act.Nodes {
				a.returned(s, id)
			}
		}
	}
}

func offered(s *policy.Snapshot, g cluster.Group) (most int, known bool) {
	for i := range s.Rentals {
		if s.Rentals[i].Group == g {
			return s.Rentals[i].Most, true
		}
	}
	for i := range s.Loans {
		if s.Loans[i].Group == g {
			return s.Loans[i].Lent + s.Loans[i].Spare, true
		}
	}
	return 0, false
}

func (a *Auditor) returned(s *policy.Snapshot, id cluster.NodeID) {
	if i, ok := s.Cluster.Index(id); !ok || s.Cluster.Nodes()[i].Tenure == cluster.Owned {
		a.complain("node %s: given back, want one that is rented or lent, and there", id)
	}
	for _, row := range s.Jobs {
		if j := a.jobs[row.ID]; j != nil && slices.ContainsFunc(j.placement, func(s cluster.Share) bool { return s.Node == id }) {
			a.complain("node %s: given back, want none that job %s is on", id, row.ID)
		}
	}
}

func (a *Auditor) preempt(j *audited) {
	if j.spec.NonPreemptive {
		a.complain("job %s: preempted, want it to stay on %v: it is non-preemptive", j.spec.ID, j.placement)
	}
	if !j.holding() {
		a.complain("job %s: preempted while it holds nothing", j.spec.ID)
	}
	j.save()
	j.hold(a.now, cluster.Allocation{}, nil)
}

func (a *Auditor) run(j *audited, act *scheduler.Run) {
	j.ran = a.now
	if act.InPlace(j.allocation, j.placement) {
		j.allocation, j.placement = act.Allocation, act.Placement
		return // other CPUs, memory or batch size on the same GPUs
	}
	if j.holding() && j.spec.NonPreemptive {
		a.complain("job %s: moved to %v, want it to stay on %v: it is non-preemptive", j.spec.ID, act.Placement, j.placement)
	}
	a.gang(j.spec, act)
	if !act.Resized {
		j.save()
	}
	j.hold(a.now, act.Allocation, act.Placement)
}

func (a *Auditor) gang(s *job.Spec, act *scheduler.Run) {
	c := act.Allocation.Configuration
	if placed, want := act.Placement.GPUs(), act.Allocation.AllGPUs(); placed != want || c.GPUs < 1 {
		a.complain("job %s: placed on %d GPUs, want its gang of %d", s.ID, placed, want)
	}
	switch {
	case act.Allocation.Mixed():
		a.mixed(s, &act.Allocation)
		return
	case !s.Reservation.IsZero():
		if c != s.Reservation {
			a.complain("job %s: runs on %v, want its reservation %v", s.ID, c, s.Reservation)
		}
		return
	}
	least, most := s.Min(c.GPUType), s.Most(c.GPUType)
	if !s.Adaptivity.Has(job.GPUCount) {
		least, most = s.Requested(c.GPUType), s.Requested(c.GPUType)
	}
	if c.GPUs < least || most > 0 && c.GPUs > most || c.GPUs%s.ReplicaGPUs(c.GPUType) != 0 {
		a.complain("job %s: runs on %d GPUs, want at least %d, at most %d (0: any), whole replicas of %d",
			s.ID, c.GPUs, least, most, s.ReplicaGPUs(c.GPUType))
	}
	if !s.Eligible(c.GPUType) {
		a.complain("job %s: runs on GPU type %s, which it may not use", s.ID, c.GPUType)
	}
}

func (a *Auditor) mixed(s *job.Spec, got *cluster.Allocation) {
	least, most := float64(max(1, s.MinGPUs)), float64(s.MaxGPUs)
	if !s.Adaptivity.Has(job.GPUCount) {
		least, most = float64(max(1, s.GPUs)), float64(max(1, s.GPUs))
	}
	if n := s.Worth(got); n < least || most > 0 && n > most {
		a.complain("job %s: runs on %v, worth %g GPUs, want at least %g, at most %g (0: any)", s.ID, *got, n, least, most)
	}
	may := s.Adaptivity.Has(job.Heterogeneous) && s.Reservation.IsZero() && s.Eligible(got.GPUType) && s.Eligible(got.Also.GPUType)
	if !may || got.GPUType == got.Also.GPUType {
		a.complain("job %s: runs on %v, want one GPU type, or two that it may use at once", s.ID, *got)
	}
}

func (a *Auditor) capacity(s *policy.Snapshot) {
	nodes := s.Cluster.Nodes()
	used := make([]cluster.Resources, len(nodes))
	for _, row := range s.Jobs {
		j := a.jobs[row.ID]
		if j == nil {
			continue
		}
		for _, share := range j.placement {
			i, ok := s.Cluster.Index(share.Node)
			if !ok || !j.allocation.Has(nodes[i].GPUType) || share.GPUs < 1 {
				a.complain("job %s: holds %d GPUs of node %s, want GPUs of %v that are there", row.ID, share.GPUs, share.Node, j.allocation)
				continue
			}
			used[i].GPUs += share.GPUs
			used[i].CPUs += share.CPUs
			used[i].Memory += share.Memory
		}
	}
	for i, u := range used {
		has := &nodes[i].Capacity
		if u.GPUs > has.GPUs {
			a.complain("node %s: %d GPUs are held, want at most %d", nodes[i].ID, u.GPUs, has.GPUs)
		}
		if t, _ := s.Cluster.Type(nodes[i].GPUType); t.Counts() && (u.CPUs > has.CPUs*(1+1e-9) || u.Memory > has.Memory) {
			a.complain("node %s: %g CPUs and %d bytes are held, want at most %g and %d", nodes[i].ID, u.CPUs, u.Memory, has.CPUs, has.Memory)
		}
	}
}

func (a *Auditor) planned(s *policy.Snapshot, p *policy.Plan) {
	if len(p.Jobs) != len(s.Jobs) {
		a.complain("round %d: %d decisions for %d jobs", s.Round, len(p.Jobs), len(s.Jobs))
		return
	}
	for i, row := range s.Jobs {
		j, d := a.jobs[row.ID], &p.Jobs[i]
		if j != nil && (j.allocation != d.Allocation || !j.placement.Equal(d.Placement)) {
			a.complain("job %s: holds %v on %v, want what was planned, %v on %v",
				row.ID, j.allocation, j.placement, d.Allocation, d.Placement)
		}
	}
}

func (a *Auditor) reservations(s *policy.Snapshot, p *policy.Plan) {
	pinned := make(map[cluster.GPUType]int)
	for i, row := range s.Jobs {
		if !row.Reservation.IsZero() && i < len(p.Jobs) && p.Jobs[i].Why.Kind == policy.Evicted {
			pinned[row.Reservation.GPUType] += row.Reservation.GPUs // planned for, but not placed
		}
		if j := a.jobs[row.ID]; j != nil && (j.spec.NonPreemptive || !j.spec.Reservation.IsZero()) {
			pinned[j.allocation.GPUType] += j.allocation.GPUs
			pinned[j.allocation.Also.GPUType] += j.allocation.Also.GPUs
		}
	}
	for i, row := range s.Jobs {
		want := row.Reservation
		if want.IsZero() || row.Phase == job.Profiling || i >= len(p.Jobs) || p.Jobs[i].Why.Kind == policy.Evicted {
			continue
		}
		j := a.jobs[row.ID]
		info, _ := s.Cluster.Type(want.GPUType)
		room := pinned[want.GPUType]+want.GPUs <= info.GPUs-p.Returned(s.Cluster, want.GPUType) && want.Nodes <= info.Nodes && want.GPUs <= want.Nodes*info.PerNode
		if j != nil && !j.holding() && room {
			a.complain("job %s: holds nothing, want its reservation %v: %d of %d GPUs are taken by such as it",
				row.ID, want, pinned[want.GPUType], info.GPUs)
		}
	}
}
