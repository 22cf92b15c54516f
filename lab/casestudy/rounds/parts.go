package rounds

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/usage"
	"github.com/oxgang/oxgang/lab/casestudy"
)

// parts is POP-k: nodes and jobs are split into k parts, each with its own engine. A job stays in its part; a new
// one goes to the smallest. Source: thesis §4.5.1 (a).
// Deviation: parts are kept between rounds, because each should start from its last solution.
type parts struct {
	engines []roundEngine
	configs [][]int
	of      map[job]int
	members []float64
	row     []float64
}

func newParts(k int, inner func(question) (roundEngine, error)) func(question) (roundEngine, error) {
	return func(q question) (roundEngine, error) {
		p := &parts{of: map[job]int{}, members: make([]float64, k)}
		share := make([][]int, k) // of each part
		for t, gpus := range q.Capacity {
			for i, nodes := range casestudy.Split(gpus/q.PerNode[t], k, uint64(t)) {
				share[i] = append(share[i], len(nodes)*q.PerNode[t])
			}
		}
		for i := range k {
			part := question{Capacity: share[i], PerNode: q.PerNode}
			var fit []int
			for c, config := range q.Configs {
				if config.GPUs <= share[i][config.Type] {
					part.Configs, fit = append(part.Configs, config), append(fit, c)
				}
			}
			if len(fit) == 0 {
				return nil, fmt.Errorf("%d parts: part %d has no node", k, i)
			}
			e, err := inner(part)
			if err != nil {
				return nil, err
			}
			p.engines, p.configs = append(p.engines, e), append(p.configs, fit)
		}
		return p, nil
	}
}

func (p *parts) Set(id job, r row) error {
	i, ok := p.of[id]
	if !ok {
		i = slices.Index(p.members, slices.Min(p.members))
		p.of[id] = i
		p.members[i]++
	}
	p.row = p.row[:0]
	kept := r.Restart.Kept
	r.Restart.Kept = -1
	for place, c := range p.configs[i] {
		p.row = append(p.row, r.Values[c])
		if c == kept {
			r.Restart.Kept = place
		}
	}
	r.Values = p.row
	return p.engines[i].Set(id, r)
}

func (p *parts) Remove(id job) error {
	i := p.of[id]
	delete(p.of, id)
	p.members[i]--
	return p.engines[i].Remove(id)
}

func (p *parts) Solve(ctx context.Context) (*answer, error) {
	a := &answer{Bound: infinite, Status: "optimal"}
	answers := make([]*answer, len(p.engines))
	var prove []func() (bound, violation float64)
	for i, e := range p.engines {
		began := usage.ProcessTime()
		part, err := e.Solve(ctx)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		answers[i] = part
		took := usage.ProcessTime() - began
		if part.Prove != nil {
			prove = append(prove, part.Prove)
		}
		a.Longest = max(a.Longest, took)
		a.Iterations += part.Iterations
		a.Violation = max(a.Violation, part.Violation)
		if part.Status != "optimal" {
			a.Status = part.Status
		}
		if part.Fractional < 0 || a.Fractional < 0 {
			a.Fractional = -1
		} else {
			a.Fractional += part.Fractional
		}
	}
	a.Prove = func() (bound, violation float64) {
		for _, part := range prove {
			_, v := part()
			a.Violation = max(a.Violation, v)
		}
		return infinite, a.Violation
	}
	a.Weights = func(id job, dst []weight) []weight {
		i, from := p.of[id], len(dst)
		dst = answers[i].Weights(id, dst)
		for k := range dst[from:] {
			dst[from+k].Choice = p.configs[i][dst[from+k].Choice]
		}
		return dst
	}
	return a, nil
}
