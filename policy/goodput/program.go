package goodput

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
)

const maxCost = 3000

// A Worth converts a job's normalised goodput G into the value whose sum is maximised:
//
//	Weight · ( Base − (factor·G)^p )   for p < 0,
//	Weight · ( Base + (factor·G)^p )   for p > 0.
//
// The factor is 1 for the configuration that the job holds.
type Worth struct {
	Weight float64 // of the job relative to others, above 0
	Base   float64 // worth of running at all: λ
	Factor float64 // 0 to 1: cost of a restart
	// Factors, if not nil, replace Factor by one for each column of the Row.
	Factors []float64
}

func (w *Worth) factor(k int) float64 {
	if w.Factors != nil {
		return w.Factors[k]
	}
	return w.Factor
}

// An item is a row in the engine, with a choice for each allowed column and cell. Restarts and λ change every round:
// they are not in the choices' Values, but reach the engine through Adjust.
type item struct {
	number  int
	filed   bool
	shape   shapeOf
	stale   bool // the choices changed although the shape did not
	choices []mmkp.Choice
	origin  []origin
	now     mmkp.Adjustment // adjustment of this round; Kept is the choice that the job holds
	factors []float64       // by column: factors contained in the choices; see Worth.Factors
	shared  bool            // the slices belong to a copy, too
	onSets  []mmkp.Use      // node sets that the held configuration uses
}

type origin struct{ column, cell int32 }

type shapeOf struct {
	pin, held cluster.Configuration
	share     cluster.Resources
	out       bool // no choices: it is profiled, barred, or could not get its reservation
	frozen    bool // a restart would cost all of its goodput
	baked     bool // values contain the factor of restarts
	factor    float64
}

// Choices returns the worth of each configuration that the job may get in this round, with the CPUs and memory that
// suit the job best. A worth can be negative.
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

func (it *item) value(c int) float64 {
	if c == it.now.Kept {
		return it.now.Base + it.now.KeptFactor*it.choices[c].Value
	}
	return it.now.Base + it.now.Factor*it.choices[c].Value
}

// file updates the engine's program from the rows: one item per job, one choice per allowed configuration and cell.
// The value of a choice is its gain over giving the job nothing: λ minus the cost (r·G)^p for p < 0, and (r·G)^p plus
// λ for p > 0, times the weight. If only weight, λ or r changed, no choice is written. Source: Sia §3.3.4, Eq. 3.4
// and 3.5, and "Preemption and reservation"; thesis §4.3.2, "Differential interface for problem updates".
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

const worthless = 1e-9

func (p *Program) fileRow(r *Row) error {
	it := &r.item
	now := shapeOf{
		pin: r.pin.Configuration, share: r.share, held: r.job.Allocation.Configuration, frozen: r.Worth.Factors == nil && r.Worth.Factor < worthless,
		out: r.pin.IsZero() && (r.job.Phase == job.Profiling || !r.job.Reservation.IsZero()),
	}
	switch {
	case r.Worth.Factors != nil:
		now.baked = true
		it.own()
		it.stale = it.stale || !slices.Equal(it.factors, r.Worth.Factors)
		it.factors = append(it.factors[:0], r.Worth.Factors...)
	case p.o.Rules.RoundCosts || p.resizes(r):
		now.baked, now.factor = true, r.Worth.Factor
	}
	if len(p.sets) > 0 && r.held >= 0 {
		if uses := p.setUses(r, &r.columns[r.held]); !slices.Equal(uses, it.onSets) {
			it.onSets, it.stale = uses, true
		}
	}
	if !it.filed || it.stale || it.shape != now {
		it.shape = now
		it.own()
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
	if !it.shape.baked && !it.shape.frozen { // otherwise the choices contain it
		it.now.Factor = w * math.Pow(r.Worth.Factor, p.o.P)
	}
	return p.engine.Adjust(it.number, it.now)
}

// resizes reports whether several choices need no restart: the cells of the held configuration. Adjust supports only
// one.
func (p *Program) resizes(r *Row) bool {
	if !sensitive(r.job) {
		return false
	}
	k := p.resource(r.job.Allocation.GPUType)
	return k >= 0 && p.hosts[k].counts()
}

func (p *Program) writeChoices(r *Row) {
	it := &r.item
	it.choices, it.origin, it.now.Kept = it.choices[:0], it.origin[:0], -1
	if !r.pin.IsZero() {
		pinned := r.pinnedChoice()
		pinned.More = append(pinned.More, p.setUses(r, &r.pin)...)
		it.choices = append(it.choices, pinned)
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
		use, onSets := mmkp.Use{Resource: c.resource, Amount: float64(c.GPUs)}, p.setUses(r, &c)
		for n, own := range r.cells[k] {
			v, ok := p.worth(own.goodput/r.unit, r.filedFactor(k, held))
			if !ok {
				continue
			}
			if held && !it.shape.baked {
				it.now.Kept = len(it.choices)
			}
			it.choices = append(it.choices, mmkp.Choice{Value: v, Use: use, More: joined(own.uses, onSets)})
			it.origin = append(it.origin, origin{int32(k), int32(n)})
		}
	}
}

func joined(a, b []mmkp.Use) []mmkp.Use {
	if len(b) == 0 {
		return a
	}
	return slices.Concat(a, b)
}

func (r *Row) pinnedChoice() mmkp.Choice {
	c := mmkp.Choice{Use: mmkp.Use{Resource: r.pin.resource, Amount: float64(r.pin.GPUs)}}
	if r.pin.host.counts() {
		c.More = r.pin.host.uses(r.share.CPUs, r.share.Memory)
	}
	return c
}

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

func (p *Program) takeNumber() int {
	if n := len(p.numbers); n > 0 {
		number := p.numbers[n-1]
		p.numbers = p.numbers[:n-1]
		return number
	}
	p.items++
	return p.items - 1
}

func (p *Program) drop(r *Row) error {
	if !r.item.filed {
		return nil
	}
	p.numbers = append(p.numbers, r.item.number)
	return p.engine.Remove(r.item.number)
}

// worth returns the worth (p > 0) or minus the cost (p < 0) of a normalised goodput after a restart of the given
// factor; ok is false if the job cannot run.
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

const share = 32

func (p *Program) refreshAll(stale []staleRow) {
	first, later := p.duplicates(stale)
	Each(len(first), func(i int) { p.refresh(first[i]) })
	for _, t := range later {
		p.copyRow(t)
	}
}

// Each calls do with each number from 0 to n-1, in parallel if n is large enough. The calls must not depend on each
// other. If one panics, Each panics.
func Each(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/share)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var (
		all      sync.WaitGroup
		taken    atomic.Int64
		panicked atomic.Value
	)
	for range workers {
		all.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					panicked.CompareAndSwap(nil, wrapped{r})
				}
			}()
			for {
				end := int(taken.Add(share))
				if end-share >= n {
					return
				}
				for i := end - share; i < min(end, n); i++ {
					do(i)
				}
			}
		})
	}
	all.Wait()
	if r := panicked.Load(); r != nil {
		panic(r.(wrapped).value) // on the goroutine of the caller, which recovers from panics of policies
	}
}

type wrapped struct{ value any }
