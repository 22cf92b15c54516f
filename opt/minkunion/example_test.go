package minkunion_test

import (
	"fmt"

	"github.com/oxgang/oxgang/opt/minkunion"
)

// Two of four sets: those that share element 0 cost less together than the two that have
// cheap elements of their own.
func ExampleSolve() {
	p := &minkunion.Problem{
		Sets: []minkunion.Set{
			{Elements: []int{0}},
			{Elements: []int{0}},
			{Elements: []int{1}},
			{Elements: []int{2}},
		},
		Elements: []int64{5, 3, 3},
		Pick:     2,
	}
	s, err := minkunion.Solve(p, minkunion.Options{MaxSteps: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Sets, s.Cost, s.Bound)
	// Output: [0 1] 5 5
}
