package rounds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
)

// A Job is the number of a job, counted by arrival. Numbers are not used again.
type job int

// edits lists the jobs that changed since the last round, in ascending order. A job is in at most one of Arrived,
// Refitted (it has new speeds) and Restarted.
type edits struct {
	Left      []job // ended
	Arrived   []job // new
	Refitted  []job
	Restarted []job // with a new Restart
}

// A Restart converts the values v of a job's configurations into worths, which include the cost of a restart.
// Configuration j is worth Base + Factor·v[j]. The configuration that the job holds, with index Kept (-1 if none),
// needs no restart and is worth Base + v[Kept]. In the symbols of the package doc, v is −g^p, Base is λ and Factor is
// r^p.
type restart struct {
	Base, Factor float64
	Kept         int
}

// Worth returns the worth of a configuration.
func (r restart) Worth(config int, value float64) float64 {
	if config == r.Kept {
		return r.Base + value
	}
	return r.Base + r.Factor*value
}

// Apply converts values to worths in place.
func (r restart) Apply(values []float64) {
	for j, v := range values {
		values[j] = r.Worth(j, v)
	}
}

// A Generator makes random rounds: jobs that arrive, change and end. Generators with equal Specs and equal calls of
// Hold make equal rounds.
type jobGenerator struct {
	spec    Spec
	configs []config
	speed   []float64    // relative, by GPU type
	jobs    []*randomJob // active, by number
	random  *rand.Rand
	arrived int
	begun   bool
}

func newGenerator(spec Spec) (*jobGenerator, error) {
	if err := spec.validate(); err != nil {
		return nil, fmt.Errorf("rounds: %w", err)
	}
	g := &jobGenerator{spec: spec, configs: spec.configs(), random: rng.Stream(spec.Seed, "rounds")}
	for k := range spec.types { // from 1 to 6, like t4 to a100
		g.speed = append(g.speed, math.Pow(6, float64(k)/float64(max(1, spec.types-1))))
	}
	return g, nil
}

// Capacity returns the number of GPUs of each type.
func (g *jobGenerator) Capacity() []int {
	b := make([]int, g.spec.types)
	for k := range b {
		b[k] = g.spec.nodes(k) * g.spec.perNode(k)
	}
	return b
}

// Question returns the part that all rounds share.
func (g *jobGenerator) Question() question {
	q := question{Configs: g.configs, Capacity: g.Capacity()}
	for k := range q.Capacity {
		q.PerNode = append(q.PerNode, g.spec.perNode(k))
	}
	return q
}

// Jobs returns the active jobs, ascending.
func (g *jobGenerator) Jobs() []job {
	all := make([]job, len(g.jobs))
	for i, m := range g.jobs {
		all[i] = job(m.id)
	}
	return all
}

// Pairs returns the number of pairs of a job and a configuration. Each pair is a variable of the relaxation.
func (g *jobGenerator) Pairs() int { return len(g.jobs) * len(g.configs) }

// Next makes the next round and returns what changed.
func (g *jobGenerator) Next() edits {
	var e edits
	if !g.begun {
		g.begun = true
		for range g.spec.Jobs {
			e.Arrived = append(e.Arrived, g.arrive())
		}
		return e
	}
	gone := g.sample(g.spec.churn)
	stay := g.jobs[:0]
	for i, m := range g.jobs {
		if len(gone) > 0 && gone[0] == i {
			gone = gone[1:]
			e.Left = append(e.Left, job(m.id))
			continue
		}
		m.age++
		stay = append(stay, m)
	}
	g.jobs = stay
	refit, aged := marks(len(stay), g.sample(g.spec.refit)), marks(len(stay), g.sample(g.spec.restart))
	for i, m := range g.jobs {
		switch {
		case refit[i]:
			m.fit(g.random)
			e.Refitted = append(e.Refitted, job(m.id))
		case m.moved || aged[i] && m.held >= 0:
			e.Restarted = append(e.Restarted, job(m.id))
		default:
			continue
		}
		m.report()
	}
	for range e.Left {
		e.Arrived = append(e.Arrived, g.arrive())
	}
	return e
}

func (g *jobGenerator) arrive() job {
	id := g.arrived
	g.arrived++
	g.jobs = append(g.jobs, draw(rng.Stream(g.spec.Seed, fmt.Sprintf("rounds/job-%d", id)), id, g.spec.types, g.speed))
	return job(id)
}

func (g *jobGenerator) sample(share float64) []int {
	n := int(math.Round(share * float64(len(g.jobs))))
	chosen := g.random.Perm(len(g.jobs))[:n]
	slices.Sort(chosen)
	return chosen
}

func marks(n int, at []int) []bool {
	m := make([]bool, n)
	for _, i := range at {
		m[i] = true
	}
	return m
}

func (g *jobGenerator) find(id job) *randomJob {
	i, ok := slices.BinarySearchFunc(g.jobs, int(id), func(m *randomJob, id int) int { return m.id - id })
	if !ok {
		panic("rounds: the job is not active")
	}
	return g.jobs[i]
}

// Values returns the value −g^p of each configuration for a job, from −1 to 0. It reuses dst, and takes 30 ns per
// configuration.
func (g *jobGenerator) Values(id job, dst []float64) []float64 {
	m := g.find(id)
	least := g.least(m)
	dst = dst[:0]
	for _, c := range g.configs {
		dst = append(dst, value(m.goodput(c, g.spec.perNode(c.Type))/least))
	}
	return dst
}

func value(goodput float64) float64 { return -math.Pow(goodput, power) }

func (g *jobGenerator) least(m *randomJob) float64 {
	if m.least == 0 {
		m.least = math.Inf(1)
		for _, c := range g.configs {
			m.least = min(m.least, m.goodput(c, g.spec.perNode(c.Type)))
		}
	}
	return m.least
}

// Worth returns how much a configuration is worth to a job, in the objective of the package doc, including the cost of
// a restart.
func (g *jobGenerator) Worth(id job, config int) float64 {
	m := g.find(id)
	c := g.configs[config]
	return m.published.Worth(config, value(m.goodput(c, g.spec.perNode(c.Type))/g.least(m)))
}

// Restart returns the conversion from values to worths as of the last Edits that listed the job.
func (g *jobGenerator) Restart(id job) restart { return g.find(id).published }

// Hold sets the configuration that a job holds; -1 means none. Replacing one configuration by another counts as a
// restart.
func (g *jobGenerator) Hold(id job, config int) {
	m := g.find(id)
	if config == m.held {
		return
	}
	if m.held >= 0 {
		m.restarts++
	}
	m.held, m.moved = config, true
}
