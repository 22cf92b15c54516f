package rounds

import (
	"math"
	"math/rand/v2"
	"slices"
)

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
	published Restart // as of the last Edits with the job
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

func (m *randomJob) goodput(c Config, perNode int) float64 {
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

var free = Restart{Base: penalty, Factor: 1, Kept: -1}

// restart returns r = (T − N S)/(T + S), kept above 0. Source: Sia §3.3.4, Eq. 3.3.
func (m *randomJob) restart() float64 {
	return max(0.05, (m.age-float64(m.restarts)*m.cost)/(m.age+m.cost))
}
