package convex

import (
	"errors"
	"fmt"
	"math"
)

// Within these limits, no product or quotient is infinite.
const (
	smallest = 1e-30
	largest  = 1e30
)

const slack = 1e-12

// A BudgetError states that a budget is too small for the arriving work, so that the queue would grow for ever. Source:
// BOA §3.2, "Feasibility".
type BudgetError struct {
	Budget float64
	Least  float64 // smallest feasible budget
}

// Error states the budget and the smallest feasible one, in the problem's unit.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("convex: budget %g, want at least %g", e.Budget, e.Least)
}

func checkBudget(budget, least float64) error {
	switch {
	case math.IsNaN(budget):
		return fmt.Errorf("convex: budget %g, want a number", budget)
	case budget < least*(1-slack):
		return &BudgetError{Budget: budget, Least: least}
	default:
		return nil
	}
}

// Validate returns all errors in the problem.
func (p *Problem) Validate() error {
	var errs []error
	for kind, price := range p.Prices {
		if price != 0 && !plain(price) {
			errs = append(errs, fmt.Errorf("convex: kind %d: price %g, want 0 or from %g to %g", kind, price, smallest, largest))
		}
	}
	for i := range p.Classes {
		errs = append(errs, p.Classes[i].check(i, p))
	}
	if len(p.Classes) == 0 {
		errs = append(errs, errors.New("convex: 0 classes, want at least 1"))
	}
	return errors.Join(errs...)
}

func (c *Class) check(i int, p *Problem) error {
	var errs []error
	complain := func(what string, v float64, want string) {
		errs = append(errs, fmt.Errorf("convex: class %d: %s %g, want %sfrom %g to %g", i, what, v, want, smallest, largest))
	}
	if !plain(c.Rate) {
		complain("rate", c.Rate, "")
	}
	if c.Weight != 0 && !plain(c.Weight) {
		complain("weight", c.Weight, "0 or ")
	}
	if c.Rescale != 0 && !plain(c.Rescale) {
		complain("rescale time", c.Rescale, "0 or ")
	}
	if len(c.Epochs) == 0 {
		errs = append(errs, fmt.Errorf("convex: class %d: 0 epochs, want at least 1", i))
	}
	for j := range c.Epochs {
		errs = append(errs, c.Epochs[j].check(i, j, p))
	}
	return errors.Join(errs...)
}

func (e *Epoch) check(i, j int, p *Problem) error {
	var errs []error
	if !plain(e.Size) {
		errs = append(errs, fmt.Errorf("convex: class %d, epoch %d: size %g, want from %g to %g", i, j, e.Size, smallest, largest))
	}
	if len(e.Points) == 0 {
		errs = append(errs, fmt.Errorf("convex: class %d, epoch %d: 0 widths, want at least 1", i, j))
	}
	for n, at := range e.Points {
		if err := at.check(p); err != nil {
			errs = append(errs, fmt.Errorf("convex: class %d, epoch %d, kind %d, width %d: %w", i, j, at.Kind, at.Width, err))
		} else if n > 0 && compare(e.Points[n-1], at) >= 0 {
			last := e.Points[n-1]
			errs = append(errs, fmt.Errorf("convex: class %d, epoch %d: width %d of kind %d after width %d of kind %d, want ascending",
				i, j, at.Width, at.Kind, last.Width, last.Kind))
		} else if n > 0 && len(errs) == 0 && p.falls(e.Points[n-1], at) {
			errs = append(errs, fmt.Errorf("convex: class %d, epoch %d, kind %d, width %d: cost %g, want at least the %g of width %d",
				i, j, at.Kind, at.Width, p.rate(at), p.rate(e.Points[n-1]), e.Points[n-1].Width))
		}
	}
	return errors.Join(errs...)
}

func (p *Problem) falls(before, at Point) bool {
	return p.Costs != nil && before.Kind == at.Kind && p.rate(at) < p.rate(before)
}

func (at Point) check(p *Problem) error {
	switch {
	case at.Kind < 0 || at.Kind >= p.kinds():
		return fmt.Errorf("want a kind from 0 to %d", p.kinds()-1)
	case at.Width < 1:
		return errors.New("want a width of at least 1")
	case !plain(at.Speed):
		return fmt.Errorf("speed %g, want from %g to %g", at.Speed, smallest, largest)
	case p.Costs != nil && p.rate(at) != 0 && !plain(p.rate(at)):
		return fmt.Errorf("cost %g, want 0 or from %g to %g", p.rate(at), smallest, largest)
	default:
		return nil
	}
}

func plain(v float64) bool { return v >= smallest && v <= largest }

func compare(a, b Point) int {
	if a.Kind != b.Kind {
		return a.Kind - b.Kind
	}
	return a.Width - b.Width
}
