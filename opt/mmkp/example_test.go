package mmkp_test

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// Table 3.1 of the Sia thesis in spirit: two jobs, one node with two GPUs of
// type a (resource 0) and one with four of type b (resource 1).
func ExampleSolve() {
	a := func(value, n float64) mmkp.Choice {
		return mmkp.Choice{Value: value, Use: mmkp.Use{Resource: 0, Amount: n}}
	}
	b := func(value, n float64) mmkp.Choice {
		return mmkp.Choice{Value: value, Use: mmkp.Use{Resource: 1, Amount: n}}
	}
	p := &mmkp.Problem{
		Capacity: []float64{2, 4},
		Items: []mmkp.Item{
			{Choices: []mmkp.Choice{a(1, 1), a(2, 2), b(2, 1), b(3, 2), b(5, 4)}},
			{Choices: []mmkp.Choice{a(1, 1), a(3, 2), b(1, 1), b(2, 2), b(3, 4)}},
		},
	}
	s, err := mmkp.Solve(context.Background(), p, nil, mmkp.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("picks", s.Pick, "value", s.Value, s.Status)
	fmt.Println("a price per GPU of each type:", len(s.Prices) == 2)
	// Output:
	// picks [4 1] value 8 optimal
	// a price per GPU of each type: true
}
