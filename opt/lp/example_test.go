package lp_test

import (
	"fmt"
	"os"
	"strings"

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

func ExampleReadMPS() {
	file := `NAME SHOP
ROWS
 N cost
 G hours
COLUMNS
 day cost 5 hours 8
 night cost 7 hours 8
RHS
 RHS hours 40
BOUNDS
 UP BND day 3
ENDATA
`
	m, err := lp.ReadMPS(strings.NewReader(file), lp.MPSOptions{File: "shop.mps"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range m.Problem.ColSlots() {
		c := m.Problem.Column(j)
		fmt.Println(m.ColName(j), c.Cost, c.Low, c.Up)
	}
	_, err = lp.ReadMPS(strings.NewReader("ROWS\n N cost\n G hours\nCOLUMNS\n day hours eight\n"), lp.MPSOptions{File: "shop.mps"})
	fmt.Println(err)
	// Output:
	// day 5 0 3
	// night 7 0 +Inf
	// shop.mps:5:12: "eight", want a number
}

func ExampleWriteMPS() {
	p := &lp.Problem{}
	r, _ := p.AddRow(1, 4)
	_, _ = p.AddCol(-3, 0, 2, lp.RowEntry{Row: r, Value: 1})
	_ = lp.WriteMPS(os.Stdout, &lp.Model{Name: "small", Problem: p, ColNames: []string{"x"}})
	// Output:
	// NAME small
	// ROWS
	//  N obj
	//  G r0
	// COLUMNS
	//  x obj -3
	//  x r0 1
	// RHS
	//  RHS r0 1
	// RANGES
	//  RNG r0 3
	// BOUNDS
	//  UP BND x 2
	// ENDATA
}
