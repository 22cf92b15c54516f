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
	s, err := mmkp.NewSolver().Solve(context.Background(), p, nil, mmkp.DefaultOptions())
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

// A program whose items come, change and go: a job runs on what it has got, and
// would pay for a restart elsewhere.
func ExampleProgram() {
	p, err := mmkp.NewProgram([]float64{4}) // four GPUs
	if err != nil {
		fmt.Println(err)
		return
	}
	choices := func(one, two, four float64) mmkp.Item {
		return mmkp.Item{Choices: []mmkp.Choice{
			{Value: one, Use: mmkp.Use{Amount: 1}},
			{Value: two, Use: mmkp.Use{Amount: 2}},
			{Value: four, Use: mmkp.Use{Amount: 4}},
		}}
	}
	solve := func(ids ...mmkp.ItemID) {
		s, err := p.Solve(context.Background(), mmkp.DefaultOptions())
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, id := range ids {
			fmt.Print("choice ", p.Pick(id), ", ")
		}
		fmt.Println("value", s.Value)
	}
	a, _ := p.Add(choices(2, 3, 5))
	solve(a)
	b, _ := p.Add(choices(1.5, 2.5, 3))
	solve(a, b)
	_ = p.Adjust(a, mmkp.Adjustment{Base: 0, Factor: 0.5, Kept: p.Pick(a), KeptFactor: 1}) // a restart would cost it half
	_ = p.Set(b, choices(3, 3.5, 4))
	solve(a, b)
	_ = p.Remove(a)
	solve(b)
	// Output:
	// choice 2, value 5
	// choice 1, choice 1, value 5.5
	// choice 1, choice 1, value 6.5
	// choice 2, value 4
}

// Choices that use several resources: GPUs (0) and CPU cores (1).
func ExampleSolve_severalResources() {
	use := func(value, gpus, cores float64) mmkp.Choice {
		return mmkp.Choice{Value: value, Use: mmkp.Use{Resource: 0, Amount: gpus}, More: []mmkp.Use{{Resource: 1, Amount: cores}}}
	}
	p := &mmkp.Problem{
		Capacity: []float64{4, 16},
		Items: []mmkp.Item{
			{Choices: []mmkp.Choice{use(2, 1, 2), use(3, 1, 6), use(4, 2, 12)}},
			{Choices: []mmkp.Choice{use(3, 2, 4), use(4, 2, 8)}},
			{Choices: []mmkp.Choice{use(1, 1, 1), use(1.5, 1, 4)}},
		},
	}
	s, err := mmkp.NewSolver().Solve(context.Background(), p, nil, mmkp.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	value, used := p.Value(s.Pick)
	fmt.Println("picks", s.Pick, "value", value, "uses", used, s.Status)
	// Output:
	// picks [1 1 0] value 8 uses [4 15] optimal
}
