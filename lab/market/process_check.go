package market

import (
	"errors"
	"fmt"
	"math"
)

// Validate returns all errors.
func (p *Process) Validate() error {
	var errs []error
	if len(p.Chains) == 0 || len(p.Allocations) == 0 || p.Rounds < 1 {
		errs = append(errs, fmt.Errorf("process: %d chains, %d allocations, %d rounds, want at least 1 of each",
			len(p.Chains), len(p.Allocations), p.Rounds))
	}
	for a := range p.Allocations {
		errs = append(errs, p.checkAllocation(a))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range p.Chains {
		errs = append(errs, p.checkChain(i))
	}
	return errors.Join(errs...)
}

func (p *Process) checkAllocation(a int) error {
	x := p.Allocations[a]
	if len(x) != len(p.Chains) {
		return fmt.Errorf("process: allocation %d: %d shares, want %d", a, len(x), len(p.Chains))
	}
	var errs []error
	for i, share := range x {
		errs = append(errs, checkNumber(share, "process: allocation %d, chain %d: share", a, i))
	}
	if sum(x) > 1+tiny {
		errs = append(errs, fmt.Errorf("process: allocation %d: shares add up to %g, want at most 1", a, sum(x)))
	}
	return errors.Join(errs...)
}

func (p *Process) checkChain(i int) error {
	c := &p.Chains[i]
	errs := []error{checkChances(c.Start, len(c.Start), "process: chain %d: start", i)}
	if !(c.Budget > 0) || math.IsInf(c.Budget, 0) {
		errs = append(errs, fmt.Errorf("process: chain %d: budget %g, want more than 0 and finite", i, c.Budget))
	}
	if c.Next == nil || c.Gain == nil {
		return errors.Join(append(errs, fmt.Errorf("process: chain %d: no Next or no Gain", i))...)
	}
	for s := range c.Start {
		for _, x := range p.Allocations {
			chances := c.Next(s, x[i])
			if err := checkChances(chances, len(c.Start), "process: chain %d: next of state %d, share %g", i, s, x[i]); err != nil {
				errs = append(errs, err)
				continue
			}
			for next := range chances {
				errs = append(errs, checkNumber(c.Gain(s, x[i], next), "process: chain %d: gain from state %d, share %g, to state %d", i, s, x[i], next))
			}
		}
	}
	return errors.Join(errs...)
}

// tiny is the allowed rounding of sums.
const tiny = 1e-9

// checkChances wants n probabilities that sum to 1.
func checkChances(chances []float64, n int, what string, args ...any) error {
	if len(chances) != n {
		return fmt.Errorf(what+": %d probabilities, want %d", append(args, len(chances), n)...)
	}
	for _, c := range chances {
		if err := checkNumber(c, what+": probability", args...); err != nil {
			return err
		}
	}
	if total := sum(chances); math.Abs(total-1) > tiny {
		return fmt.Errorf(what+": probabilities add up to %g, want 1", append(args, total)...)
	}
	return nil
}
