package perf

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Sensitivity states how fast input data can reach one GPU of a job, depending on CPUs and host memory per GPU. The
// slower of two stages limits the speed: the CPUs, and storage with its cache. Source: Synergy §3.1.
type Sensitivity struct {
	// CPUs is the rate at which CPUs prepare samples if all data is cached, ascending. If empty, CPUs do not
	// matter.
	CPUs []CPURate
	// Input has the effect of memory: a cache of a fixed part of the dataset (MinIO).
	job.Input
}

// A CPURate is the speed of a job measured with one number of CPUs.
type CPURate struct {
	CPUs float64 // per GPU, more than 0
	Rate float64 // samples per second and GPU
}

// Rate returns the samples per second that one GPU receives with cpus CPUs and memory bytes of host memory. Between
// measured CPU counts it is interpolated; below them it is proportional to cpus, above them constant. Cache misses
// limit it. It is 0 if the job needs more memory, and infinite if nothing limits it. Source: Synergy §3.1.
func (s *Sensitivity) Rate(cpus float64, memory int64) float64 {
	if memory < s.Working {
		return 0
	}
	return math.Min(s.prepared(cpus), s.delivered(memory))
}

func (s *Sensitivity) prepared(cpus float64) float64 {
	n := len(s.CPUs)
	if n == 0 {
		return math.Inf(1)
	}
	if cpus >= s.CPUs[n-1].CPUs {
		return s.CPUs[n-1].Rate
	}
	i := 0
	for s.CPUs[i].CPUs <= cpus {
		i++
	}
	before := CPURate{}
	if i > 0 {
		before = s.CPUs[i-1]
	}
	w := (cpus - before.CPUs) / (s.CPUs[i].CPUs - before.CPUs)
	return before.Rate + w*(s.CPUs[i].Rate-before.Rate)
}

func (s *Sensitivity) delivered(memory int64) float64 {
	if s.Dataset <= 0 || s.Storage <= 0 {
		return math.Inf(1)
	}
	missed := 1 - float64(memory-s.Working)/float64(s.Dataset)
	if missed <= 0 {
		return math.Inf(1)
	}
	return s.Storage / missed
}

func (s *Sensitivity) needs(rate float64) int64 {
	if s.Dataset <= 0 || s.Storage <= 0 || rate <= s.Storage {
		return s.Working
	}
	m := s.Working + int64(math.Ceil(float64(s.Dataset)*(1-s.Storage/rate)))
	for s.delivered(m) < rate { // rounding
		m++
	}
	return m
}

// A Cell is one entry of a job's sensitivity matrix: CPUs and memory per GPU, and the speed with them.
type Cell struct {
	CPUs   float64 // per GPU
	Memory int64   // bytes per GPU
	Rate   float64 // samples per second and GPU
}

// Cells returns the amounts of CPUs and memory per GPU worth giving to a job, by ascending speed. Each gives at least
// the speed of the proportional share, and no cheaper amount is as fast. rate is the samples per second of a GPU that
// never waits for input, share is the proportional share of a GPU, and most is the largest amount per GPU.
//
// CPUs are at measured points, and memory is the minimum that suffices. The first cell is within the share, unless the
// job cannot run with its share; then all cells need more, and there may be none. Without a CPU curve, CPUs stay at the
// share; without an Input, memory does.
func (s *Sensitivity) Cells(rate float64, share, most cluster.Resources) []Cell {
	fair := math.Min(rate, s.Rate(share.CPUs, share.Memory))
	cells := []Cell{}
	if fair > 0 {
		cells = append(cells, s.least(fair, share))
	}
	for _, r := range s.levels(rate, share, most) {
		if c, ok := s.cell(r, most); ok && r > fair*(1+1e-9) {
			cells = append(cells, c)
		}
	}
	for i := range cells {
		if len(s.CPUs) == 0 {
			cells[i].CPUs = share.CPUs
		}
		if s.Input == (job.Input{}) {
			cells[i].Memory = share.Memory
		}
	}
	return pareto(cells)
}

func (s *Sensitivity) least(rate float64, share cluster.Resources) Cell {
	c := Cell{CPUs: share.CPUs, Memory: min(share.Memory, s.needs(rate)), Rate: rate}
	if len(s.CPUs) == 0 {
		c.CPUs = 0
	}
	for _, p := range s.CPUs {
		if p.Rate >= rate*(1-1e-12) {
			c.CPUs = min(c.CPUs, p.CPUs)
			break
		}
	}
	return c
}

// levels returns the rates at measured CPU points and at whole multiples of the share's memory.
func (s *Sensitivity) levels(rate float64, share, most cluster.Resources) []float64 {
	levels := []float64{rate}
	for _, p := range s.CPUs {
		levels = append(levels, math.Min(rate, p.Rate))
	}
	for m := share.Memory; m > 0 && m <= most.Memory && !math.IsInf(s.delivered(m), 1); m += share.Memory {
		levels = append(levels, math.Min(rate, s.delivered(m)))
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

func (s *Sensitivity) cell(rate float64, most cluster.Resources) (Cell, bool) {
	c := Cell{Memory: s.needs(rate), Rate: rate}
	if len(s.CPUs) > 0 {
		i := slices.IndexFunc(s.CPUs, func(p CPURate) bool { return p.Rate >= rate*(1-1e-12) })
		if i < 0 {
			return Cell{}, false
		}
		c.CPUs = s.CPUs[i].CPUs
	}
	return c, c.CPUs <= most.CPUs && c.Memory <= most.Memory
}

func pareto(cells []Cell) []Cell {
	slices.SortStableFunc(cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Rate, b.Rate), -cmp.Compare(a.CPUs, b.CPUs), -cmp.Compare(a.Memory, b.Memory))
	})
	kept := cells[:0]
	for i, c := range cells {
		if !slices.ContainsFunc(cells[i+1:], func(d Cell) bool { return d.CPUs <= c.CPUs && d.Memory <= c.Memory }) {
			kept = append(kept, c)
		}
	}
	return kept
}
