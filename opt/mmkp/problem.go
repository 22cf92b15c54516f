package mmkp

import (
	"errors"
	"fmt"
	"math"
)

const largest = 1e100

// A Use is how much of one shared resource a choice needs.
type Use struct {
	Resource int     // index into Problem.Capacity; ignored if Amount is 0
	Amount   float64 // in the unit of the resource's capacity; finite, at least 0
}

// A Choice is one option of an item: its value and the resources that it needs. If it needs one resource, More is
// nil.
type Choice struct {
	Value float64 // finite; a choice of value <= 0 is only taken if the item must be served
	Use
	More []Use // further uses; amounts of one resource add up
}

// An Item is a set of choices; a solution takes at most one of them. Choices are read fastest if sorted by resource,
// then amount.
type Item struct {
	Choices []Choice
	Must    bool // exactly one choice must be taken
	Keep    int  // index of a choice that a Program must not drop as dominated, because Adjust may favour it
}

// A Problem is a multiple-choice knapsack: items, and the capacity of each resource.
type Problem struct {
	Capacity []float64 // per resource; finite, at least 0
	Items    []Item
}

// Validate returns all errors in p, joined. It does not check whether the capacities suffice for the items that a
// solution must serve (Must).
func (p *Problem) Validate() error {
	var all []error
	for k, b := range p.Capacity {
		all = append(all, checkCapacity(k, b))
	}
	for i := range p.Items {
		for j := range p.Items[i].Choices {
			if c := &p.Items[i].Choices[j]; !c.plain(len(p.Capacity)) {
				all = append(all, fmt.Errorf("item %d, %w", i, c.complain(j, len(p.Capacity))))
			}
		}
		if p.Items[i].Must && len(p.Items[i].Choices) == 0 {
			all = append(all, fmt.Errorf("item %d: %w", i, errNothing))
		}
	}
	return errors.Join(all...)
}

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

var errNothing = errors.New("no choices, want at least one as it must be served")

func checkCapacity(k int, b float64) error {
	if b >= 0 && b <= largest {
		return nil
	}
	return fmt.Errorf("resource %d: capacity %v, want finite and at least 0", k, b)
}

func (c *Choice) complain(j, resources int) error {
	if !(math.Abs(c.Value) <= largest) {
		return fmt.Errorf("choice %d: value %v, want finite", j, c.Value)
	}
	for _, u := range append([]Use{c.Use}, c.More...) {
		switch {
		case u.plain(resources):
		case !(u.Amount >= 0 && u.Amount <= largest):
			return fmt.Errorf("choice %d: amount %v, want finite and at least 0", j, u.Amount)
		default:
			return fmt.Errorf("choice %d: resource %d, want one of %d", j, u.Resource, resources)
		}
	}
	return nil
}

// Value returns the total value of a solution, and its use of each resource. pick has the index of a choice for each
// item, or -1 for none.
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

// Uses returns how much of resource k the choice needs.
func (c *Choice) Uses(k int) float64 {
	total := 0.0
	if c.Resource == k {
		total = c.Amount
	}
	for _, u := range c.More {
		if u.Resource == k {
			total += u.Amount
		}
	}
	return total
}
