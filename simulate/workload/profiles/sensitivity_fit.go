package profiles

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/perf"
)

// A matrix is the measured sensitivity of one application on one GPU. Rates do not fall with more CPUs or
// memory.
type matrix struct {
	cpus   []float64   // per GPU, ascending
	memory []int64     // bytes per GPU, ascending
	rates  [][]float64 // samples per second, by CPUs, then memory
	first  int         // index in memory of the least with which the job runs
	demand int64       // bytes with which the job should run well; 0: unknown
}

func (m *matrix) rate() float64 { return m.fastest(len(m.memory) - 1) }

func (m *matrix) fastest(column int) float64 { return m.rates[len(m.cpus)-1][column] }

// fit returns the CPU curve with the most memory, and the cache that explains the rates with less.
func (m *matrix) fit() perf.Sensitivity {
	s := perf.Sensitivity{CPUs: m.curve()}
	s.Working = m.working()
	bound := m.first
	for m.fastest(bound) < m.rate() {
		bound++
	}
	if bound == m.first {
		return s
	}
	s.Dataset, s.Storage = m.cache(s.Working, bound)
	cached := perf.Sensitivity{Input: s.Input}
	if cached.Rate(0, m.memory[bound]) < m.rate() { // it must not slow down more jobs than measured
		s.Dataset, s.Storage = m.cache(s.Working, bound+1)
	}
	return s
}

func (m *matrix) curve() []perf.CPURate {
	var points []perf.CPURate
	last := len(m.memory) - 1
	for i, cpus := range m.cpus {
		points = append(points, perf.CPURate{CPUs: cpus, Rate: m.rates[i][last]})
		if m.rates[i][last] == m.rate() {
			break
		}
	}
	return points
}

// working returns the least memory with which the job is known to run: demand, if it is below the first
// column that runs and above the last that does not; else that column.
func (m *matrix) working() int64 {
	least := int64(0)
	if m.first > 0 {
		least = m.memory[m.first-1]
	}
	if m.demand > least && m.demand < m.memory[m.first] {
		return m.demand
	}
	return m.memory[m.first]
}

// cache fits the dataset beyond working (bytes) and the storage (samples per second) to the columns
// before end, by least squares of relative error. Misses pass through storage, so the seconds per sample
// are linear in memory: storage⁻¹ (1 - (memory - working) / dataset). A single column is extended to the
// next, in which everything is cached. Source: Synergy §3.1.
func (m *matrix) cache(working int64, end int) (dataset int64, storage float64) {
	var n, sx, sy, sxx, sxy float64
	for j := m.first; j < max(end, m.first+2); j++ {
		x, rate := float64(m.memory[j]-working), m.fastest(j)
		w := rate * rate
		n, sx, sy, sxx, sxy = n+w, sx+w*x, sy+w/rate, sxx+w*x*x, sxy+w*x/rate
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	at := (sy - slope*sx) / n
	storage = 1 / at
	if rate := m.fastest(m.first); m.memory[m.first] == working && math.Abs(storage/rate-1) < rounding {
		storage = rate // no cell may need more than was measured
	}
	if slope >= 0 { // not faster with more memory: nothing is cached
		return mostBytes, storage
	}
	return int64(math.Min(mostBytes, -at/slope*(1+1e-12))), storage // whole bytes despite rounding
}

const rounding = 1e-9

const mostBytes = 1 << 60

// tolerance is the accepted error of the fit in a cell. Source: Synergy §3.1, "within 3% of the
// empirical results".
const tolerance = 0.03

func (m *matrix) worst(s *perf.Sensitivity) (i, j int, off float64) {
	for a := range m.cpus {
		for b := m.first; b < len(m.memory); b++ {
			got := math.Min(m.rate(), s.Rate(m.cpus[a], m.memory[b]))
			if d := math.Abs(got/m.rates[a][b] - 1); d > off {
				i, j, off = a, b, d
			}
		}
	}
	return i, j, off
}

func (m *matrix) fed(name string) (*fedApplication, error) {
	f := &fedApplication{Name: name, Input: m.fit()}
	if i, j, off := m.worst(&f.Input); off > tolerance {
		return nil, fmt.Errorf("tput[%d][%d]: %.1f %% from a CPU curve and a cache that keeps a fixed part of the data, want at most %g %%: measure with such a cache", i, j, 100*off, 100*tolerance)
	}
	return f, nil
}
