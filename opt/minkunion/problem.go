package minkunion

import (
	"errors"
	"fmt"
	"math"
)

// A Set is a set of distinct elements. It costs Cost, plus the costs of its elements.
type Set struct {
	Elements []int
	Cost     int64 // may be negative
}

// A Problem asks for the Pick sets with the lowest total cost. Each set has its own cost, and each element of their
// union is paid once.
type Problem struct {
	Sets     []Set
	Elements []int64 // cost of each element, at least 0
	Pick     int
}

// Options limit the work of Solve.
type Options struct {
	MaxSteps int     // limit of visited edges, 5 to 10 ns each
	Slack    int64   // stops when Bound > Cost - Slack; at least 1, which means the optimum
	Start    [][]int // answers to start from, instead of greedy ones
}

// A Solution has the picked sets and their cost; Bound <= optimum <= Cost.
type Solution struct {
	Sets  []int // ascending
	Cost  int64
	Bound int64
	Nodes int
	Steps int
}

// maxTotal bounds the sum of costs: multiples stay below 2⁶².
const maxTotal = 1 << 60

func (p *Problem) validate() error {
	var bad []error
	if p.Pick < 0 || p.Pick > len(p.Sets) {
		bad = append(bad, fmt.Errorf("pick %d sets, want 0 to %d", p.Pick, len(p.Sets)))
	}
	for e, c := range p.Elements {
		if c < 0 {
			bad = append(bad, fmt.Errorf("element %d: cost %d, want at least 0", e, c))
		}
	}
	seen := make([]int, len(p.Elements))
	for s := range p.Sets {
		bad = append(bad, p.checkSet(s, seen))
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}
	if p.total() > maxTotal {
		return fmt.Errorf("costs sum to more than %d", int64(maxTotal))
	}
	return nil
}

func (p *Problem) checkSet(s int, seen []int) error {
	for _, e := range p.Sets[s].Elements {
		if e < 0 || e >= len(p.Elements) {
			return fmt.Errorf("set %d: element %d, want 0 to %d", s, e, len(p.Elements)-1)
		}
		if seen[e] == s+1 {
			return fmt.Errorf("set %d: element %d twice", s, e)
		}
		seen[e] = s + 1
	}
	return nil
}

func (p *Problem) total() int64 {
	sum := 0.0
	for _, c := range p.Elements {
		sum += float64(c)
	}
	for _, s := range p.Sets {
		sum += math.Abs(float64(s.Cost))
	}
	return int64(min(sum, 2*maxTotal)) + 1
}

// Cost returns the total cost of the picked sets: their own costs, plus the cost of each element in their union, paid
// once.
func (p *Problem) Cost(picked []int) int64 {
	paid := make([]bool, len(p.Elements))
	sum := int64(0)
	for _, s := range picked {
		sum += p.Sets[s].Cost
		for _, e := range p.Sets[s].Elements {
			if !paid[e] {
				paid[e], sum = true, sum+p.Elements[e]
			}
		}
	}
	return sum
}
