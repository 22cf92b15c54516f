package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// A Weight is what a solution of the relaxation gives a choice of an item.
type Weight struct {
	Item, Choice int
	X            float64 // above 0, at most 1
}

// tiny is the weight below which a value of the relaxation counts as 0; within
// as much of 1 it counts as 1.
const tiny = 1e-6

// divided returns the number of items of which a choice has a weight between 0
// and 1. Weights are by item.
func divided(weights []Weight) int {
	n, last := 0, -1
	for _, w := range weights {
		if w.X > tiny && w.X < 1-tiny && w.Item != last {
			n++
			last = w.Item
		}
	}
	return n
}

// shim makes weights, which are by item, whole: every item takes the choice of
// highest weight that fits into what is left, or none. It writes the picks, by
// item, to pick. An item that must be served takes whatever fits rather than
// none; the error is mmkp.ErrLimit if nothing does.
//
// Source: thesis §4.4.1, "Applying COpter".
// Deviation: items that must be served choose first, then those whose highest
// weight is highest, because the thesis names no order, and an item that the
// relaxation divides could take what a whole one has.
func (b *book) shim(weights []Weight, pick []int) ([]int, error) {
	pick = pick[:0]
	left := make([]float64, len(b.capacity))
	for k, amount := range b.capacity {
		left[k] = amount * (1 + slack)
	}
	own := make([][]Weight, len(b.entries))
	for first := 0; first < len(weights); {
		end := first + 1
		for end < len(weights) && weights[end].Item == weights[first].Item {
			end++
		}
		own[weights[first].Item] = weights[first:end]
		first = end
	}
	order := make([]int, 0, len(own))
	for i, w := range own {
		pick = append(pick, -1)
		slices.SortStableFunc(w, func(a, b Weight) int { return cmp.Compare(b.X, a.X) })
		if b.entries[i].live {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return b.before(i, j, own) })
	for _, i := range order {
		if pick[i] = b.heaviest(i, own[i], left); pick[i] >= 0 {
			b.pay(i, pick[i], left, -1)
		} else if b.entries[i].must {
			return nil, fmt.Errorf("item %d: must be served, and nothing of it fits beside the others: %w", i, mmkp.ErrLimit)
		}
	}
	return pick, nil
}

// slack is the relative amount by which a capacity may be exceeded, as in mmkp.
const slack = 1e-10

// before orders items for the shim.
func (b *book) before(i, j int, own [][]Weight) int {
	if b.entries[i].must != b.entries[j].must {
		if b.entries[i].must {
			return -1
		}
		return 1
	}
	return cmp.Compare(top(own[j]), top(own[i]))
}

// top returns the highest of an item's weights, which are sorted.
func top(own []Weight) float64 {
	if len(own) == 0 {
		return 0
	}
	return own[0].X
}

// heaviest returns the choice of highest weight that fits into left, -1 for
// none.
func (b *book) heaviest(i int, own []Weight, left []float64) int {
	for _, w := range own {
		if b.entries[i].worth(w.Choice) && b.fits(i, w.Choice, left) {
			return w.Choice
		}
	}
	if b.entries[i].must {
		for j := range b.entries[i].choices {
			if b.fits(i, j, left) {
				return j
			}
		}
	}
	return -1
}

func (b *book) fits(i, j int, left []float64) bool {
	c := &b.entries[i].choices[j]
	for k := range left {
		if a := c.Uses(k); a > 0 && a > left[k] {
			return false
		}
	}
	return true
}
