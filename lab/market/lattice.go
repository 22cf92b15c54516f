package market

import (
	"fmt"
	"math"
	"slices"
)

// maxRows bounds pairs of round and joint state: Newton's rows.
const maxRows = 4096

// negligible gains, relative, are left out of the program only.
const negligible = 1e-14

// A lattice is the program of a process. Its goods are probabilities of joint states by round; a column is an
// allocation in one. It uses that state and supplies the following ones.
type lattice struct {
	p       *Process
	program *program
	row     [][]int     // by round and joint state; -1 if unreachable
	most    [][]float64 // of the probability
	actions []action    // by column
	unit    []float64
}

type action struct {
	round, state, allocation int
	gain                     []float64 // expected, by chain
	moves                    []entry   // with probabilities
}

// checkSize stops before numbers overflow.
func (p *Process) checkSize() error {
	rows := p.Rounds
	for i := 0; i < len(p.Chains) && rows <= maxRows; i++ {
		rows *= len(p.Chains[i].Start)
	}
	if rows > maxRows {
		return fmt.Errorf("process: %d or more pairs of round and joint state, want at most %d: fewer chains, states or rounds", rows, maxRows)
	}
	return nil
}

func (p *Process) lattice() (*lattice, error) {
	if err := p.checkSize(); err != nil {
		return nil, err
	}
	b := p.begin()
	l := &lattice{p: p, unit: make([]float64, len(p.Chains))}
	supply := l.reach(b)
	for i := range l.unit {
		for _, d := range l.actions {
			l.unit[i] = math.Max(l.unit[i], d.gain[i]*l.most[d.round][d.state])
		}
		if l.unit[i] == 0 {
			return nil, fmt.Errorf("process: chain %d: it never gains anything, want a gain in at least one state", i)
		}
	}
	budgets := make([]float64, len(p.Chains))
	for i := range budgets {
		budgets[i] = p.Chains[i].Budget
	}
	l.program = newProgram(budgets, supply)
	l.addColumns()
	return l, nil
}

// reach numbers reachable states by round, lists their allocations, and returns the supplies.
func (l *lattice) reach(b []float64) (supply []float64) {
	now := b
	for t := range l.p.Rounds {
		l.row, l.most = append(l.row, make([]int, len(b))), append(l.most, now)
		after := make([]float64, len(b))
		for state, chance := range now {
			l.row[t][state] = -1
			if chance == 0 {
				continue
			}
			l.row[t][state] = len(l.p.Chains) + len(supply)
			if supply = append(supply, 0); t == 0 {
				supply[len(supply)-1] = 1
			}
			l.addState(t, state, after)
		}
		now = after
	}
	return supply
}

// addState adds the highest following probabilities to after.
func (l *lattice) addState(t, state int, after []float64) {
	best := make([]float64, len(after))
	for a := range l.p.Allocations {
		d := action{round: t, state: state, allocation: a, moves: l.p.moves(state, a)}
		for i := range l.p.Chains {
			d.gain = append(d.gain, l.p.gain(i, state, a))
		}
		for _, to := range d.moves {
			best[to.row] = math.Max(best[to.row], to.value)
		}
		l.actions = append(l.actions, d)
	}
	for next, chance := range best {
		after[next] = math.Min(1, after[next]+l.most[t][state]*chance)
	}
}

func (l *lattice) addColumns() {
	for _, d := range l.actions {
		var col []entry
		most := l.most[d.round][d.state]
		for i, g := range d.gain {
			if part := g * most / l.unit[i]; part > negligible {
				col = append(col, entry{row: i, value: -part})
			}
		}
		col = append(col, entry{row: l.row[d.round][d.state], value: 1})
		if d.round+1 < l.p.Rounds {
			for _, to := range d.moves {
				if row := l.row[d.round+1][to.row]; row >= 0 { // otherwise rounded to 0
					col = append(col, entry{row: row, value: -to.value * most / l.most[d.round+1][to.row]})
				}
			}
		}
		l.program.cols = append(l.program.cols, col)
	}
}

func (l *lattice) policy(t *iterate) *Policy {
	out := &Policy{Choice: l.choice(t.y)}
	out.Expected = l.p.Evaluate(out.Choice)
	n := len(out.Expected)
	weights, prices := l.program.weight[:n], make([]float64, n)
	for i := range prices {
		prices[i] = t.z[i] / l.unit[i]
	}
	out.Welfare = welfare(weights, out.Expected)
	out.Bound = logRatio(weights, prices) + math.Log(l.value(prices))
	out.Gap = out.Bound - out.Welfare
	return out
}

// choice returns levels as shares of each state's total.
func (l *lattice) choice(y []float64) [][][]float64 {
	choice := make([][][]float64, l.p.Rounds)
	for t := range choice {
		choice[t] = make([][]float64, len(l.row[t]))
	}
	wide := len(l.p.Allocations)
	for k := 0; k < len(y); k += wide { // of one state
		d, total := l.actions[k], sum(y[k:k+wide])
		parts := make([]float64, wide)
		for a := range parts {
			parts[a] = y[k+a] / total
		}
		choice[d.round][d.state] = parts
	}
	return choice
}

// value returns any policy's greatest expected gain at the chains' prices, by backward induction: a bound on
// welfare, by duality.
func (l *lattice) value(prices []float64) float64 {
	after := make([]float64, len(l.row[0]))
	now, round := make([]float64, len(after)), l.p.Rounds-1
	for _, d := range slices.Backward(l.actions) {
		if d.round < round {
			after, now, round = now, make([]float64, len(after)), d.round
		}
		gain := 0.0
		for i, g := range d.gain {
			gain += prices[i] * g
		}
		for _, to := range d.moves {
			gain += to.value * after[to.row]
		}
		now[d.state] = math.Max(now[d.state], gain)
	}
	total := 0.0
	for state, b := range l.p.begin() {
		total += b * now[state]
	}
	return total
}
