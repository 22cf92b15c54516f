package multimode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// Options state when Solve stops.
type Options struct {
	Gap    float64 // relative gap; default 1e-3 (Shockwave §8.9)
	Solves int     // limit of knapsacks; default 32
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options { return Options{Gap: 1e-3, Solves: 32} }

// Validate returns all errors in the options, joined.
func (o Options) Validate() error {
	var errs []error
	if !(o.Gap >= 0 && o.Gap < 1) {
		errs = append(errs, fmt.Errorf("multimode: gap %v, want at least 0 and below 1", o.Gap))
	}
	if o.Solves < 1 {
		errs = append(errs, fmt.Errorf("multimode: %d solves, want at least 1", o.Solves))
	}
	return errors.Join(errs...)
}

// A Schedule is the plan that Solve found for a window. No plan has a value above Bound.
type Schedule struct {
	Runs  []Run
	Value float64
	Bound float64
	// Prices are per unit of a resource and round; zeros if no knapsack was solved.
	Prices      []float64
	Solves      int // knapsacks solved
	Interrupted bool
}

// An interval is a range of limits z: plans within are worth at most bound.
type interval struct {
	low, high float64
	free      float64 // bound at high, without the last term
	bound     float64
}

type search struct {
	p      *Problem
	pick   *chooser
	open   []interval // may have better plans than the best
	cap    float64
	best   Schedule
	solved bool
	picked []count
}

// Solve returns the best plan that it finds for a window. It stops when the plan is within Options.Gap of the upper
// bound, after Options.Solves knapsacks, or when ctx ends.
//
// A round has unused capacity only if no waiting job would gain from it. Equal problems have equal plans, unless ctx
// ends first. Source: Shockwave §6.1, App. G.3, Eq. 11.
//
// Cost: each step solves a knapsack with jobs × modes × rounds choices, and packs the result into rounds. A small
// problem whose gap is still too large costs one more packing for each mode of each job.
func Solve(ctx context.Context, p *Problem, o Options) (*Schedule, error) {
	if err := errors.Join(o.Validate(), p.validate()); err != nil {
		return nil, err
	}
	s := &search{p: p, pick: newChooser(p)}
	s.keep(make([]count, len(p.Jobs)), -1) // fill gives jobs rounds
	err := s.begin(ctx, o)
	for err == nil && len(s.open) > 0 && s.pick.solves < o.Solves {
		n := s.promising()
		if i := &s.open[n]; i.thin() || i.bound-s.best.Value <= o.Gap*math.Abs(i.bound) {
			break
		}
		if ctx.Err() != nil {
			s.best.Interrupted = true
			break
		}
		err = s.halve(ctx, n)
	}
	if err != nil {
		return nil, fmt.Errorf("multimode: %w", err)
	}
	t := s.finish()
	if modes := p.modes(); t.Bound-t.Value > o.Gap*math.Abs(t.Bound) && modes > len(p.Jobs) && modes <= few {
		s.favour(ctx)
		t = s.finish()
	}
	return t, nil
}

func (s *search) begin(ctx context.Context, o Options) (err error) {
	low, high := s.p.limits()
	free := s.p.most()
	s.cap, err = s.try(ctx, high, s.p.Lambda, free) // the load replaces the last term
	switch {
	case s.p.Lambda == 0:
		low, free = high, s.cap
	case err == nil && o.Solves > 1:
		free, err = s.try(ctx, high, 0, free)
	}
	s.split(low, high, free)
	return err
}

// limits returns the range of z: the least last term and the most that a job has left.
func (p *Problem) limits() (low, high float64) {
	load := 0.0
	for i := range p.Jobs {
		j := &p.Jobs[i]
		least := j.Idle.Left
		high = max(high, j.Idle.Left)
		for _, at := range p.points(j) {
			least, high = min(least, at.Left), max(high, at.Left)
		}
		low = max(low, least)
		load += j.Idle.Load
	}
	low = max(low, load-p.relief())
	return low, max(low, high)
}

func (p *Problem) relief() float64 {
	most := make([]float64, len(p.Capacity)) // per unit and round
	for i := range p.Jobs {
		j := &p.Jobs[i]
		for n, at := range p.points(j) {
			m := &j.Modes[n.mode]
			fall := (j.Idle.Load - at.Load) / (float64(m.Amount) * float64(n.rounds))
			most[m.Resource] = max(most[m.Resource], fall)
		}
	}
	total := 0.0
	for k, b := range p.Capacity {
		total += most[k] * float64(b) * float64(p.Rounds)
	}
	return total
}

func (p *Problem) most() float64 {
	total := 0.0
	for i := range p.Jobs {
		best := p.Jobs[i].Idle.Value
		for _, at := range p.points(&p.Jobs[i]) {
			best = max(best, at.Value)
		}
		total += best
	}
	return total
}

// try plans with a limit, and returns an upper bound minus a price of the load: −∞ without plans, known at the
// solver's limits.
func (s *search) try(ctx context.Context, z, price, known float64) (float64, error) {
	pick, bound, err := s.pick.choose(ctx, z, price)
	switch {
	case errors.Is(err, mmkp.ErrInfeasible):
		return math.Inf(-1), nil
	case errors.Is(err, mmkp.ErrLimit):
		return known, nil
	case err != nil:
		return known, err
	}
	s.keep(pick, -1)
	return min(bound, known), nil
}

func (s *search) keep(pick []count, favoured int) {
	runs := place(s.p, slices.Clone(pick), s.pick.prices, favoured)
	if v := s.p.Worth(runs); !s.solved || v > s.best.Value {
		s.solved, s.best.Runs, s.best.Value, s.picked = true, runs, v, pick
	}
}

// favour tries packings that start with each job and mode. Large modes fit together in ways that sums over rounds
// do not show.
func (s *search) favour(ctx context.Context) {
	for i := range s.p.Jobs {
		for m := range s.p.Jobs[i].Modes {
			if ctx.Err() != nil {
				s.best.Interrupted = true
				return
			}
			pick := slices.Clone(s.picked)
			pick[i] = count{m, len(s.p.Jobs[i].Modes[m].After)}
			s.keep(pick, i)
		}
	}
}

func (p *Problem) modes() int {
	total := 0
	for i := range p.Jobs {
		total += len(p.Jobs[i].Modes)
	}
	return total
}

const few = 256

func (s *search) split(low, high, free float64) {
	if bound := min(s.cap, free-s.p.Lambda*low); bound > s.best.Value {
		s.open = append(s.open, interval{low, high, free, bound})
	}
}

func (s *search) promising() int {
	best := 0
	for n := range s.open {
		if s.open[n].bound > s.open[best].bound {
			best = n
		}
	}
	return best
}

func (i *interval) middle() float64 { return i.low + (i.high-i.low)/2 }

func (i *interval) thin() bool { return i.middle() <= i.low || i.middle() >= i.high }

func (s *search) halve(ctx context.Context, n int) error {
	i := s.open[n]
	mid := i.middle()
	free, err := s.try(ctx, mid, 0, i.free)
	if err != nil {
		return err
	}
	s.open = slices.Delete(s.open, n, n+1)
	s.split(mid, i.high, i.free)
	s.split(i.low, mid, free)
	return nil
}

func (s *search) finish() *Schedule {
	t := s.best
	t.Prices = slices.Clone(s.pick.prices)
	t.Bound, t.Solves = t.Value, s.pick.solves
	for _, i := range s.open {
		t.Bound = max(t.Bound, i.bound)
	}
	return &t
}

func (k *packing) tidy(i int) {
	j := &k.p.Jobs[i]
	for _, piece := range pieces(k.runs[i].Rounds) {
		for _, to := range beside(k.runs[i].Rounds&^piece, piece, k.p.Rounds) {
			r := k.runs[i]
			fewer := j.further(r) - j.further(Run{r.Mode, r.Rounds&^piece | to})
			if fewer > 0 && k.transfer(i, piece, to, j.Again*float64(fewer)) {
				break
			}
		}
	}
}

func pieces(rounds uint64) []uint64 {
	var all []uint64
	for rounds != 0 {
		low := rounds & -rounds
		piece := rounds &^ (rounds + low)
		all = append(all, piece)
		rounds &^= piece
	}
	return all
}

func beside(others, piece uint64, rounds int) []uint64 {
	n := bits.OnesCount64(piece)
	starts := []int{0}
	for _, other := range pieces(others) {
		starts = append(starts, bits.Len64(other), bits.TrailingZeros64(other)-n)
	}
	var places []uint64
	for _, t := range starts {
		if t >= 0 && t+n <= rounds && ones(t, n)&others == 0 {
			places = append(places, ones(t, n))
		}
	}
	return places
}

func (k *packing) transfer(i int, piece, to uint64, limit float64) bool {
	k.log = k.log[:0]
	mode := k.runs[i].Mode
	m := &k.p.Jobs[i].Modes[mode]
	for ; piece != 0; piece &= piece - 1 {
		k.drop(i, bits.TrailingZeros64(piece))
	}
	for ; to != 0; to &= to - 1 {
		t := bits.TrailingZeros64(to)
		cost, ok := k.makeRoom(m, t, limit)
		if !ok {
			k.undo(0)
			return false
		}
		limit -= cost
		k.take(i, mode, t)
	}
	return true
}
