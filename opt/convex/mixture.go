package convex

// A Mixture is the optimum for jobs that lose time when they rescale. A fraction Share of the arriving jobs of every
// class follows the plan Fast, the others Cheap. No policy with the same budget has a lower mean completion time. If
// one plan is enough, Share is 0 and Fast equals Cheap.
//
// Deviation: two plans, because with integer widths and rescaling time Lemma 4.3 does not hold (§4.3 says it does): see
// the counter-example in the tests.
type Mixture struct {
	Cheap, Fast Plan
	Share       float64 // in [0, 1)
	MeanJCT     float64
	Spend       float64 // smaller of the budget and Most
	Multiplier  float64 // decrease of MeanJCT for one more unit of budget
	Bound       float64 // lower bound on the mean completion time; equals MeanJCT up to rounding
	Least, Most float64 // smallest feasible and largest useful budget
	Steps       int     // multipliers tried
}

type trail struct {
	paths      [][]int32
	jct, spend float64
}

type pricer struct {
	lattices []lattice
	steps    int
}

func (s *pricer) at(time, money float64) trail {
	s.steps++
	t := trail{paths: make([][]int32, len(s.lattices))}
	for i := range s.lattices {
		l := &s.lattices[i]
		t.paths[i] = make([]int32, len(l.times))
		l.path(time, money, t.paths[i])
		took, spent := l.cost(t.paths[i])
		t.jct += l.class.Rate * l.gain * took
		t.spend += l.class.Rate * spent
	}
	return t
}

// tie is the weight of the lesser goal. With less, rounding hides prices that are 1 % apart.
const tie = 1e-11

func (s *pricer) ends() (cheap, fast trail) {
	fast = s.at(1, 0)
	weight := tie
	if fast.spend > 0 {
		weight *= fast.jct / fast.spend
	}
	fast = s.at(1, weight)
	cheap = s.at(tie, 1)
	if cheap.spend > 0 {
		cheap = s.at(tie*cheap.spend/cheap.jct, 1)
	}
	return cheap, fast
}

func (s *pricer) between(cheap, fast trail) (t trail, slope float64, below bool) {
	slope = max(0, cheap.jct-fast.jct) / (fast.spend - cheap.spend)
	t = s.at(1, slope)
	line := cheap.jct + slope*cheap.spend
	return t, slope, t.jct+slope*t.spend < line*(1-slack)
}

// Mixture returns the optimum within budget if starting and resizing jobs takes time. It returns a *BudgetError if the
// budget is too small. It finds the Lagrange multiplier of the budget by bisection, with about 20 shortest paths per
// class.
func (p *Problem) Mixture(budget float64) (*Mixture, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s := &pricer{lattices: p.lattices()}
	cheap, fast := s.ends()
	if err := checkBudget(budget, cheap.spend); err != nil {
		return nil, err
	}
	m := &Mixture{Least: cheap.spend, Most: fast.spend}
	if within := max(budget, cheap.spend) * (1 + slack); within < fast.spend {
		var least float64
		cheap, fast, m.Multiplier, least = s.around(cheap, fast, within)
		m.Bound = least - m.Multiplier*budget
		m.mix(p.plan(s, cheap), p.plan(s, fast), budget)
	} else {
		m.Bound = fast.jct
		m.only(p.plan(s, fast))
	}
	m.Steps = s.steps
	return m, nil
}

// around returns the neighbours of a budget on the lower hull, the slope between them, and the least of mean
// completion time + slope × spend.
func (s *pricer) around(cheap, fast trail, budget float64) (low, high trail, slope, least float64) {
	for {
		t, slope, below := s.between(cheap, fast)
		switch {
		case !below:
			return cheap, fast, slope, min(t.jct+slope*t.spend, cheap.jct+slope*cheap.spend)
		case t.spend <= budget:
			cheap = t
		default:
			fast = t
		}
	}
}

func (m *Mixture) only(l Plan) {
	m.Cheap, m.Fast, m.Share, m.MeanJCT, m.Spend = l, l, 0, l.MeanJCT, l.Spend
}

func (m *Mixture) mix(cheap, fast Plan, budget float64) {
	m.Share = (budget - cheap.Spend) / (fast.Spend - cheap.Spend)
	if m.Share < slack {
		m.only(cheap)
		return
	}
	m.Cheap, m.Fast = cheap, fast
	m.MeanJCT = cheap.MeanJCT + m.Share*(fast.MeanJCT-cheap.MeanJCT)
	m.Spend = cheap.Spend + m.Share*(fast.Spend-cheap.Spend)
}

func (p *Problem) plan(s *pricer, t trail) Plan {
	plan := Plan{Widths: make([][]Point, len(t.paths)), MeanJCT: t.jct, Spend: t.spend}
	for i, path := range t.paths {
		plan.Widths[i] = make([]Point, len(path))
		for j, k := range path {
			plan.Widths[i][j] = p.Classes[i].Epochs[j].Points[s.lattices[i].at[j][k]]
		}
	}
	return plan
}

// MixtureFrontier returns the lowest mean completion time as a function of the budget, if starting and resizing jobs
// takes time. The corners of the curve are single plans; points between them are mixtures of two.
func (p *Problem) MixtureFrontier() ([]Breakpoint, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s := &pricer{lattices: p.lattices()}
	cheap, fast := s.ends()
	var points []Breakpoint
	if cheap.spend < fast.spend*(1-slack) {
		points = s.bend(cheap, fast, nil)
	}
	return append(points, Breakpoint{Budget: fast.spend, MeanJCT: fast.jct}), nil
}

func (s *pricer) bend(cheap, fast trail, out []Breakpoint) []Breakpoint {
	t, slope, below := s.between(cheap, fast)
	switch {
	case !below || t.spend >= fast.spend*(1-slack):
		return append(out, Breakpoint{Budget: cheap.spend, MeanJCT: cheap.jct, Multiplier: slope})
	case t.spend <= cheap.spend*(1+slack):
		return s.bend(t, fast, out)
	default:
		return s.bend(t, fast, s.bend(cheap, t, out))
	}
}
