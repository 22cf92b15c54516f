package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A profile is the number of free GPUs of a type over time, as running jobs end.
type profile []step

// A step states that free GPUs are free from the time in on, counted from now. In the argument ends of newProfile, free
// is instead the number of GPUs that become free at in.
type step struct {
	in   time.Duration
	free int
}

func newProfile(free int, ends []step) profile {
	slices.SortStableFunc(ends, func(a, b step) int { return cmp.Compare(a.in, b.in) })
	p := profile{{0, free}}
	for _, e := range ends {
		free += e.free
		if last := &p[len(p)-1]; last.in == e.in {
			last.free = free
			continue
		}
		p = append(p, step{e.in, free})
	}
	return p
}

// earliest returns the earliest time, from now, from which the given number of GPUs is free for the duration lasts. ok
// is false if there is none.
func (p profile) earliest(gpus int, lasts time.Duration) (in time.Duration, ok bool) {
	from := -1
	for k, s := range p {
		switch {
		case from >= 0 && s.in >= p[from].in+lasts:
			return p[from].in, true
		case s.free < gpus:
			from = -1
		case from < 0:
			from = k
		}
	}
	if from < 0 {
		return 0, false
	}
	return p[from].in, true
}

func (p *profile) take(gpus int, in, lasts time.Duration) {
	first, last := p.cut(in), p.cut(in+lasts)
	for k := first; k < last; k++ {
		(*p)[k].free -= gpus
	}
}

func (p *profile) cut(in time.Duration) int {
	k, found := slices.BinarySearchFunc(*p, in, func(s step, in time.Duration) int { return cmp.Compare(s.in, in) })
	if !found {
		*p = slices.Insert(*p, k, step{in, (*p)[k-1].free})
	}
	return k
}

// Demand returns the GPUs that job j requests, with the CPUs and memory from which it gains no more speed. These are
// for the GPU type that j holds, or else for its fastest type. If no type can run j, Demand returns only GPUs. Source:
// Synergy §3.2, "Job demand vector".
func Demand(s *policy.Snapshot, j *policy.Job) cluster.Resources {
	t, _ := home(s, j)
	if t == nil {
		return cluster.Resources{GPUs: grant.Requested(j)}
	}
	a := grant.Gang(j, t)
	if t.Counts() {
		cells := grant.Cells(j, t, a.Configuration, (a.GPUs+a.Nodes-1)/a.Nodes)
		best := cells[len(cells)-1]
		a.CPUs, a.Memory = float64(a.GPUs)*best.CPUs, int64(a.GPUs)*best.Memory
	}
	return cluster.Resources{GPUs: a.GPUs, CPUs: a.CPUs, Memory: a.Memory}
}

// home returns the GPU type that j holds, or else its fastest, and its estimated goodput there; nil
// if none can run it.
func home(s *policy.Snapshot, j *policy.Job) (best *cluster.TypeInfo, fastest float64) {
	types := s.Cluster.Types()
	for i := range types {
		t := &types[i]
		if !grant.Usable(j, t) || j.Holding() && j.Allocation.GPUType != t.Type {
			continue
		}
		if v := grant.Goodput(j, grant.Gang(j, t)); best == nil || v > fastest {
			best, fastest = t, v
		}
	}
	return best, fastest
}
