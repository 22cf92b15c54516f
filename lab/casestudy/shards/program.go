package shards

import (
	"errors"

	"github.com/oxgang/oxgang/opt/lp"
)

var errInfeasible = errors.New("no assignment keeps load and memory within their limits")

// relaxation is the program in R alone. The column of shard j and server i is j N + i; rows are scaled to about 1.
//
//	row of shard j     Σᵢ Rᵢⱼ = 1
//	load of server i   1 − ε ≤ Σⱼ (lⱼ/𝓛) Rᵢⱼ ≤ 1 + ε
//	memory of i        Σⱼ (sⱼ/mᵢ) Rᵢⱼ ≤ 1
type relaxation struct {
	problem lp.Problem
	cols    []lp.Col
	load    []lp.Row  // by server
	costs   []float64 // by column
}

func frame(p *lp.Problem, in *Instance) (shard, load, memory []lp.Row, err error) {
	add := func(n int, low, up float64) []lp.Row {
		rows := make([]lp.Row, n)
		for k := range rows {
			var e error
			rows[k], e = p.AddRow(low, up)
			err = errors.Join(err, e)
		}
		return rows
	}
	shard = add(in.shards(), 1, 1)
	load = add(in.servers(), 1-in.epsilon, 1+in.epsilon)
	memory = add(in.servers(), -lp.Inf, 1)
	return shard, load, memory, err
}

func newRelaxation(in *Instance) (*relaxation, error) {
	r := &relaxation{cols: make([]lp.Col, 0, in.shards()*in.servers())}
	shard, load, memory, err := frame(&r.problem, in)
	if err != nil {
		return nil, err
	}
	r.load, r.costs = load, startCosts(in)
	mean := in.mean()
	for j := range in.loads {
		for i := range in.memory {
			c, err := r.problem.AddCol(r.costs[len(r.cols)], 0, 1,
				lp.RowEntry{Row: shard[j], Value: 1},
				lp.RowEntry{Row: load[i], Value: in.loads[j] / mean},
				lp.RowEntry{Row: memory[i], Value: in.sizes[j] / in.memory[i]})
			if err != nil {
				return nil, err
			}
			r.cols = append(r.cols, c)
		}
	}
	return r, nil
}

func (r *relaxation) update(in *Instance) error {
	if in.shards()*in.servers() != len(r.cols) || in.servers() != len(r.load) {
		return errors.New("the number of shards or servers differs from the first round")
	}
	mean, n := in.mean(), in.servers()
	for k, cost := range startCosts(in) {
		if cost != r.costs[k] {
			if err := r.problem.SetCost(r.cols[k], cost); err != nil {
				return err
			}
			r.costs[k] = cost
		}
		if err := r.problem.SetCoefficient(r.load[k%n], r.cols[k], in.loads[k/n]/mean); err != nil {
			return err
		}
	}
	return nil
}

// startCosts returns (1 − Tᵢⱼ) sⱼ.
func startCosts(in *Instance) []float64 {
	n := in.servers()
	costs := make([]float64, in.shards()*n)
	for j, size := range in.sizes {
		for i := range n {
			costs[j*n+i] = size
		}
		for _, s := range in.now[j] {
			costs[j*n+s.Server] = 0
		}
	}
	return costs
}

type full struct {
	problem lp.Problem
	routed  []lp.Col // R, like relaxation.cols
	hosted  []lp.Col // X
}

func newFull(in *Instance, binary bool) (*full, error) {
	f := &full{}
	shard, load, memory, err := frame(&f.problem, in)
	if err != nil {
		return nil, err
	}
	mean, costs := in.mean(), startCosts(in)
	for j := range in.loads {
		for i := range in.memory {
			if err := f.addPair(costs[len(f.routed)], binary, []lp.RowEntry{
				{Row: shard[j], Value: 1}, {Row: load[i], Value: in.loads[j] / mean},
			}, lp.RowEntry{Row: memory[i], Value: in.sizes[j] / in.memory[i]}); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

func (f *full) addPair(cost float64, binary bool, routed []lp.RowEntry, hosted lp.RowEntry) error {
	p := &f.problem
	r, err := p.AddCol(0, 0, 1, routed...)
	if err != nil {
		return err
	}
	x, err := p.AddCol(cost, 0, 1, hosted)
	if err != nil {
		return err
	}
	if err := p.SetInteger(x, binary); err != nil {
		return err
	}
	f.routed, f.hosted = append(f.routed, r), append(f.hosted, x)
	_, err = p.AddRow(-lp.Inf, 0, lp.ColEntry{Col: r, Value: 1}, lp.ColEntry{Col: x, Value: -1})
	return err
}

func gather(values []float64, in *Instance, dust float64) assignment {
	n := in.servers()
	a := make(assignment, in.shards())
	for j := range a {
		row := values[j*n : (j+1)*n]
		best, sum := 0, 0.0
		for i, v := range row {
			if v > row[best] {
				best = i
			}
			if v > dust {
				sum += v
			}
		}
		if sum == 0 {
			a[j] = []share{{Server: best, Part: 1}}
			continue
		}
		for i, v := range row {
			if v > dust {
				a[j] = append(a[j], share{Server: i, Part: v / sum})
			}
		}
	}
	return a
}
