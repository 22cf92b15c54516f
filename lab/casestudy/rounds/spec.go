package rounds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A Spec describes random rounds: the cluster, its jobs, and how many jobs change in each round.
type Spec struct {
	gpus  int // in the cluster
	types int // with equal shares of the GPUs
	// PerNode is the GPUs per node of each type; the list repeats if it is shorter. Empty means 8.
	PerNode []int
	Jobs    int     // active at a time
	churn   float64 // share of jobs that end and are replaced
	refit   float64 // share of jobs that get new speeds
	// restart is the share of jobs with GPUs whose restart cost changes, because they are older.
	restart float64
	Seed    uint64
}

// narrow gives 10,000 GPUs 3,586 configurations, so that 1,400 jobs have 5.0 million pairs. With nodes of 8 it
// takes 4,000 jobs.
var narrow = []int{2, 2, 2, 2, 4, 8, 8}

// NewSpec describes rounds on a cluster of gpus GPUs. For the sizes in the table, the number of jobs is published or
// measured; otherwise there is one job per seven GPUs. In each round 1 % of the jobs end, 10 % get new speeds, and a
// third get a new restart cost.
//
//	GPUs     jobs    per node          pairs of job and configuration
//	64       100     8                 2,900
//	2,048    800     8                 221,600
//	10,000   1,400   2,2,2,2,4,8,8     5.02 million
//	25,000   3,500   8                 11.0 million (thesis §4.5: "over 11-million")
//	100,000  14,000  8                 175 million
func NewSpec(gpus int) Spec {
	s := Spec{gpus: gpus, types: 7, Jobs: max(1, gpus*14/100), churn: 0.01, refit: 0.10, restart: 1.0 / 3, Seed: 1}
	switch gpus {
	case 64:
		s.Jobs = 100
	case 2_048:
		s.Jobs = 800
	case 10_000:
		s.PerNode = narrow
	}
	return s
}

func (s *Spec) validate() error {
	var all []error
	if s.types < 1 {
		all = append(all, fmt.Errorf("types %d, want at least 1", s.types))
	}
	if s.Jobs < 1 {
		all = append(all, fmt.Errorf("jobs %d, want at least 1", s.Jobs))
	}
	for _, n := range s.PerNode {
		if n < 1 {
			all = append(all, fmt.Errorf("GPUs per node %d, want at least 1", n))
		}
	}
	for _, share := range []struct {
		name  string
		value float64
	}{{"churn", s.churn}, {"refit", s.refit}, {"restart", s.restart}} {
		if !(share.value >= 0 && share.value <= 1) {
			all = append(all, fmt.Errorf("%s %v, want a share in 0 to 1", share.name, share.value))
		}
	}
	if len(all) == 0 {
		for k := range s.types {
			if s.nodes(k) < 1 {
				all = append(all, fmt.Errorf("%d GPUs for %d types: type %d has no node of %d", s.gpus, s.types, k, s.perNode(k)))
			}
		}
	}
	return errors.Join(all...)
}

func (s *Spec) perNode(k int) int {
	if len(s.PerNode) == 0 {
		return 8
	}
	return s.PerNode[k%len(s.PerNode)]
}

func (s *Spec) nodes(k int) int {
	left := s.gpus
	for t := range s.types {
		left -= s.gpus / s.types / s.perNode(t) * s.perNode(t)
	}
	for t := range s.types {
		if left < s.perNode(t) {
			continue
		}
		left -= s.perNode(t)
		if t == k {
			return s.gpus/s.types/s.perNode(k) + 1
		}
	}
	return s.gpus / s.types / s.perNode(k)
}

type config struct{ Type, GPUs int }

// configs returns powers of two within a node, then whole nodes. Source: Sia §3.3.3.
func (s *Spec) configs() []config {
	var all []config
	for k := range s.types {
		for n := 1; n < s.perNode(k); n *= 2 {
			all = append(all, config{k, n})
		}
		for m := range s.nodes(k) {
			all = append(all, config{k, (m + 1) * s.perNode(k)})
		}
	}
	return all
}

// As in the simulations of Sia §3.4.
const (
	power   = -0.5 // p: of goodput
	penalty = 1.1  // λ
)

type randomJob struct {
	id      int
	seconds []float64 // of a step, by GPU type
	phi     float64   // noise scale over the batch of one GPU
	local   float64   // seconds of synchronisation within a node
	across  float64   // seconds of synchronisation between nodes
	growth  float64   // additional time per GPU
	belief  belief
	least   float64 // 0 if unknown

	restarts  int
	cost      float64 // S, in rounds
	age       float64 // in rounds: T
	held      int     // configuration, or -1
	moved     bool
	published restart // as of the last Edits with the job
}

type belief struct {
	phi     float64
	seconds []float64
}

// draw returns a new job.
//
// Its goodput on n GPUs is n/(s + c + γn) × (φ+1)/(φ+n), with step time s, synchronisation time c, and γ per GPU.
// The second factor is the efficiency (φ+M₀)/(φ+M) at batches M = n M₀. It peaks at n = √(φ(s+c)/γ). Four of five
// jobs peak between 8 and 500 GPUs of their fastest type, with φ 0.1 to 2 times that; the others have γ = 0.
// Source: Sia Eqs. 3.1, 3.2.
func draw(r *rand.Rand, id, types int, speed []float64) *randomJob {
	m := &randomJob{id: id, seconds: make([]float64, types), held: -1, published: free}
	for k := range m.seconds {
		m.seconds[k] = math.Exp(0.3*r.NormFloat64()) / speed[k]
	}
	m.phi = logUniform(r, 5, 2_000)
	m.local = 0.1 * r.Float64()
	m.across = m.local + 0.1*r.Float64()
	if peak := logUniform(r, 8, 500); r.Float64() < 0.8 {
		m.phi = peak * logUniform(r, 0.1, 2)
		m.growth = m.phi * (slices.Min(m.seconds) + m.across) / (peak * peak)
	}
	m.cost = logUniform(r, 0.2, 3)
	m.age = logUniform(r, 1, 500)
	m.restarts = int(r.ExpFloat64() * math.Log(m.age+1))
	m.belief.seconds = make([]float64, types)
	m.fit(r)
	return m
}

func logUniform(r *rand.Rand, low, up float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(up/low))
}

func (m *randomJob) fit(r *rand.Rand) {
	m.least = 0
	m.belief.phi = m.phi * math.Exp(0.05*r.NormFloat64())
	for k, s := range m.seconds {
		m.belief.seconds[k] = s * math.Exp(0.03*r.NormFloat64())
	}
}

func (m *randomJob) goodput(c config, perNode int) float64 {
	n := float64(c.GPUs)
	wait := 0.0
	switch {
	case c.GPUs > perNode:
		wait = m.across + m.growth*n
	case c.GPUs > 1:
		wait = m.local + m.growth*n
	}
	return n / ((m.belief.seconds[c.Type] + wait) * (m.belief.phi + n))
}

func (m *randomJob) report() {
	m.moved = false
	m.published = free
	if m.held >= 0 {
		m.published.Factor, m.published.Kept = math.Pow(m.restart(), power), m.held
	}
}

var free = restart{Base: penalty, Factor: 1, Kept: -1}

// restart returns r = (T − N S)/(T + S), kept above 0. Source: Sia §3.3.4, Eq. 3.3.
func (m *randomJob) restart() float64 {
	return max(0.05, (m.age-float64(m.restarts)*m.cost)/(m.age+m.cost))
}
