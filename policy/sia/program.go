package sia

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// maxCost is what the public code clips costs at.
const maxCost = 3000

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
	base    float64
	scale   float64 // of choices that are not kept
	kept    int     // the choice that the job has already; -1: none
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

// value returns what choice c is worth in this round.
func (it *item) value(c int) float64 {
	if c == it.kept {
		return it.base + it.choices[c].Value
	}
	return it.base + it.scale*it.choices[c].Value
}

// file brings the engine's program up to date with the rows: one item per job,
// one choice per allowed configuration and cell, GPUs, CPUs and memory of each GPU
// type as resources. The value of
// a choice is what it adds over giving the job nothing: λ minus the cost (r·G)^p
// for p < 0, and (r·G)^p plus λ for p > 0. Where only λ or r moved, no choice is
// written. Source: Sia §3.3.4, Eq. 3.4 and 3.5, and "Preemption and
// reservation"; thesis §4.3.2, "Differential interface for problem updates".
func (p *Policy) file(s *policy.Snapshot, rows []*row) error {
	for _, r := range p.gone {
		if err := p.drop(r); err != nil {
			return err
		}
	}
	for _, r := range rows {
		r.factor = p.restartFactor(r.job, s.Now)
		if err := p.fileRow(r); err != nil {
			return fmt.Errorf("job %s: %w", r.job.ID, err)
		}
	}
	return nil
}

// worthless is the restart factor below which a restart costs everything.
const worthless = 1e-9

// fileRow writes what changed of one job's item.
func (p *Policy) fileRow(r *row) error {
	it := &r.item
	now := shapeOf{
		pin: r.pin.Configuration, share: r.share, held: r.job.Allocation.Configuration, frozen: r.factor < worthless,
		out: r.pin.IsZero() && (r.job.Phase == job.Profiling || !r.job.Reservation.IsZero()),
	}
	if p.o.Rules.RoundCosts || p.resizes(r) {
		now.baked, now.factor = true, r.factor
	}
	if !it.filed || it.stale || it.shape != now {
		it.shape = now
		p.writeChoices(r)
		if !it.filed {
			it.number = p.takeNumber()
		}
		it.stale = true
		if err := p.engine.Set(it.number, mmkp.Item{Choices: it.choices, Must: !r.pin.IsZero(), Keep: max(0, it.kept)}); err != nil {
			return err
		}
		it.filed, it.stale = true, false
	}
	it.base, it.scale = 0, 1
	if len(it.choices) == 0 || !r.pin.IsZero() {
		return nil
	}
	it.base = p.o.Lambda
	if !it.shape.baked && !it.shape.frozen { // or else it is in the choices
		it.scale = math.Pow(r.factor, p.o.P)
	}
	return p.engine.Adjust(it.number, it.base, it.scale, it.kept)
}

// resizes reports whether a job has several choices without a restart: the cells
// of the configuration it holds. Adjust keeps one choice only.
func (p *Policy) resizes(r *row) bool {
	if !sensitive(r.job) {
		return false
	}
	k := p.resource(r.job.Allocation.GPUType)
	return k >= 0 && p.hosts[k].counts()
}

// writeChoices fills in an item's choices. A pinned job must take the one
// configuration it has.
func (p *Policy) writeChoices(r *row) {
	it := &r.item
	it.choices, it.origin, it.kept = it.choices[:0], it.origin[:0], -1
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
			v, ok := p.worth(own.goodput/r.unit, it.factor(held))
			if !ok {
				continue
			}
			if held && !it.shape.baked {
				it.kept = len(it.choices)
			}
			it.choices = append(it.choices, mmkp.Choice{Value: v, Use: use, More: own.uses})
			it.origin = append(it.origin, origin{int32(k), int32(n)})
		}
	}
}

// pinnedChoice returns the only choice of a pinned job.
func (r *row) pinnedChoice() mmkp.Choice {
	c := mmkp.Choice{Use: mmkp.Use{Resource: r.pin.resource, Amount: float64(r.pin.GPUs)}}
	if r.pin.host.counts() {
		c.More = r.pin.host.uses(r.share.CPUs, r.share.Memory)
	}
	return c
}

// factor returns the restart factor that a choice's Value has in it: 1, unless
// it is baked in or nothing is left.
func (it *item) factor(held bool) float64 {
	switch {
	case held:
		return 1
	case it.shape.frozen:
		return 0
	case it.shape.baked:
		return it.shape.factor
	}
	return 1
}

// takeNumber returns a number that no item has.
func (p *Policy) takeNumber() int {
	if n := len(p.numbers); n > 0 {
		number := p.numbers[n-1]
		p.numbers = p.numbers[:n-1]
		return number
	}
	p.items++
	return p.items - 1
}

// drop takes a row out of the engine.
func (p *Policy) drop(r *row) error {
	if !r.item.filed {
		return nil
	}
	p.numbers = append(p.numbers, r.item.number)
	return p.engine.Remove(r.item.number)
}

// worth returns minus the cost, or the worth, of a normalised goodput after a
// restart of the given factor; ok is false if the job cannot run.
func (p *Policy) worth(goodput, factor float64) (worth float64, ok bool) {
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
