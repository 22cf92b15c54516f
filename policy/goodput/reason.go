package goodput

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

const tie = 1e-9

type change bool

const (
	stay change = false
	move change = true
)

type reasons struct{ *Program }

// reason explains why row r got the configuration of column (-1: nothing). A choice is taken if its value covers the
// price of its GPUs. Prices come from the relaxed problem, in which jobs may share a choice. If prices would allow
// more, the reason is a lack of free GPUs.
func (p reasons) reason(r *Row, column int) policy.Reason {
	j := r.job
	switch {
	case j.Phase == job.Profiling:
		return policy.Reason{Kind: policy.WaitProfile}
	case !r.pin.IsZero():
		return whyPinned(r)
	case !j.Reservation.IsZero():
		return p.whyNotReserved(j.Reservation)
	case column < 0:
		return p.whyWaiting(r)
	case !j.Holding():
		return policy.Reason{Kind: policy.Started, Value: p.speed(r, column)}
	}
	return p.whySize(r, column)
}

func (p reasons) whyNotReserved(c cluster.Configuration) policy.Reason {
	k := p.resource(c.GPUType)
	if k < 0 || !p.carries(k, c) {
		return policy.Reason{Kind: policy.Impossible, Config: c}
	}
	return policy.Reason{Kind: policy.WaitNoCapacity, Config: c, Value: p.free[k], Limit: float64(c.GPUs)}
}

func whyPinned(r *Row) policy.Reason {
	why := policy.Reason{Kind: policy.PinnedRestore, Config: r.pin.Configuration}
	switch {
	case r.job.Holding() && (r.job.NonPreemptive || r.Stays):
		why.Kind = policy.PinnedNonPreempt
	case !r.job.Reservation.IsZero():
		why.Kind = policy.Reserved
	case r.firm:
		why = policy.Reason{Kind: policy.Promised, Value: r.Claim.Due}
	}
	return why
}

func (p reasons) whySize(r *Row, column int) policy.Reason {
	before, now := r.job.Allocation.Configuration, r.columns[column].Configuration
	why := policy.Reason{Config: before, Value: p.speed(r, column), Limit: p.speedHeld(r)}
	switch {
	case now == before:
		return p.whyKept(r, column)
	case now.GPUType != before.GPUType, now.GPUs == before.GPUs, now.GPUs < before.GPUs && r.held >= 0 && p.value(r, column) >= p.value(r, r.held):
		why.Kind = policy.Moved
	case now.GPUs > before.GPUs:
		why.Kind = policy.Grown
	default:
		return p.whyShrunk(r, column)
	}
	return why
}

// whyShrunk compares the job's loss, including its restart, with the price of the GPUs it gives up. If the price does
// not cover the loss, others need these GPUs together, and it has no numbers.
func (p reasons) whyShrunk(r *Row, column int) policy.Reason {
	before := r.job.Allocation.Configuration
	why := policy.Reason{Kind: policy.Shrunk, Config: before}
	if r.held < 0 {
		return why
	}
	was, ok := p.gain(r, r.held, stay)
	is, _ := p.gain(r, column, move)
	worth := (was - is) / float64(before.GPUs-r.columns[column].GPUs)
	if price := p.prices[r.columns[column].resource]; ok && worth <= price {
		why.Value, why.Limit = worth, price
	}
	return why
}

// whyKept distinguishes a job that has its best choice from one whose better choice does not pay for a restart, or is
// not free.
func (p reasons) whyKept(r *Row, column int) policy.Reason {
	why := policy.Reason{Kind: policy.AsPlanned, Value: p.speed(r, column)}
	if k := p.better(r, column, move); k >= 0 {
		if !p.isFree(r, k) { // otherwise the search ended early
			why.Config, why.Limit = r.columns[k].Configuration, p.speed(r, k)
		}
		return why
	}
	k := p.better(r, column, stay)
	if k < 0 {
		return why
	}
	value := p.value(r, column)
	cell, _ := p.best(r, k, 1)
	enough := p.goodputWorth(r, p.net(r, column, stay)+tie+p.cost(r, k)+p.costOf(r.cells[k][cell].uses)) / max(r.Worth.factor(k), 1e-9)
	return policy.Reason{Kind: policy.KeptNoRestart, Config: r.columns[k].Configuration, Value: p.value(r, k) / value, Limit: enough / value}
}

// better returns the column with more goodput that beats the kept one by most at the present prices; -1 if none does.
func (p reasons) better(r *Row, kept int, change change) int {
	best, most, now := -1, p.net(r, kept, change)+tie, p.value(r, kept)
	filed := 0
	for k := range r.columns {
		if !r.allowed[k] || p.value(r, k) <= now || change == stay && !p.isFree(r, k) {
			continue
		}
		if filed = r.item.from(filed, k); p.outweighed(r, k, filed, most) {
			continue
		}
		if v := p.net(r, k, change); v > most {
			best, most = k, v
		}
	}
	return best
}

func (it *item) from(c, k int) int {
	for c < len(it.origin) && int(it.origin[c].column) < k {
		c++
	}
	return c
}

// outweighed reports whether column k, with choice c, cannot add more than most. It avoids math.Pow for most columns.
func (p reasons) outweighed(r *Row, k, c int, most float64) bool {
	it := &r.item
	if c == len(it.origin) || int(it.origin[c].column) != k || it.shape.baked || it.shape.frozen || r.limited(k) || p.o.P > 0 {
		return false
	}
	worth, cost := r.Worth.Weight*it.choices[c].Value, p.cost(r, k)
	return worth-cost < most-1e-9*(cost-worth)
}

// net returns what column k adds to the objective minus the price of all its resources, without λ; −∞ if the job cannot
// run there.
func (p reasons) net(r *Row, k int, change change) float64 {
	v, ok := p.gain(r, k, change)
	if !ok {
		return math.Inf(-1)
	}
	return v - p.cost(r, k)
}

func (p reasons) gain(r *Row, k int, change change) (most float64, ok bool) {
	factor := 1.0
	if change == move && r.job.Holding() && r.columns[k].Configuration != r.job.Allocation.Configuration {
		factor = r.Worth.factor(k)
	}
	_, most = p.best(r, k, factor)
	return most, !math.IsInf(most, -1)
}

// best returns the best cell of column k at the present prices, after a restart of the given factor, and its worth
// minus the price of CPUs and memory; -1 and −∞ if it cannot run there.
func (p reasons) best(r *Row, k int, factor float64) (cell int, most float64) {
	cell, most = -1, math.Inf(-1)
	for n, own := range r.cells[k] {
		v, ok := p.worth(own.goodput/r.unit, factor)
		if v = r.Worth.Weight*v - p.costOf(own.uses); ok && v > most {
			cell, most = n, v
		}
	}
	return cell, most
}

func (p reasons) value(r *Row, k int) float64 {
	cell := 0
	if r.limited(k) {
		cell, _ = p.best(r, k, 1)
	}
	if cell < 0 || len(r.cells[k]) == 0 {
		return 0
	}
	return r.cells[k][cell].goodput / r.unit
}

func (p reasons) isFree(r *Row, k int) bool {
	c := r.columns[k]
	free := p.freeFor(r, &c)
	if r.job.Allocation.GPUType == c.GPUType {
		free += float64(r.job.Allocation.GPUs)
	}
	return free >= float64(c.GPUs)
}

// goodputWorth is the inverse of gain: the least normalised goodput that adds w to the objective.
func (p reasons) goodputWorth(r *Row, w float64) float64 {
	w /= r.Worth.Weight
	if p.o.Rules.RoundCosts {
		w = math.Ceil(w*100-tie)/100 - 0.005
	}
	if p.o.P < 0 {
		w = -w
	}
	return math.Pow(max(0, w), 1/p.o.P)
}

// whyWaiting explains why a job gets nothing: its best offer per GPU against the price there. If prices would let it
// run, its smallest affordable configuration lacks GPUs.
func (p reasons) whyWaiting(r *Row) policy.Reason {
	it := &r.item
	best, least, offer := -1, -1, math.Inf(-1)
	for c := range it.choices {
		margin := p.margin(it, c)
		if best < 0 || margin > offer {
			best, offer = c, margin
		}
		if margin > tie && (least < 0 || it.choices[c].Amount < it.choices[least].Amount) {
			least = c
		}
	}
	switch {
	case best < 0:
		return policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(r.job.GPUs, r.job.MinGPUs)}}
	case least >= 0:
		at := it.origin[least]
		c := r.columns[at.column]
		free := p.freeFor(r, &c)
		if free >= float64(c.GPUs) && c.host.counts() {
			own := r.cells[at.column][at.cell]
			return policy.Reason{Kind: policy.WaitHost, Config: c.Configuration, Value: own.cpus, Limit: float64(own.memory)}
		}
		return policy.Reason{Kind: policy.WaitNoCapacity, Config: c.Configuration, Value: free, Limit: float64(c.GPUs)}
	}
	c := r.columns[it.origin[best].column]
	gpus := float64(c.GPUs)
	price := p.prices[c.resource] + p.costOf(it.choices[best].More)/gpus
	return policy.Reason{Kind: policy.WaitPrice, Config: c.Configuration, Value: max(0, it.value(best)) / gpus, Limit: price}
}

// margin returns the worth of choice c above its price, per GPU; −∞ if its worth is not positive (after a restart, or
// with a λ below 1).
func (p reasons) margin(it *item, c int) float64 {
	own, worth := &it.choices[c], it.value(c)
	if worth <= 0 {
		return math.Inf(-1)
	}
	return (worth-p.costOf(own.More))/own.Amount - p.prices[own.Resource]
}

func (p reasons) cost(r *Row, k int) float64 {
	return p.prices[r.columns[k].resource]*float64(r.columns[k].GPUs) + p.costOf(p.setUses(r, &r.columns[k]))
}

func (p reasons) costOf(uses []mmkp.Use) float64 {
	cost := 0.0
	for _, u := range uses {
		cost += p.prices[u.Resource] * u.Amount
	}
	return cost
}

func (p reasons) speed(r *Row, k int) float64 {
	if r.fewest == 0 || r.job.Perf == nil {
		return 0
	}
	return p.value(r, k) / r.fewest
}

func (p reasons) speedHeld(r *Row) float64 {
	if r.held < 0 {
		return 0
	}
	return p.speed(r, r.held)
}
