package sia

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// reason says why row r got the configuration of column (or nothing, -1).
// Prices explain: a choice is taken if its value covers what its GPUs cost.
func (p *Policy) reason(s *policy.Snapshot, r *row, item, column int) policy.Reason {
	j := r.job
	switch {
	case j.Phase == job.Profiling:
		return policy.Reason{Kind: policy.WaitProfile}
	case !r.pin.IsZero():
		return whyPinned(r)
	case !j.Reservation.IsZero():
		return policy.Reason{Kind: policy.WaitNoCapacity, Config: j.Reservation, Limit: float64(j.Reservation.GPUs)}
	case column < 0:
		return p.whyWaiting(r, item)
	case !j.Holding():
		return policy.Reason{Kind: policy.Started, Value: p.value(r, column)}
	}
	return p.whySize(s, r, column)
}

func whyPinned(r *row) policy.Reason {
	why := policy.Reason{Kind: policy.PinnedRestore, Config: r.pin}
	switch {
	case r.job.Holding() && r.job.NonPreemptive:
		why.Kind = policy.PinnedNonPreempt
	case !r.job.Reservation.IsZero():
		why.Kind = policy.Reserved
	}
	return why
}

// whySize explains the size of a job that had GPUs and keeps some.
func (p *Policy) whySize(s *policy.Snapshot, r *row, column int) policy.Reason {
	before, now := r.job.Allocation.Configuration, r.columns[column].Configuration
	old := p.valueAt(r, before)
	why := policy.Reason{Config: before, Value: p.value(r, column), Limit: old}
	switch {
	case now == before:
		return p.whyKept(s, r, column)
	case now.GPUType != before.GPUType, now.GPUs == before.GPUs: // or as many on other nodes
		why.Kind = policy.Moved
	case now.GPUs > before.GPUs:
		why.Kind = policy.Grown
	default:
		why.Kind = policy.Shrunk
		freed := float64(before.GPUs - now.GPUs)
		why.Value = (p.worth(old) - p.worth(p.value(r, column))) / freed
		why.Limit = p.prices[r.columns[column].resource]
	}
	return why
}

// whyKept tells a job that is best off as it is from one for which something
// better is not worth a restart.
func (p *Policy) whyKept(s *policy.Snapshot, r *row, column int) policy.Reason {
	best, margin := column, p.worth(p.value(r, column))-p.cost(r, column)
	for k := range r.columns {
		if !r.allowed[k] || p.goodputOf(r, k) <= 0 {
			continue
		}
		if m := p.worth(p.value(r, k)) - p.cost(r, k); m > margin+1e-9 {
			best, margin = k, m
		}
	}
	if best == column {
		return policy.Reason{Kind: policy.AsPlanned, Value: p.value(r, column)}
	}
	factor := p.restartFactor(r, s.Now)
	return policy.Reason{Kind: policy.KeptNoRestart, Config: r.columns[best].Configuration, Value: p.value(r, best) / p.value(r, column), Limit: 1 / max(factor, 1e-9)}
}

// whyWaiting explains why a job gets nothing, by its best offer per GPU
// against the price of a GPU there.
func (p *Policy) whyWaiting(r *row, item int) policy.Reason {
	best, offer := -1, math.Inf(-1)
	for c, k := range p.origin[item] {
		choice := &p.problem.Items[item].Choices[c]
		if o := (choice.Value - p.cost(r, k)) / choice.Amount; o > offer {
			best, offer = c, o
		}
	}
	if best < 0 {
		return policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(r.job.GPUs, minGPUs(r))}}
	}
	choice := &p.problem.Items[item].Choices[best]
	why := policy.Reason{
		Kind: policy.WaitPrice, Config: r.columns[p.origin[item][best]].Configuration,
		Value: choice.Value / choice.Amount, Limit: p.prices[choice.Resource],
	}
	if p.historyShared(r) {
		return policy.Reason{Kind: policy.WaitTurn, Value: p.o.TimeShare.Seconds(), Limit: p.o.TimeShare.Seconds()}
	}
	if why.Value >= why.Limit {
		why.Kind, why.Value, why.Limit = policy.WaitNoCapacity, 0, choice.Amount
	}
	return why
}

// historyShared reports whether time sharing has set the job aside.
func (p *Policy) historyShared(r *row) bool { return p.o.TimeShare > 0 && r.rest > p.now }

// worth returns what a normalised goodput adds to the objective; a finite
// number even where the job is believed not to run.
func (p *Policy) worth(g float64) float64 {
	if p.o.P < 0 {
		return -min(maxCost, math.Pow(g, p.o.P))
	}
	return math.Pow(g, p.o.P)
}

// cost returns what column k's GPUs cost at today's prices.
func (p *Policy) cost(r *row, k int) float64 {
	return p.prices[r.columns[k].resource] * float64(r.columns[k].GPUs)
}

// valueAt returns the normalised goodput of a configuration, 0 if it is no
// column of the row.
func (p *Policy) valueAt(r *row, c cluster.Configuration) float64 {
	for k := range r.columns {
		if r.columns[k].Configuration == c {
			return p.value(r, k)
		}
	}
	return 0
}
