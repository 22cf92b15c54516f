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
	Jobs   int
	Pairs  int

	Edit, Solve, Shim time.Duration
	Longest           time.Duration // of the longest part of pop:K

	Value      float64 // total worth of the chosen configurations
	Bound      float64 // proven by this engine
	Best       float64 // smaller of Bound and the bound of engine price
	Gap        float64 // (Best - Value) / |Best|
	Violation  float64 // relative excess over the GPUs of a type; 0
	Residual   float64 // relative excess over a constraint in the relaxed solution
	Iterations int
	Status     string

	Served     int // jobs with GPUs
	Fractional int // jobs with several configurations in the relaxed solution
	Ones       int // relaxed values equal to 1
	Between    int // relaxed values between 0 and 1
	Changed    int // relaxed values that changed, of jobs in both rounds
	Added      int // pairs of new jobs
	Removed    int // pairs of jobs that ended
	HeapBytes  uint64
}

// Total returns the time of the whole round: editing, solving and rounding (Shim).
func (m *Measurement) Total() time.Duration { return m.Edit + m.Solve + m.Shim }

// A Study states which rounds are solved, and by which engines.
type Study struct {
	Spec    Spec
	Engines []string // names: see Kinds
	Rounds  int      // measured, after WarmUp
}

// WarmUp is the number of first rounds that summaries omit. Round 0 builds the program; in round 1 jobs hold GPUs for
// the first time.
const WarmUp = 2

// Validate returns all errors, joined.
func (s Study) Validate() error {
	all := []error{s.Spec.Validate()}
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
		for round := range WarmUp + s.Rounds {
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
	kind     Kind
	g        *Generator
	question Question
	engine   Engine
	judge    Engine // engine price, for its bound; may be nil
	base     uint64 // live heap before
	picks    []int
	last     map[Job][]Weight
	buffer   []Row
}

func newRun(spec Spec, k Kind) (*run, error) {
	g, err := New(spec)
	if err != nil {
		return nil, err
	}
	r := &run{kind: k, g: g, question: g.Question(), last: map[Job][]Weight{}}
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
	m = Measurement{Engine: r.kind.Name, Round: t, Pairs: r.g.Pairs(), Added: len(e.Arrived) * len(r.question.Configs), Removed: len(e.Left) * len(r.question.Configs)}
	if m.Best, err = r.judgeBound(ctx, e); err != nil {
		return m, err
	}
	if m.Edit, err = r.edit(e); err != nil { // 1. edits
		return m, err
	}
	runtime.GC()
	began := usage.ProcessTime()
	a, err := r.engine.Solve(ctx) // 2. the relaxation
	if err != nil {
		return m, err
	}
	m.Solve = usage.ProcessTime() - began
	jobs := r.g.Jobs()
	weights := make([][]Weight, len(jobs))
	began = usage.ProcessTime()
	for i, id := range jobs { // 3. choices
		weights[i] = a.Weights(id, nil)
	}
	r.picks = Shim(weights, r.question.Configs, r.question.Capacity)
	m.Shim = usage.ProcessTime() - began
	if a.Prove != nil {
		a.Bound, a.Violation = a.Prove()
	}
	m.Longest, m.Bound, m.Residual, m.Iterations, m.Status = a.Longest, a.Bound, a.Violation, a.Iterations, a.Status
	r.composition(&m, jobs, weights)
	if a.Fractional >= 0 {
		m.Fractional = a.Fractional
	}
	r.value(&m, jobs)
	m.Best = min(m.Best, m.Bound)
	m.Gap = (m.Best - m.Value) / math.Abs(m.Best)
	if live := liveHeap(); live > r.base {
		m.HeapBytes = live - r.base
	}
	runtime.KeepAlive(r.engine)
	return m, nil
}

func (r *run) judgeBound(ctx context.Context, e Edits) (float64, error) {
	if r.judge == nil {
		return infinite, nil
	}
	if err := Apply(r.judge, r.g, e); err != nil {
		return 0, err
	}
	a, err := r.judge.Solve(ctx)
	if err != nil {
		return 0, err
	}
	return a.Bound, nil
}

const batchValues = 1 << 20

func (r *run) edit(e Edits) (spent time.Duration, err error) {
	news := slices.Concat(e.Refitted, e.Arrived)
	if r.kind.Rebuilt {
		began := usage.ProcessTime()
		r.engine = nil
		if r.engine, err = r.kind.make(r.question); err != nil {
			return 0, err
		}
		spent += usage.ProcessTime() - began
		e, news = Edits{}, r.g.Jobs()
	}
	began := usage.ProcessTime()
	for _, id := range e.Left {
		if err := r.engine.Remove(id); err != nil {
			return 0, err
		}
	}
	spent += usage.ProcessTime() - began
	for _, part := range []struct {
		jobs []Job
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

func (r *run) set(jobs []Job, news bool) (time.Duration, error) {
	for len(r.buffer) < len(jobs) {
		r.buffer = append(r.buffer, Row{})
	}
	for i, id := range jobs {
		r.buffer[i] = Row{Values: r.g.Values(id, r.buffer[i].Values), Restart: r.g.Restart(id), News: news}
	}
	began := usage.ProcessTime()
	for i, id := range jobs {
		if err := r.engine.Set(id, r.buffer[i]); err != nil {
			return 0, err
		}
	}
	return usage.ProcessTime() - began, nil
}

func (r *run) composition(m *Measurement, jobs []Job, weights [][]Weight) {
	next := make(map[Job][]Weight, len(jobs))
	for i, id := range jobs {
		split := false
		for _, w := range weights[i] {
			if w.X >= 1-engine.Tiny {
				m.Ones++
			} else {
				m.Between++
				split = true
			}
		}
		if split {
			m.Fractional++
		}
		if last, ok := r.last[id]; ok {
			m.Changed += differences(last, weights[i])
		}
		next[id] = weights[i]
	}
	r.last = next
}

func differences(a, b []Weight) int {
	n := 0
	weight := func(of []Weight, config int) float64 {
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

func (r *run) value(m *Measurement, jobs []Job) {
	m.Jobs = len(jobs)
	used := make([]int, len(r.question.Capacity))
	for i, id := range jobs {
		c := r.picks[i]
		if c < 0 {
			continue
		}
		m.Served++
		m.Value += r.g.Worth(id, c)
		used[r.question.Configs[c].Type] += r.question.Configs[c].GPUs
	}
	for k, n := range r.question.Capacity {
		m.Violation = max(m.Violation, float64(used[k]-n)/float64(n))
	}
}

func (r *run) hold(picks []int) {
	for i, id := range r.g.Jobs() {
		r.g.Hold(id, picks[i])
	}
}

// A Weight is the fraction of a job that a relaxed solution assigns to the configuration with index Choice.
type Weight = engine.Weight

// Shim rounds a fractional solution: it returns the index of one configuration per job, or -1, such that all fit into
// capacity (GPUs by type). It sorts weights in place. See engine.Shim.
func Shim(weights [][]Weight, configs []Config, capacity []int) []int {
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
