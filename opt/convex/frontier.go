package convex

import "slices"

// A Frontier is the lowest mean completion time as a function of the budget, if starting and resizing jobs takes no
// time: all optima of problem (1) or (7) of BOA Constrictor. Source: BOA §4, App. B and E, Eq. 1, 6 and 7.
type Frontier struct {
	Least    float64 // smallest feasible budget
	Most     float64 // largest useful budget
	Repaired int     // epochs replaced by their concave hull, because speeds were not monotone and concave

	problem  *Problem
	vertices []vertex
	first    []int32   // by epoch; one more
	load     []float64 // ρᵢⱼ by epoch
	gain     []float64 // by epoch, per unit of ρ/s
	segments []segment
}

// A segment leads to vertex to of its epoch.
type segment struct {
	slope     float64 // mean completion time per unit of budget
	epoch, to int32
}

// A Breakpoint is a corner of the frontier, which is piecewise linear.
type Breakpoint struct {
	Budget, MeanJCT float64
	Multiplier      float64 // decrease of MeanJCT for one more unit of budget
}

// Frontier computes the lowest mean completion time as a function of the budget. The problem must not change while the
// result is in use.
func (p *Problem) Frontier() (*Frontier, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	f := &Frontier{problem: p}
	n := p.epochs()
	f.first, f.load, f.gain = make([]int32, 0, n+1), make([]float64, 0, n), make([]float64, 0, n)
	var h hull
	for i, gain := range p.gains() {
		for j := range p.Classes[i].Epochs {
			e := &p.Classes[i].Epochs[j]
			h.of(p, e.Points)
			f.take(&h, p.Classes[i].Rate*e.Size, gain)
		}
	}
	f.first = append(f.first, int32(len(f.vertices)))
	f.sort()
	return f, nil
}

func (f *Frontier) take(h *hull, load, gain float64) {
	first := len(f.vertices)
	f.vertices = h.vertices(f.vertices)
	f.first, f.load, f.gain = append(f.first, int32(first)), append(f.load, load), append(f.gain, gain)
	f.Least += load * f.vertices[first].cost
	f.Most += load * f.vertices[len(f.vertices)-1].cost
	if h.repaired {
		f.Repaired++
	}
}

// sort sorts all segments. Rounding must not reorder the segments of an epoch.
func (f *Frontier) sort() {
	f.segments = make([]segment, 0, len(f.vertices)-len(f.load))
	for e := range f.load {
		first := f.first[e]
		for to := first + 1; to < f.first[e+1]; to++ {
			a, b := f.vertices[to-1], f.vertices[to]
			slope := f.gain[e] * (a.time - b.time) / (b.cost - a.cost)
			if to > first+1 {
				slope = min(slope, f.segments[len(f.segments)-1].slope)
			}
			f.segments = append(f.segments, segment{slope, int32(e), to})
		}
	}
	slices.SortFunc(f.segments, steeper)
}

func steeper(a, b segment) int {
	switch {
	case a.slope > b.slope:
		return -1
	case a.slope < b.slope:
		return 1
	default:
		return int(a.to - b.to)
	}
}

func (f *Frontier) spend(s segment) float64 {
	return f.load[s.epoch] * (f.vertices[s.to].cost - f.vertices[s.to-1].cost)
}
