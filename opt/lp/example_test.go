package lp_test

import (
	"fmt"

	"github.com/oxgang/oxgang/opt/lp"
)

// A problem is edited between solves: rows and columns go by handles.
func ExampleProblem() {
	p := &lp.Problem{}
	gpus, _ := p.AddRow(-lp.Inf, 8) // at most 8 GPUs
	job := func(values ...float64) (lp.Row, []lp.Col) {
		once, _ := p.AddRow(-lp.Inf, 1) // one choice at most
		var choices []lp.Col
		for k, v := range values {
			c, _ := p.AddCol(-v, 0, 1, lp.RowEntry{Row: once, Value: 1}, lp.RowEntry{Row: gpus, Value: float64(int(4) << k)})
			choices = append(choices, c)
		}
		return once, choices
	}
	_, first := job(2, 3)    // worth 2 on 4 GPUs, 3 on 8
	row, second := job(1, 5) // and another
	fmt.Println(p.Rows(), "rows,", p.Cols(), "columns,", p.Nonzeros(), "coefficients")

	// The second job ends, the price of the first changes, a machine comes.
	if err := p.RemoveCols(second...); err != nil {
		fmt.Println(err)
	}
	if err := p.RemoveRow(row); err != nil {
		fmt.Println(err)
	}
	if err := p.SetCost(first[1], -4); err != nil {
		fmt.Println(err)
	}
	if err := p.SetRHS(gpus, -lp.Inf, 16); err != nil {
		fmt.Println(err)
	}
	fmt.Println(p.Rows(), "rows,", p.Cols(), "columns,", p.Nonzeros(), "coefficients")
	fmt.Println(p.SetCost(second[0], 1))
	// Output:
	// 3 rows, 4 columns, 8 coefficients
	// 2 rows, 2 columns, 4 coefficients
	// column 2 was removed, or is not of this problem
}

// Any multipliers prove a bound; those of an optimum prove that it is one.
func ExampleBound() {
	p := &lp.Problem{}
	need, _ := p.AddRow(3, lp.Inf)
	_, _ = p.AddCol(2, 0, 10, lp.RowEntry{Row: need, Value: 1}) // 2 each, 3 wanted
	fmt.Println(lp.Bound(p, []float64{1}), lp.Bound(p, []float64{2}))
	// Output: 3 6
}
