package market

import "math"

// A Utility says how a buyer's utility of a round depends on what it gets.
type Utility uint8

// The utilities of Shockwave's markets. Source: Shockwave §C.2, Eq. 3.
const (
	Linear   Utility = iota // Σⱼ uⱼ xⱼ: GPU types stand in for one another
	Leontief                // minⱼ xⱼ/aⱼ: all are needed at once, aⱼ of each a unit of utility
)

// A Buyer is a job with its budget. Its utility over time is the sum of those of
// its rounds.
type Buyer struct {
	Budget  float64 // Bᵢ, more than 0
	Utility Utility
	// Rates are uᵢₜⱼ or aᵢₜⱼ, by round and type, at least 0: utility per unit of
	// the good, or units of the good per utility (0: not needed). In a round that
	// is nil the buyer has no use for anything.
	Rates [][]float64
}

// A Market is a volatile Fisher market: the goods of each round are sold to
// buyers whose utilities change from round to round, and nothing is kept.
// Source: Shockwave §4.1, §C.1.
//
// Deviation: supplies are amounts, because the paper's unit of each resource hides
// which share of a cluster a GPU is.
type Market struct {
	Supply [][]float64 // by round and type, say GPU hours; at least 0
	Buyers []Buyer
}

// Settings are tolerances and limits. The zero value of a field stands for its
// default.
type Settings struct {
	Gap        float64 // Solution.Gap that is small enough; default 1e-10
	Iterations int     // of Newton's method; default 200
}

func (s Settings) withDefaults() Settings {
	if s.Gap <= 0 {
		s.Gap = 1e-10
	}
	if s.Iterations <= 0 {
		s.Iterations = 200
	}
	return s
}

// A Solution is an equilibrium: what each buyer gets, and at which prices.
type Solution struct {
	X          [][][]float64 // by buyer, round and type; within supplies, never less than 0
	Prices     [][]float64   // by round and type, per unit; all supplies together cost all budgets
	Utilities  []float64     // by buyer, over time
	Welfare    float64       // Σᵢ Bᵢ/B log Uᵢ: the logarithm of Nash social welfare over time
	Bound      float64       // no feasible X has more welfare: the prices prove it
	Gap        float64       // Bound − Welfare
	Iterations int           // of Newton's method
	Converged  bool          // Gap is as small as was asked for
}

// Solve returns the market's equilibrium: the allocation of greatest Nash social
// welfare over time, and as prices the duals of the supplies. Where several
// allocations are equally good it is one from their midst. Errors: what Validate
// says. It modifies nothing. An iteration costs buyers times goods squared, plus
// goods cubed; 10 to 25 do. Source: Shockwave Eq. 1, Theorem C.1.
func (m *Market) Solve(s Settings) (*Solution, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	s = s.withDefaults()
	e := m.economy()
	t, steps := e.program.solve(s, func(t *iterate) float64 { return e.solution(t).Gap })
	out := e.solution(t)
	out.Iterations = steps
	out.Converged = out.Gap <= s.Gap
	return out, nil
}

// Of returns a buyer's utility over time of x, by round and type.
func (b *Buyer) Of(x [][]float64) float64 {
	total := 0.0
	for t, rates := range b.Rates {
		if rates != nil {
			total += b.Utility.of(rates, x[t])
		}
	}
	return total
}

func (u Utility) of(rates, x []float64) float64 {
	if u == Linear {
		total := 0.0
		for j, r := range rates {
			total += r * x[j]
		}
		return total
	}
	least := math.Inf(1)
	for j, r := range rates {
		if r > 0 {
			least = math.Min(least, x[j]/r)
		}
	}
	return least
}

// Welfare returns the logarithm of an allocation's Nash social welfare over time,
// Σᵢ Bᵢ/B log Uᵢ; -Inf if somebody gets nothing. x goes by buyer, round and type.
// Source: Shockwave Eq. 1.
func (m *Market) Welfare(x [][][]float64) float64 {
	utilities := make([]float64, len(m.Buyers))
	for i := range m.Buyers {
		utilities[i] = m.Buyers[i].Of(x[i])
	}
	return welfare(m.budgets(), utilities)
}

func welfare(budgets, utilities []float64) float64 {
	total := 0.0
	for i, b := range budgets {
		total += b * math.Log(utilities[i])
	}
	return total / sum(budgets)
}

// Rho returns each buyer's finish-time fairness ρ: its utility of a share of all
// supplies as large as its part of the budgets, over its utility of x. At most 1
// is fair. Source: Shockwave §E, where budgets are equal and the share is C/N.
func (m *Market) Rho(x [][][]float64) []float64 {
	rho, total := make([]float64, len(m.Buyers)), sum(m.budgets())
	for i := range m.Buyers {
		b := &m.Buyers[i]
		rho[i] = b.Budget / total * b.Of(m.Supply) / b.Of(x[i])
	}
	return rho
}

// Spent returns what x, by round and type, costs at the prices.
func (s *Solution) Spent(x [][]float64) float64 {
	total := 0.0
	for t := range x {
		for j, v := range x[t] {
			total += v * s.Prices[t][j]
		}
	}
	return total
}

func (m *Market) budgets() []float64 {
	b := make([]float64, len(m.Buyers))
	for i := range b {
		b[i] = m.Buyers[i].Budget
	}
	return b
}
