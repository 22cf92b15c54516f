package lptest

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// transports: goods go from sources to as many sinks in the plane, at the cost of the
// distance; a tenth more is there than is wanted.
func transports(m *maker, n int) {
	supply, demand := make([]lp.Row, n), make([]lp.Row, n)
	x, y := make([]float64, 2*n), make([]float64, 2*n)
	total := 0.0
	for i := range demand {
		want := m.in(1, 10)
		total += want
		demand[i] = m.row(want, inf)
	}
	for i := range supply {
		supply[i] = m.row(-inf, 1.1*total/float64(n))
	}
	for i := range x {
		x[i], y[i] = m.in(0, 100), m.in(0, 100)
	}
	for i := range supply {
		for j := range demand {
			m.col(math.Hypot(x[i]-x[n+j], y[i]-y[n+j]), 0, inf, at(supply[i], 1), at(demand[j], 1))
		}
	}
}

// packing: the most valuable of ten times as many things as there are limits, each of
// which is in a tenth of them.
func packing(m *maker, n int) {
	limits := m.rows(n, -inf, float64(n)/8)
	for range 10 * n {
		var uses []lp.RowEntry
		value := m.in(0.5, 1.5)
		for _, i := range m.few(max(2, n/10), n) {
			use := m.in(0.1, 1)
			uses = append(uses, at(limits[i], use))
			value += use
		}
		m.col(-value, 0, 1, uses...)
	}
}

// multiCommodity: twelve goods share the arcs of a network, four from each node. Each
// goes from one node to another; what does not fit stays behind at a price.
func multiCommodity(m *maker, n int) {
	const goods = 12
	var arcs [][2]int
	for i := range n {
		arcs = append(arcs, [2]int{i, (i + 1) % n})
		for range 3 {
			arcs = append(arcs, [2]int{i, (i + 1 + m.IntN(n-1)) % n})
		}
	}
	shared, cost := make([]lp.Row, len(arcs)), make([]float64, len(arcs))
	for a := range arcs {
		shared[a], cost[a] = m.row(-inf, m.in(2, 12)), m.in(1, 10)
	}
	for range goods {
		m.commodity(n, arcs, cost, shared)
	}
}

// commodity adds one good: a balance for each node, and a column for each arc.
func (m *maker) commodity(n int, arcs [][2]int, cost []float64, shared []lp.Row) {
	from := m.IntN(n)
	to := (from + 1 + m.IntN(n-1)) % n
	amount := m.in(2, 10)
	balance := make([]lp.Row, n)
	for i := range balance {
		net := 0.0
		switch i {
		case from:
			net = amount
		case to:
			net = -amount
		}
		balance[i] = m.row(net, net)
	}
	for a, arc := range arcs {
		m.col(cost[a], 0, inf, at(balance[arc[0]], 1), at(balance[arc[1]], -1), at(shared[a], 1))
	}
	m.col(200, 0, amount, at(balance[from], 1), at(balance[to], -1))
}

// cover: the cheapest of twice as many sets that have each of n elements once.
func cover(m *maker, n int) {
	elements := m.rows(n, 1, inf)
	for _, e := range elements { // each is in one set of its own, so that there is a cover
		m.col(m.in(4, 5), 0, 1, at(e, 1))
	}
	for range 2 * n {
		var has []lp.RowEntry
		for _, i := range m.few(2+m.IntN(8), n) {
			has = append(has, at(elements[i], 1))
		}
		m.col(float64(len(has))*m.in(0.5, 1), 0, 1, has...)
	}
}

// assignments: each of n workers does one of n tasks.
func assignments(m *maker, n int) {
	workers, tasks := m.rows(n, 1, 1), m.rows(n, 1, 1)
	for _, w := range workers {
		for _, t := range tasks {
			m.col(math.Round(m.in(1, 1000)), 0, inf, at(w, 1), at(t, 1))
		}
	}
}

// staircase: n periods in which eight goods are made on four machines, stored, and
// sold; what was not made is bought, at ten times the price.
func staircase(m *maker, n int) {
	const goods, machines = 8, 4
	hours := make([]float64, goods*machines)
	for k := range hours {
		hours[k] = m.in(0.5, 2)
	}
	var stored []lp.Row
	for t := range n {
		work := m.rows(machines, -inf, 60)
		next := make([]lp.Row, goods)
		for g := range next {
			want := 10 * (1 + 0.8*math.Sin(float64(t)/4+float64(g))) * m.in(0.5, 1.5)
			next[g] = m.row(want, want)
			for k := range machines {
				m.col(m.in(1, 3), 0, inf, at(next[g], 1), at(work[k], hours[g*machines+k]))
			}
			m.col(20, 0, inf, at(next[g], 1))
			if t > 0 {
				m.col(0.3, 0, 50, at(stored[g], -1), at(next[g], 1))
			}
		}
		stored = next
	}
}

// deviations: the least sum of absolute deviations of n observations from a
// linear model of 15 features, whose coefficients are free; a tenth are outliers.
func deviations(m *maker, n int) {
	const features = 15
	truth := make([]float64, features)
	for k := range truth {
		truth[k] = m.NormFloat64()
	}
	model := make([][]lp.RowEntry, features)
	for range n {
		value, x := 0.1*m.NormFloat64(), make([]float64, features)
		for k := range x {
			x[k] = m.NormFloat64()
			value += truth[k] * x[k]
		}
		if m.IntN(10) == 0 {
			value += m.in(-20, 20)
		}
		r := m.row(value, value)
		for k := range x {
			model[k] = append(model[k], at(r, x[k]))
		}
		m.col(1, 0, inf, at(r, 1))
		m.col(1, 0, inf, at(r, -1))
	}
	for k := range model {
		m.col(0, -inf, inf, model[k]...)
	}
}
