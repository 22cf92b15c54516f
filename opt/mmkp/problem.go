package mmkp

import (
	"errors"
	"fmt"
	"math"
)

// largest bounds every number of a problem, so that sums stay finite.
const largest = 1e100

// A Use is an amount of one coupling resource.
type Use struct {
	Resource int     // index into Problem.Capacity; ignored if Amount is 0
	Amount   float64 // in the unit of the resource's capacity; finite, at least 0
}

// A Choice is one way to serve an item. Most choices use one resource: that use
// is embedded, and More stays nil.
type Choice struct {
	Value float64 // finite; a choice of value <= 0 is only ever taken if the item must
	Use
	More []Use // further uses; amounts of one resource add up
}

// An Item takes at most one of its choices.
type Item struct {
	Choices []Choice
	Must    bool // exactly one choice has to be taken: pinned or non-preemptive
}

// A Problem is a knapsack with several capacities. The solvers only read it.
type Problem struct {
	Capacity []float64 // per resource; finite, at least 0
	Items    []Item
}

// Validate joins every complaint about p's numbers; nil means solvable input
// (not that the items that must be served fit).
func (p *Problem) Validate() error {
	var all []error
	for k, b := range p.Capacity {
		if !(b >= 0 && b <= largest) {
			all = append(all, fmt.Errorf("resource %d: capacity %v, want finite and at least 0", k, b))
		}
	}
	for i := range p.Items {
		for j := range p.Items[i].Choices {
			if !p.Items[i].Choices[j].plain(len(p.Capacity)) {
				all = append(all, p.complain(i, j))
			}
		}
		if p.Items[i].Must && len(p.Items[i].Choices) == 0 {
			all = append(all, fmt.Errorf("item %d: no choices, want at least one as it must be served", i))
		}
	}
	return errors.Join(all...)
}

// plain reports whether all numbers of c are in range; the quick look before complain.
func (c *Choice) plain(resources int) bool {
	if !(math.Abs(c.Value) <= largest && c.Use.plain(resources)) {
		return false
	}
	for _, u := range c.More {
		if !u.plain(resources) {
			return false
		}
	}
	return true
}

func (u Use) plain(resources int) bool {
	return u.Amount == 0 || u.Amount > 0 && u.Amount <= largest && u.Resource >= 0 && u.Resource < resources
}

// complain says what is wrong with choice j of item i.
func (p *Problem) complain(i, j int) error {
	c := &p.Items[i].Choices[j]
	at := fmt.Sprintf("item %d, choice %d", i, j)
	if !(math.Abs(c.Value) <= largest) {
		return fmt.Errorf("%s: value %v, want finite", at, c.Value)
	}
	for _, u := range append([]Use{c.Use}, c.More...) {
		switch {
		case u.plain(len(p.Capacity)):
		case !(u.Amount >= 0 && u.Amount <= largest):
			return fmt.Errorf("%s: amount %v, want finite and at least 0", at, u.Amount)
		default:
			return fmt.Errorf("%s: resource %d, want one of %d", at, u.Resource, len(p.Capacity))
		}
	}
	return nil
}

// Value returns the value of pick (a choice per item, -1 for none) and what it
// uses of each resource. It panics if pick is of another length.
func (p *Problem) Value(pick []int) (value float64, used []float64) {
	if len(pick) != len(p.Items) {
		panic("mmkp: pick and items differ in length")
	}
	used = make([]float64, len(p.Capacity))
	for i, j := range pick {
		if j < 0 {
			continue
		}
		c := &p.Items[i].Choices[j]
		value += c.Value
		c.add(used, 1)
	}
	return value, used
}

// add adds sign times what c uses to used.
func (c *Choice) add(used []float64, sign float64) {
	if c.Amount != 0 {
		used[c.Resource] += sign * c.Amount
	}
	for _, u := range c.More {
		if u.Amount != 0 {
			used[u.Resource] += sign * u.Amount
		}
	}
}

// cost returns what c's uses cost at the given prices.
func (c *Choice) cost(prices []float64) float64 {
	total := 0.0
	if c.Amount != 0 {
		total = prices[c.Resource] * c.Amount
	}
	for _, u := range c.More {
		if u.Amount != 0 {
			total += prices[u.Resource] * u.Amount
		}
	}
	return total
}
