package pop

import (
	"context"
	"errors"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type claim struct {
	cluster.Allocation
	turn int // order of precedence
}

// Claims: non-preemptive jobs, reservations, then others.
const (
	pinned = iota
	reserved
	held
	turns
)

func (c claim) firm() bool { return c.turn != held }

func claimOf(j *policy.Job) claim {
	switch {
	case j.NonPreemptive && j.Holding():
		return claim{j.Allocation, pinned}
	case !j.Reservation.IsZero() && j.Phase != job.Profiling:
		return claim{cluster.Allocation{Configuration: j.Reservation}, reserved}
	}
	return claim{j.Allocation, held}
}

func (p *parts) roomFor(r *room, j *policy.Job, c claim) bool {
	if c.IsZero() {
		return p.meets(r, j)
	}
	t := p.typeIndex(c.GPUType)
	if t < 0 || r.held[t].GPUs+c.GPUs > r.gpus[t] || !r.feeds(t, &c.Allocation) {
		return false
	}
	holds := j.Holding() && c.Configuration == j.Allocation.Configuration
	if !holds && (c.Nodes > r.nodes[t] || c.GPUs > c.Nodes*r.perNode[t]) {
		return false
	}
	return c.firm() || p.meets(r, j)
}

func (r *room) feeds(t int, a *cluster.Allocation) bool {
	has, used := &r.host[t], &r.held[t]
	return r.hostUnknown[t] || used.CPUs+a.CPUs <= has.CPUs*(1+rounding) && used.Memory+a.Memory <= has.Memory
}

const rounding = 1e-12

func (r *room) hold(t int, a *cluster.Allocation) {
	h := &r.held[t]
	h.GPUs, h.CPUs, h.Memory = h.GPUs+a.GPUs, h.CPUs+a.CPUs, h.Memory+a.Memory
}

func (p *parts) meets(r *room, j *policy.Job) bool {
	for t := range p.types {
		gpu := p.types[t].Type
		if !j.Eligible(gpu) || !j.KeepsType(gpu) {
			continue
		}
		need := j.Requested(gpu)
		if j.Adaptivity.Has(job.GPUCount) {
			need = j.Min(gpu)
		}
		if r.gpus[t] >= need {
			return true
		}
	}
	return false
}

type results []any

func together(works []policy.Work) policy.Work {
	if !slices.ContainsFunc(works, func(w policy.Work) bool { return w != nil }) {
		return nil
	}
	return func(ctx context.Context) any {
		all := make(results, len(works))
		for part, work := range works {
			if work != nil {
				all[part] = work.Do(ctx)
			}
		}
		return all
	}
}

func (p *Policy) dealResults(computed any) {
	switch c := computed.(type) {
	case results:
		for part, result := range c {
			if result != nil {
				p.computed[part] = result
			}
		}
	case error:
		for part := range p.computed {
			if p.computed[part] == nil {
				p.computed[part] = c
			}
		}
	}
}

func (p *Policy) result(part int) any {
	r := p.computed[part]
	p.computed[part] = nil
	return r
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Once(m, &p.cluster, (*cluster.Cluster).Remember)
	if m.Decoding() && p.cluster != nil {
		p.types = p.cluster.Types()
	}
	memory.Map(m, &p.node, memory.Number)
	memory.Map(m, &p.job, memory.Number)
	for part, inner := range p.inner {
		memory.Once(m, &p.clusters[part], (*cluster.Cluster).Remember)
		if p.computed[part] != nil && !m.Sharing() {
			m.Fail("pop: result of background work: %w", errors.ErrUnsupported)
		}
		memory.Shared(m, &p.computed[part])
		if of, remembers := inner.(memory.Rememberer); remembers {
			m.Fields(of)
		}
	}
}
