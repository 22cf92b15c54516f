package lptest

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/lp"
)

type knownProblem struct {
	name   string
	build  func(*builder)
	status lp.Status
	want   float64
}

type builder struct {
	t    tb
	p    *lp.Problem
	rows []lp.Row
	cols []lp.Col
}

func (b *builder) row(low, up float64) int {
	r, err := b.p.AddRow(low, up)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	b.rows = append(b.rows, r)
	return len(b.rows) - 1
}

func (b *builder) col(cost, low, up float64, entries ...float64) {
	var all []lp.RowEntry
	for k := 0; k < len(entries); k += 2 {
		all = append(all, lp.RowEntry{Row: b.rows[int(entries[k])], Value: entries[k+1]})
	}
	c, err := b.p.AddCol(cost, low, up, all...)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	b.cols = append(b.cols, c)
}

var inf = lp.Inf

func table() []knownProblem {
	return slices.Concat(plainProblems(), specialProblems(), shapedProblems(), withoutOptimum())
}

func plainProblems() []knownProblem {
	return []knownProblem{
		{name: "empty", want: 7, build: func(b *builder) { b.p.Offset = 7 }},
		{name: "no rows", want: -5, build: func(b *builder) {
			b.col(1, 1, 5)
			b.col(-2, -1, 3)
			b.col(0, 2, 4)
		}},
		{name: "no rows, a free column without cost", want: 0, build: func(b *builder) { b.col(0, -inf, inf) }},
		{name: "a row without columns", want: -3, build: func(b *builder) {
			b.row(-1, 1)
			b.row(-inf, 3)
			b.col(-1, 0, inf, 1, 1)
		}},
		{name: "only a row without columns", want: 0, build: func(b *builder) { b.row(-1, 1) }},
		{name: "a column without rows", want: -6, build: func(b *builder) {
			b.row(-inf, 4)
			b.col(-1, 0, inf, 0, 1)
			b.col(-1, 0, 2)
		}},
		{name: "equality", want: 3, build: func(b *builder) { // x + 2y = 4, y <= 1: (2, 1)
			b.row(4, 4)
			b.col(1, 0, inf, 0, 1)
			b.col(1, 0, 1, 0, 2)
		}},
		{name: "range row, upper side", want: -5, build: func(b *builder) {
			b.row(2, 5)
			b.col(-1, 0, 4, 0, 1)
			b.col(-1, 0, 4, 0, 1)
		}},
		{name: "range row, lower side", want: 2, build: func(b *builder) {
			b.row(2, 5)
			b.col(1, 0, 4, 0, 1)
			b.col(1, 0, 4, 0, 1)
		}},
		{name: "free row", want: -4, build: func(b *builder) {
			b.row(-inf, inf)
			b.row(-inf, 4)
			b.col(-1, 0, inf, 0, 1, 1, 1)
		}},
	}
}

func specialProblems() []knownProblem {
	return []knownProblem{
		{name: "free columns", want: -3, build: func(b *builder) { // x - y >= 1, x + y >= -3
			b.row(1, inf)
			b.row(-3, inf)
			b.col(1, -inf, inf, 0, 1, 1, 1)
			b.col(1, -inf, inf, 0, -1, 1, 1)
		}},
		{name: "fixed columns", want: 8, build: func(b *builder) { // 2x + y >= 7 at y = 3: x = 2
			b.row(7, inf)
			b.col(1, 0, inf, 0, 2)
			b.col(2, 3, 3, 0, 1)
		}},
		{name: "all columns fixed", want: 11, build: func(b *builder) {
			b.row(0, 5)
			b.col(1, 2, 2, 0, 1)
			b.col(3, 3, 3, 0, 1)
		}},
		{name: "negative upper bound", want: 12.5, build: func(b *builder) { // x <= -2, y >= 5 - x
			b.row(5, inf)
			b.col(-1, -inf, -2, 0, 1)
			b.col(1.5, 0, inf, 0, 1)
		}},
		{name: "duplicate rows", want: -2, build: func(b *builder) {
			for range 5 {
				b.row(-inf, 2)
			}
			b.row(-inf, 4)
			b.col(-1, 0, inf, 0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 2)
			b.col(-0.5, 0, inf, 0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 2)
		}},
		{name: "duplicate equalities", want: 1, build: func(b *builder) {
			b.row(1, 1)
			b.row(2, 2)
			b.col(1, 0, inf, 0, 1, 1, 2)
			b.col(1, 0, inf, 0, 1, 1, 2)
		}},
		{name: "degenerate vertex", want: -2, build: func(b *builder) {
			b.row(-inf, 2)
			b.row(-inf, 3)
			b.row(-inf, 3)
			b.row(-inf, 4)
			b.col(-1, 0, 1, 0, 1, 1, 2, 2, 1, 3, 3)
			b.col(-1, 0, 1, 0, 1, 1, 1, 2, 2, 3, 1)
		}},
		// Beale's example, on which the simplex method may cycle.
		{name: "Beale", want: -0.05, build: func(b *builder) {
			b.row(-inf, 0)
			b.row(-inf, 0)
			b.row(-inf, 1)
			b.col(-0.75, 0, inf, 0, 0.25, 1, 0.5)
			b.col(150, 0, inf, 0, -60, 1, -90)
			b.col(-0.02, 0, inf, 0, -1.0/25, 1, -1.0/50, 2, 1)
			b.col(6, 0, inf, 0, 9, 1, 3)
		}},
		{name: "no gain", want: 0, build: func(b *builder) {
			b.row(-inf, 3)
			b.col(0, 0, inf, 0, 1)
			b.col(1, 0, inf, 0, 1)
		}},
		{name: "zero is the only point", want: 0, build: func(b *builder) {
			b.row(-inf, 0)
			b.col(-1, 0, inf, 0, 1)
			b.col(-2, 0, inf, 0, 1)
		}},
	}
}

func shapedProblems() []knownProblem {
	return []knownProblem{
		// A bent cube: max sum 2^(n-j) x_j is 5^n.
		{name: "Klee-Minty", want: -math.Pow(5, 5), build: func(b *builder) {
			const n = 5
			for i := range n {
				b.row(-inf, math.Pow(5, float64(i+1)))
			}
			for j := range n {
				entries := []float64{float64(j), 1}
				for i := j + 1; i < n; i++ {
					entries = append(entries, float64(i), math.Pow(2, float64(i-j+1)))
				}
				b.col(-math.Pow(2, float64(n-1-j)), 0, inf, entries...)
			}
		}},
		{name: "bad scales", want: -1.01, build: func(b *builder) {
			b.row(-inf, 1e4)
			b.row(-inf, 1e-2)
			b.col(-1, 0, inf, 0, 1e4)
			b.col(-100, 0, inf, 1, 100)
		}},
		{name: "transport", want: 480, build: transport},
		{name: "assignment", want: 91, build: assignment},
		{name: "maximum flow", want: -23, build: maximumFlow},
		{name: "knapsack", want: -knapsackValue, build: knapsack},
		{name: "choices under one capacity", want: -11, build: choices},
		{name: "smallest largest load", want: 7, build: loads},
		{name: "stock over twelve months", want: 120*3 + 143*0.5, build: stock},
		{name: "shifts round the clock", want: 26, build: shifts},
		{name: "mixture", want: 0.5*2 + 0.5*6, build: mixture},
	}
}

// transport ships 20, 30, 25 from three places to four that want 10, 25, 15, 25. Costs are u_i + v_j on the
// optimal route, and more elsewhere.
func transport(b *builder) {
	supply, demand := []float64{20, 30, 25}, []float64{10, 25, 15, 25}
	u, v := []float64{0, 2, 4}, []float64{5, 3, 6, 4}
	extra := [3][4]float64{{0, 0, 3, 7}, {4, 0, 0, 2}, {9, 1, 5, 0}} // 0 on the route
	for _, s := range supply {
		b.row(s, s)
	}
	for _, d := range demand {
		b.row(d, d)
	}
	for i := range supply {
		for j := range demand {
			b.col(u[i]+v[j]+extra[i][j], 0, inf, float64(i), 1, float64(3+j), 1)
		}
	}
	// 0 * 20 + 2 * 30 + 4 * 25 + 5 * 10 + 3 * 25 + 6 * 15 + 4 * 25 = 475
	b.p.Offset = 5
}

func assignment(b *builder) {
	const n = 7
	for range 2 * n {
		b.row(1, 1)
	}
	for i := range n {
		for j := range n {
			extra := float64((i*5 + j*3) % n)
			b.col(float64(2*i+1)+float64(2*j)+extra, 0, inf, float64(i), 1, float64(n+j), 1)
		}
	}
}

func maximumFlow(b *builder) {
	arcs := [][3]float64{{0, 1, 16}, {0, 2, 13}, {1, 2, 10}, {2, 1, 4}, {1, 3, 12}, {3, 2, 9}, {2, 4, 14}, {4, 3, 7}, {3, 5, 20}, {4, 5, 4}}
	for range 6 {
		b.row(0, 0)
	}
	for _, a := range arcs {
		b.col(0, 0, a[2], a[0], -1, a[1], 1)
	}
	b.col(-1, 0, inf, 5, -1, 0, 1)
}

func knapsack(b *builder) {
	b.row(-inf, 100)
	for i := range 50 {
		value, weight := knapsackItem(i)
		b.col(-value, 0, 1, 0, weight)
	}
}

func knapsackItem(i int) (value, weight float64) {
	return float64(10 + i*37%41), float64(3 + i*17%13)
}

var knapsackValue = func() float64 {
	order := make([]int, 50)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		va, wa := knapsackItem(a)
		vb, wb := knapsackItem(b)
		return cmp.Compare(vb/wb, va/wa)
	})
	room, total := 100.0, 0.0
	for _, i := range order {
		value, weight := knapsackItem(i)
		part := min(1, room/weight)
		room -= part * weight
		total += part * value
	}
	return total
}()

func choices(b *builder) {
	capacity := float64(b.row(-inf, 8))
	for range 3 {
		one := float64(b.row(-inf, 1))
		b.col(-2, 0, inf, capacity, 1, one, 1)
		b.col(-5, 0, inf, capacity, 4, one, 1)
		b.col(-3, 0, inf, capacity, 2, one, 1)
	}
}

func loads(b *builder) {
	b.row(21, 21)
	for range 3 {
		b.row(-inf, 0)
	}
	for i := range 3 {
		b.col(0, 0, 20, 0, 1, float64(i+1), 1)
	}
	b.col(1, -inf, inf, 1, -1, 2, -1, 3, -1)
}

// stock makes at most 10 a month at 3 and sells 4.5, 5.5, ..., in total 120. The stock, in total 143, costs 0.5 a
// month.
func stock(b *builder) {
	for m := range 12 {
		want := 4.5 + float64(m)
		b.row(want, want)
	}
	for m := range 12 {
		b.col(3, 0, 10, float64(m), 1)
	}
	for m := range 11 {
		b.col(0.5, 0, inf, float64(m), -1, float64(m+1), 1)
	}
}

// shifts hires people for two of six periods each. The first, third and fifth period share no people and need 4 +
// 10 + 12.
func shifts(b *builder) {
	for _, need := range []float64{4, 8, 10, 7, 12, 4} {
		b.row(need, inf)
	}
	for i := range 6 {
		b.col(1, 0, inf, float64(i), 1, float64((i+1)%6), 1)
	}
}

// mixture makes a kilogram with 20 to 25 %, from 0 and 40 % at 2 and 6: half and half. A third kind is too
// expensive.
func mixture(b *builder) {
	b.row(1, 1)
	b.row(0.20, 0.25)
	b.col(2, 0, inf, 0, 1)
	b.col(6, 0, inf, 0, 1, 1, 0.4)
	b.col(9, 0, inf, 0, 1, 1, 0.2)
}

func withoutOptimum() []knownProblem {
	return []knownProblem{
		{name: "infeasible rows", status: lp.Infeasible, build: func(b *builder) {
			b.row(3, inf)
			b.row(-inf, 2)
			b.col(1, 0, inf, 0, 1, 1, 1)
			b.col(1, 0, inf, 0, 1, 1, 1)
		}},
		{name: "infeasible bounds", status: lp.Infeasible, build: func(b *builder) {
			b.row(5, inf)
			b.col(1, 0, 2, 0, 1)
			b.col(1, 0, 2, 0, 1)
		}},
		{name: "infeasible equalities", status: lp.Infeasible, build: func(b *builder) {
			b.row(1, 1)
			b.row(3, 3)
			b.col(0, -inf, inf, 0, 1, 1, 2)
			b.col(0, -inf, inf, 0, 1, 1, 2)
		}},
		{name: "infeasible row without columns", status: lp.Infeasible, build: func(b *builder) {
			b.row(1, 2)
			b.col(1, 0, 1)
		}},
		{name: "infeasible row, no columns at all", status: lp.Infeasible, build: func(b *builder) { b.row(-inf, -1) }},
		{name: "infeasible fixed columns", status: lp.Infeasible, build: func(b *builder) {
			b.row(0, 1)
			b.col(0, 1, 1, 0, 1)
			b.col(0, 1, 1, 0, 1)
		}},
		{name: "infeasible flow", status: lp.Infeasible, build: func(b *builder) { // 9 in, 8 through
			b.row(9, 9)
			b.row(0, 0)
			b.col(1, 0, inf, 0, 1, 1, -1)
			b.col(1, 0, 8, 1, 1)
		}},
		{name: "unbounded column", status: lp.Unbounded, build: func(b *builder) { b.col(-1, 0, inf) }},
		{name: "unbounded beside a row", status: lp.Unbounded, build: func(b *builder) {
			b.row(-inf, 3)
			b.col(-1, 0, inf, 0, 1)
			b.col(1, -inf, 0)
		}},
		{name: "unbounded direction", status: lp.Unbounded, build: func(b *builder) {
			b.row(-1, 2)
			b.col(-2, 0, inf, 0, 1)
			b.col(1, 0, inf, 0, -1)
		}},
	}
}
