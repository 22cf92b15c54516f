package goodput

import (
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// maxCost is what the public code clips costs at.
const maxCost = 3000

// A Worth says what the choices of a job are worth in a round:
//
//	Weight · ( Base − (factor·G)^p )   for p < 0,
//	Weight · ( Base + (factor·G)^p )   for p > 0,
//
// where G is the normalised goodput, and the factor is 1 for what the job holds.
type Worth struct {
	Weight float64 // of the job among others, above 0
	Base   float64 // what it is worth that the job runs at all: λ
	Factor float64 // 0 to 1: of its goodput, what a move leaves
	// Factors, if not nil, are the factors by column: moves differ. They stand in
	// for Factor.
	Factors []float64
}

// factor returns the factor of a move to column k.
func (w *Worth) factor(k int) float64 {
	if w.Factors != nil {
		return w.Factors[k]
	}
	return w.Factor
}

// An item is a row as the engine has it: a choice for each column that the job
// may have. Its Value is what the choice costs, negative, or what it is worth,
// but for restarts and λ, which move every round: Adjust tells the engine those.
type item struct {
	number  int // of the engine's item
	filed   bool
	shape   shapeOf
	stale   bool // shape is the same, and yet the choices are not
	choices []mmkp.Choice
	origin  []origin
	now     mmkp.Adjustment // what they are worth in this round; Kept: the choice that the job has already
	factors []float64       // by column: what the choices have of moves in them; see Worth.Factors
}

// An origin is where a choice comes from: a column of the row, and a cell of it.
type origin struct{ column, cell int32 }

// A shapeOf is what the choices of an item depend on besides goodput and size
// limits.
type shapeOf struct {
	pin, held cluster.Configuration
	share     cluster.Resources // CPUs and memory that are pinned
	out       bool              // takes no part: it is profiled, or wants what it reserved and cannot have
	frozen    bool              // a restart would cost all of its goodput
	baked     bool              // costs have the factor of restarts in them
	factor    float64           // if so
}

// Choices returns what each configuration that the job may have is worth in this
// round, with its best cell; less than 0 is worth less than nothing.
func (r *Row) Choices() map[cluster.Configuration]float64 {
	all := make(map[cluster.Configuration]float64)
	for c, at := range r.item.origin {
		conf := r.Column(int(at.column))
		if v, ok := all[conf]; !ok || r.item.value(c) > v {
			all[conf] = r.item.value(c)
		}
	}
	return all
}

// value returns what choice c is worth in this round.
func (it *item) value(c int) float64 {
	if c == it.now.Kept {
		return it.now.Base + it.now.KeptFactor*it.choices[c].Value
	}
	return it.now.Base + it.now.Factor*it.choices[c].Value
}

// file brings the engine's program up to date with the rows: one item per job,
// one choice per allowed configuration and cell, GPUs, CPUs and memory of each GPU
// type as resources. The value of
// a choice is what it adds over giving the job nothing: λ minus the cost (r·G)^p
// for p < 0, and (r·G)^p plus λ for p > 0, times the job's weight. Where only
// weight, λ or r moved, no choice is
// written. Source: Sia §3.3.4, Eq. 3.4 and 3.5, and "Preemption and
// reservation"; thesis §4.3.2, "Differential interface for problem updates".
func (p *Program) file(rows []*Row) error {
	for _, r := range p.gone {
		if err := p.drop(r); err != nil {
			return err
		}
	}
	p.gone = p.gone[:0]
	for _, r := range rows {
		if err := p.fileRow(r); err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
	}
	return nil
}

// worthless is the restart factor below which a restart costs everything.
const worthless = 1e-9

// fileRow writes what changed of one job's item.
func (p *Program) fileRow(r *Row) error {
	it := &r.item
	now := shapeOf{
		pin: r.pin.Configuration, share: r.share, held: r.job.Allocation.Configuration, frozen: r.Worth.Factors == nil && r.Worth.Factor < worthless,
		out: r.pin.IsZero() && (r.job.Phase == job.Profiling || !r.job.Reservation.IsZero() || r.Barred > 0),
	}
	switch {
	case r.Worth.Factors != nil:
		now.baked = true
		it.stale = it.stale || !slices.Equal(it.factors, r.Worth.Factors)
		it.factors = append(it.factors[:0], r.Worth.Factors...)
	case p.o.Rules.RoundCosts || p.resizes(r):
		now.baked, now.factor = true, r.Worth.Factor
	}
	if !it.filed || it.stale || it.shape != now {
		it.shape = now
		p.writeChoices(r)
		if !it.filed {
			it.number = p.takeNumber()
		}
		it.stale = true
		if err := p.engine.Set(it.number, mmkp.Item{Choices: it.choices, Must: !r.pin.IsZero(), Keep: max(0, it.now.Kept)}); err != nil {
			return err
		}
		it.filed, it.stale = true, false
	}
	it.now.Base, it.now.Factor, it.now.KeptFactor = 0, 1, 1
	if len(it.choices) == 0 || !r.pin.IsZero() {
		return nil
	}
	w := r.Worth.Weight
	it.now.Base, it.now.Factor, it.now.KeptFactor = w*r.Worth.Base, w, w
	if !it.shape.baked && !it.shape.frozen { // or else it is in the choices
		it.now.Factor = w * math.Pow(r.Worth.Factor, p.o.P)
	}
	return p.engine.Adjust(it.number, it.now)
}

// resizes reports whether a job has several choices without a restart: the cells
// of the configuration it holds. Adjust keeps one choice only.
func (p *Program) resizes(r *Row) bool {
	if !sensitive(r.job) {
		return false
	}
	k := p.resource(r.job.Allocation.GPUType)
	return k >= 0 && p.hosts[k].counts()
}

// writeChoices fills in an item's choices. A pinned job must take the one
// configuration it has.
func (p *Program) writeChoices(r *Row) {
	it := &r.item
	it.choices, it.origin, it.now.Kept = it.choices[:0], it.origin[:0], -1
	if !r.pin.IsZero() {
		it.choices = append(it.choices, r.pinnedChoice())
		return
	}
	if it.shape.out {
		return
	}
	for k, c := range r.columns {
		if !r.allowed[k] {
			continue
		}
		held := c.Configuration == it.shape.held
		use := mmkp.Use{Resource: c.resource, Amount: float64(c.GPUs)}
		for n, own := range r.cells[k] {
			v, ok := p.worth(own.goodput/r.unit, r.filedFactor(k, held))
			if !ok {
				continue
			}
			if held && !it.shape.baked {
				it.now.Kept = len(it.choices)
			}
			it.choices = append(it.choices, mmkp.Choice{Value: v, Use: use, More: own.uses})
			it.origin = append(it.origin, origin{int32(k), int32(n)})
		}
	}
}

// pinnedChoice returns the only choice of a pinned job.
func (r *Row) pinnedChoice() mmkp.Choice {
	c := mmkp.Choice{Use: mmkp.Use{Resource: r.pin.resource, Amount: float64(r.pin.GPUs)}}
	if r.pin.host.counts() {
		c.More = r.pin.host.uses(r.share.CPUs, r.share.Memory)
	}
	return c
}

// filedFactor returns what the Value of a choice of column k has of a move in it:
// 1, unless that is baked in or nothing is left.
func (r *Row) filedFactor(k int, held bool) float64 {
	switch {
	case held:
		return 1
	case r.item.shape.frozen:
		return 0
	case r.item.shape.baked:
		return r.Worth.factor(k)
	}
	return 1
}

// takeNumber returns a number that no item has.
func (p *Program) takeNumber() int {
	if n := len(p.numbers); n > 0 {
		number := p.numbers[n-1]
		p.numbers = p.numbers[:n-1]
		return number
	}
	p.items++
	return p.items - 1
}

// drop takes a row out of the engine.
func (p *Program) drop(r *Row) error {
	if !r.item.filed {
		return nil
	}
	p.numbers = append(p.numbers, r.item.number)
	return p.engine.Remove(r.item.number)
}

// worth returns minus the cost, or the worth, of a normalised goodput after a
// restart of the given factor; ok is false if the job cannot run.
func (p *Program) worth(goodput, factor float64) (worth float64, ok bool) {
	if !(goodput > 0) || math.IsInf(goodput, 0) {
		return 0, false
	}
	worth = math.Pow(goodput*factor, p.o.P)
	if p.o.Rules.RoundCosts {
		worth = min(maxCost, math.Round(worth*100)/100)
	}
	if math.IsInf(worth, 0) {
		return 0, false
	}
	if p.o.P < 0 {
		worth = -worth
	}
	return worth, true
}
