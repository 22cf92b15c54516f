package copter_test

import (
	"context"
	"fmt"
	"log"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/lp"
)

// Two jobs share 8 GPUs: the first gains 3 with 4 of them, or 5 with 8, the
// second 2.5 with 4. Then it is worth more to give the first one all.
func Example() {
	problem := &lp.Problem{}
	row := func(up float64) lp.Row {
		r, err := problem.AddRow(-lp.Inf, up)
		if err != nil {
			log.Fatal(err)
		}
		return r
	}
	gpus, first, second := row(8), row(1), row(1)
	config := func(job lp.Row, value, amount float64) lp.Col {
		c, err := problem.AddCol(-value, 0, lp.Inf, lp.RowEntry{Row: job, Value: 1}, lp.RowEntry{Row: gpus, Value: amount})
		if err != nil {
			log.Fatal(err)
		}
		return c
	}
	cols := []lp.Col{config(first, 3, 4), config(first, 5, 8), config(second, 2.5, 4)}

	solver, err := copter.New(copter.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		s, err := solver.Solve(context.Background(), problem)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: value %.2f, at most %.2f:", s.Status, -s.Objective, -s.Bound)
		for _, c := range cols {
			fmt.Printf(" %.2f", s.Value(c))
		}
		fmt.Println()
		if err := problem.SetCost(cols[1], -6); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// optimal: value 5.50, at most 5.50: 1.00 0.00 1.00
	// optimal: value 6.00, at most 6.00: 0.00 1.00 0.00
}
