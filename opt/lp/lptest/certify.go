package lptest

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// Certify reports what is wrong with x and y as a proof that x is optimal to a tolerance:
// x must meet rows and bounds (each relative to 1 + its side), reduced costs and multipliers
// must have a bound or side that holds them (relative to 1 + the column's cost), and the
// objectives of both must agree (relative to 1 + that of x). It computes all from the
// program's columns, and nothing as opt/lp does.
func Certify(p *lp.Problem, x, y []float64, tolerance float64) error {
	c := &certificate{tolerance: tolerance, activity: make([]float64, p.RowSlots())}
	for j := range p.ColSlots() {
		if p.HasCol(j) {
			c.column(p.Column(j), j, x[j], y)
		}
	}
	for i := range p.RowSlots() {
		if !p.HasRow(i) {
			continue
		}
		low, up := p.Sides(i)
		c.within("row", i, c.activity[i], low, up)
		c.dual += c.held("dual of row", i, y[i], low, up, 0)
	}
	if gap := math.Abs(c.primal-c.dual) / (1 + math.Abs(c.primal)); !(gap <= tolerance) {
		c.complain("objective %v, that of the duals %v", c.primal, c.dual)
	}
	return c.err
}

// A certificate is added up column by column and row by row. It keeps the first complaint.
type certificate struct {
	tolerance    float64
	activity     []float64
	primal, dual float64
	err          error
}

func (c *certificate) complain(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *certificate) column(col lp.Column, j int, x float64, y []float64) {
	reduced := col.Cost
	for k, r := range col.Rows {
		c.activity[r] += col.Values[k] * x
		reduced -= col.Values[k] * y[r]
	}
	c.primal += col.Cost * x
	c.within("column", j, x, col.Low, col.Up)
	c.dual += c.held("reduced cost of column", j, reduced, col.Low, col.Up, math.Abs(col.Cost))
}

// within checks low <= v <= up.
func (c *certificate) within(what string, i int, v, low, up float64) {
	if v < low-c.tolerance*(1+math.Abs(low)) || v > up+c.tolerance*(1+math.Abs(up)) || math.IsNaN(v) {
		c.complain("%s %d: %v, want %v to %v", what, i, v, low, up)
	}
}

// held returns what a multiplier adds to the dual objective, by the end that holds it.
func (c *certificate) held(what string, i int, v, low, up, size float64) float64 {
	end := low
	if v < 0 {
		end = up
	}
	if !math.IsInf(end, 0) {
		return v * end
	}
	if !(math.Abs(v) <= c.tolerance*(1+size)) {
		c.complain("%s %d: %v, and nothing holds it", what, i, v)
	}
	return 0
}
