package timetable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// Options say when a plan is good enough.
type Options struct {
	Gap    float64 // relative to the bound; default 1e-3 (Shockwave §8.9)
	Solves int     // knapsacks at most; default 32
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options { return Options{Gap: 1e-3, Solves: 32} }

// Validate joins all complaints about o.
func (o Options) Validate() error {
	var errs []error
	if !(o.Gap >= 0 && o.Gap < 1) {
		errs = append(errs, fmt.Errorf("timetable: gap %v, want at least 0 and below 1", o.Gap))
	}
	if o.Solves < 1 {
		errs = append(errs, fmt.Errorf("timetable: %d solves, want at least 1", o.Solves))
	}
	return errors.Join(errs...)
}

// An interval of limits: nothing with a limit in (low, high] is worth more than bound.
type interval struct {
	low, high float64
	free      float64 // bound on the value at high, without the last term
	bound     float64
}

// A search is a solution in the making.
type search struct {
	p     *Problem
	o     Options
	pick  *chooser
	open  []interval
	cap   float64 // no plan is worth more
	best  Timetable
	found bool
}

// Solve plans a window. It returns the best plan found when the gap is met, so many
// knapsacks were solved, or ctx ended; there is always one. Errors: those of
// Validate. It costs a knapsack of jobs × modes × rounds choices for each solve.
func Solve(ctx context.Context, p *Problem, o Options) (*Timetable, error) {
	if err := errors.Join(o.Validate(), p.Validate()); err != nil {
		return nil, err
	}
	s := &search{p: p, o: o, pick: newChooser(p)}
	s.keep(make([]count, len(p.Jobs))) // nobody runs but on what is left
	low, high := p.limits()
	most := p.most()
	over, err := s.try(ctx, high, p.Lambda, most) // all of the last term is load
	s.cap = over
	free := most
	if err == nil {
		free, err = s.try(ctx, high, 0, most)
	}
	s.split(low, high, free)
	for err == nil && len(s.open) > 0 && s.pick.solves < o.Solves {
		i := s.promising()
		if s.met(i.bound) {
			break
		}
		err = s.halve(ctx, i)
	}
	return s.finish(ctx, err)
}

// halve looks into an interval.
func (s *search) halve(ctx context.Context, i interval) error {
	mid := (i.low + i.high) / 2
	free, err := s.try(ctx, mid, 0, i.free)
	if err != nil {
		return err
	}
	s.open = slices.DeleteFunc(s.open, func(o interval) bool { return o == i })
	s.split(mid, i.high, i.free)
	s.split(i.low, mid, free)
	return nil
}

// limits returns between which limits the best one lies: what is left of the longest
// job cannot be less than low, need not be more than high.
func (p *Problem) limits() (low, high float64) {
	load := 0.0
	for i := range p.Jobs {
		j := &p.Jobs[i]
		least := j.Idle.Left
		for m := range j.Modes {
			for _, at := range j.Modes[m].After {
				least = min(least, at.Left)
			}
		}
		low, high = max(low, least), max(high, j.Idle.Left)
		load += j.Idle.Load
	}
	low = max(low, load-p.relief())
	return low, max(low, high)
}

// relief returns by how much the load can fall in the window, at most.
func (p *Problem) relief() float64 {
	total := 0.0
	for k, b := range p.Capacity {
		most := 0.0 // by a unit in a round
		for i := range p.Jobs {
			j := &p.Jobs[i]
			for m := range j.Modes {
				if mode := &j.Modes[m]; mode.Resource == k {
					for n, at := range mode.After {
						most = max(most, (j.Idle.Load-at.Load)/float64(mode.Amount*(n+1)))
					}
				}
			}
		}
		total += most * float64(b*p.Rounds)
	}
	return total
}

// most returns what all jobs are worth if each has the rounds it likes best.
func (p *Problem) most() float64 {
	total := 0.0
	for i := range p.Jobs {
		best := p.Jobs[i].Idle.Value
		for m := range p.Jobs[i].Modes {
			for _, at := range p.Jobs[i].Modes[m].After {
				best = max(best, at.Value)
			}
		}
		total += best
	}
	return total
}

// try plans with a limit and returns the bound on what that can be worth, less
// a price of the load: −∞ if it cannot be kept, what was known if that is not found out.
func (s *search) try(ctx context.Context, z, price, known float64) (free float64, err error) {
	pick, free, err := s.pick.choose(ctx, z, price)
	switch {
	case errors.Is(err, mmkp.ErrInfeasible):
		return math.Inf(-1), nil
	case errors.Is(err, mmkp.ErrLimit):
		return known, nil
	case err != nil:
		return known, err
	}
	s.keep(pick)
	return min(free, known), nil
}

// keep places numbers of rounds, and keeps the plan if it is the best.
func (s *search) keep(pick []count) {
	runs := place(s.p, pick)
	if v := s.p.Worth(runs); !s.found || v > s.best.Value {
		s.found, s.best.Runs, s.best.Value = true, runs, v
		s.best.Prices = append(s.best.Prices[:0], s.pick.prices...)
	}
}

// split leaves an interval to be looked into, unless nothing in it is better.
func (s *search) split(low, high, free float64) {
	if bound := min(s.cap, free-s.p.Lambda*low); bound > s.best.Value {
		s.open = append(s.open, interval{low, high, free, bound})
	}
}

// promising returns the interval with the greatest bound.
func (s *search) promising() interval {
	return slices.MaxFunc(s.open, func(a, b interval) int { return cmp.Compare(a.bound, b.bound) })
}

// met reports whether the plan is good enough for a bound.
func (s *search) met(bound float64) bool {
	return bound-s.best.Value <= s.o.Gap*math.Abs(bound)
}

// finish returns the best plan with its bound: the greatest of an interval that was
// not looked into.
func (s *search) finish(ctx context.Context, err error) (*Timetable, error) {
	t := s.best
	t.Bound, t.Solves = t.Value, s.pick.solves
	for _, i := range s.open {
		t.Bound = max(t.Bound, i.bound)
	}
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("timetable: %w", err)
	}
	t.Interrupted = err != nil
	return &t, nil
}
