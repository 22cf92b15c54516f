package rounds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/usage"
	"github.com/oxgang/oxgang/opt/engine"
)

var infinite = math.Inf(1)

// A Measurement has the time and the quality of one engine's solution in one round. Times are CPU times, or wall-clock
// times if the system reports no CPU times. They exclude the computation of a job's values.
type Measurement struct {
	Engine string
	Round  int // from 0; round 0 builds the program
	jobs   int
	pairs  int

	edit, solve, shim time.Duration
	longest           time.Duration // of the longest part of pop:K

	value      float64 // total worth of the chosen configurations
	bound      float64 // proven by this engine
	best       float64 // smaller of bound and the bound of engine price
	gap        float64 // (best - value) / |best|
	violation  float64 // relative excess over the GPUs of a type; 0
	residual   float64 // relative excess over a constraint in the relaxed solution
	iterations int
	status     string

	served     int // jobs with GPUs
	fractional int // jobs with several configurations in the relaxed solution
	ones       int // relaxed values equal to 1
	between    int // relaxed values between 0 and 1
	changed    int // relaxed values that changed, of jobs in both rounds
	added      int // pairs of new jobs
	removed    int // pairs of jobs that ended
	heapBytes  uint64
}

// Total returns the time of the whole round: editing, solving and rounding (Shim).
func (m *Measurement) Total() time.Duration { return m.edit + m.solve + m.shim }

// A Study states which rounds are solved, and by which engines.
type Study struct {
	Spec    Spec
	Engines []string // names: see Kinds
	Rounds  int      // measured, after warmUp
}

// warmUp is the number of first rounds that summaries omit. Round 0 builds the program; in round 1 jobs hold GPUs for
// the first time.
const warmUp = 2

// Validate returns all errors, joined.
func (s Study) Validate() error {
	all := []error{s.Spec.validate()}
	if len(s.Engines) == 0 || s.Rounds < 1 {
		all = append(all, fmt.Errorf("%d engines, %d rounds, want at least one of each", len(s.Engines), s.Rounds))
	}
	for i, name := range s.Engines {
		if _, err := find(name); err != nil {
			all = append(all, err)
		}
		if slices.Contains(s.Engines[:i], name) {
			all = append(all, fmt.Errorf("engine %s is listed twice", name))
		}
	}
	return errors.Join(all...)
}

// Run solves every round with each engine in turn. It returns the measurements by engine, then round, and passes each
// to report as soon as it exists. Each engine continues from its own choices.
func (s Study) Run(ctx context.Context, report func(Measurement)) ([]Measurement, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var all []Measurement
	for _, name := range s.Engines {
		k, err := find(name)
		if err != nil {
			return nil, err
		}
		r, err := newRun(s.Spec, k)
		if err != nil {
			return nil, err
		}
		for round := range warmUp + s.Rounds {
			m, err := r.round(ctx, round)
			if err != nil {
				return nil, fmt.Errorf("engine %s, round %d: %w", k.Name, round, err)
			}
			r.hold(r.picks)
			all = append(all, m)
			if report != nil {
				report(m)
			}
		}
	}
	return all, nil
}

type run struct {
	kind     kind
	g        *jobGenerator
	question question
	engine   roundEngine
	judge    roundEngine // engine price, for its bound; may be nil
	base     uint64      // live heap before
	picks    []int
	last     map[job][]weight
	buffer   []row
}

func newRun(spec Spec, k kind) (*run, error) {
	g, err := newGenerator(spec)
	if err != nil {
		return nil, err
	}
	r := &run{kind: k, g: g, question: g.Question(), last: map[job][]weight{}}
	if !k.Proves {
		if r.judge, err = newPrice(r.question); err != nil {
			return nil, err
		}
	}
	r.base = liveHeap()
	if r.engine, err = k.make(r.question); err != nil {
		return nil, fmt.Errorf("engine %s: %w", k.Name, err)
	}
	return r, nil
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (r *run) round(ctx context.Context, t int) (m Measurement, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	e := r.g.Next()
	m = Measurement{Engine: r.kind.Name, Round: t, pairs: r.g.Pairs(), added: len(e.Arrived) * len(r.question.Configs), removed: len(e.Left) * len(r.question.Configs)}
	if m.best, err = r.judgeBound(ctx, e); err != nil {
		return m, err
	}
	if m.edit, err = r.edit(e); err != nil { // 1. edits
		return m, err
	}
	runtime.GC()
	began := usage.ProcessTime()
	a, err := r.engine.Solve(ctx) // 2. the relaxation
	if err != nil {
		return m, err
	}
	m.solve = usage.ProcessTime() - began
	jobs := r.g.Jobs()
	weights := make([][]weight, len(jobs))
	began = usage.ProcessTime()
	for i, id := range jobs { // 3. choices
		weights[i] = a.Weights(id, nil)
	}
	r.picks = shim(weights, r.question.Configs, r.question.Capacity)
	m.shim = usage.ProcessTime() - began
	if a.Prove != nil {
		a.Bound, a.Violation = a.Prove()
	}
	m.longest, m.bound, m.residual, m.iterations, m.status = a.Longest, a.Bound, a.Violation, a.Iterations, a.Status
	r.composition(&m, jobs, weights)
	if a.Fractional >= 0 {
		m.fractional = a.Fractional
	}
	r.value(&m, jobs)
	m.best = min(m.best, m.bound)
	m.gap = (m.best - m.value) / math.Abs(m.best)
	if live := liveHeap(); live > r.base {
		m.heapBytes = live - r.base
	}
	runtime.KeepAlive(r.engine)
	return m, nil
}

func (r *run) judgeBound(ctx context.Context, e edits) (float64, error) {
	if r.judge == nil {
		return infinite, nil
	}
	if err := apply(r.judge, r.g, e); err != nil {
		return 0, err
	}
	a, err := r.judge.Solve(ctx)
	if err != nil {
		return 0, err
	}
	return a.Bound, nil
}

const batchValues = 1 << 20

func (r *run) edit(e edits) (spent time.Duration, err error) {
	news := slices.Concat(e.Refitted, e.Arrived)
	if r.kind.Rebuilt {
		began := usage.ProcessTime()
		r.engine = nil
		if r.engine, err = r.kind.make(r.question); err != nil {
			return 0, err
		}
		spent += usage.ProcessTime() - began
		e, news = edits{}, r.g.Jobs()
	}
	began := usage.ProcessTime()
	for _, id := range e.Left {
		if err := r.engine.Remove(id); err != nil {
			return 0, err
		}
	}
	spent += usage.ProcessTime() - began
	for _, part := range []struct {
		jobs []job
		news bool
	}{{e.Restarted, false}, {news, true}} {
		for jobs := range slices.Chunk(part.jobs, max(1, batchValues/len(r.question.Configs))) {
			took, err := r.set(jobs, part.news)
			if err != nil {
				return 0, err
			}
			spent += took
		}
	}
	return spent, nil
}

func (r *run) set(jobs []job, news bool) (time.Duration, error) {
	for len(r.buffer) < len(jobs) {
		r.buffer = append(r.buffer, row{})
	}
	for i, id := range jobs {
		r.buffer[i] = row{Values: r.g.Values(id, r.buffer[i].Values), Restart: r.g.Restart(id), News: news}
	}
	began := usage.ProcessTime()
	for i, id := range jobs {
		if err := r.engine.Set(id, r.buffer[i]); err != nil {
			return 0, err
		}
	}
	return usage.ProcessTime() - began, nil
}

func (r *run) composition(m *Measurement, jobs []job, weights [][]weight) {
	next := make(map[job][]weight, len(jobs))
	for i, id := range jobs {
		split := false
		for _, w := range weights[i] {
			if w.X >= 1-engine.Tiny {
				m.ones++
			} else {
				m.between++
				split = true
			}
		}
		if split {
			m.fractional++
		}
		if last, ok := r.last[id]; ok {
			m.changed += differences(last, weights[i])
		}
		next[id] = weights[i]
	}
	r.last = next
}

func differences(a, b []weight) int {
	n := 0
	weight := func(of []weight, config int) float64 {
		for _, w := range of {
			if w.Choice == config {
				return w.X
			}
		}
		return 0
	}
	for _, w := range a {
		if math.Abs(w.X-weight(b, w.Choice)) > engine.Tiny {
			n++
		}
	}
	for _, w := range b {
		if weight(a, w.Choice) == 0 {
			n++
		}
	}
	return n
}

func (r *run) value(m *Measurement, jobs []job) {
	m.jobs = len(jobs)
	used := make([]int, len(r.question.Capacity))
	for i, id := range jobs {
		c := r.picks[i]
		if c < 0 {
			continue
		}
		m.served++
		m.value += r.g.Worth(id, c)
		used[r.question.Configs[c].Type] += r.question.Configs[c].GPUs
	}
	for k, n := range r.question.Capacity {
		m.violation = max(m.violation, float64(used[k]-n)/float64(n))
	}
}

func (r *run) hold(picks []int) {
	for i, id := range r.g.Jobs() {
		r.g.Hold(id, picks[i])
	}
}

// A Weight is the fraction of a job that a relaxed solution assigns to the configuration with index Choice.
type weight = engine.Weight

// shim rounds a fractional solution: it returns the index of one configuration per job, or -1, such that all fit into
// capacity (GPUs by type). It sorts weights in place. See engine.Shim.
func shim(weights [][]weight, configs []config, capacity []int) []int {
	left := slices.Clone(capacity)
	return engine.Shim(weights, nil, func(_, choice int) bool {
		c := configs[choice]
		if c.GPUs > left[c.Type] {
			return false
		}
		left[c.Type] -= c.GPUs
		return true
	})
}
