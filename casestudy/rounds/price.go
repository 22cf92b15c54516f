package rounds

import (
	"context"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// price is the engine that the scheduler uses: the knapsack of opt/mmkp under
// edit. Its choices are whole, so the shim has nothing to do.
type price struct {
	program *mmkp.Program
	jobs    map[Job]mmkp.ItemID
	item    mmkp.Item // its choices' uses are those of the configurations
}

func newPrice(q Question) (Engine, error) {
	e := &price{jobs: map[Job]mmkp.ItemID{}, item: mmkp.Item{Choices: make([]mmkp.Choice, len(q.Configs))}}
	for j, c := range q.Configs {
		e.item.Choices[j].Use = mmkp.Use{Resource: c.Type, Amount: float64(c.GPUs)}
	}
	capacity := make([]float64, len(q.Capacity))
	for k, n := range q.Capacity {
		capacity[k] = float64(n)
	}
	var err error
	e.program, err = mmkp.NewProgram(capacity)
	return e, err
}

// Set implements Engine. A row that is not news is adjusted, unless the program
// dropped the configuration that the job holds.
func (e *price) Set(id Job, r Row) (err error) {
	item, known := e.jobs[id]
	kept, factor := r.Restart.Kept, r.Restart.Factor
	if known && !r.News && e.program.Adjust(item, r.Restart.Base, factor, kept) == nil {
		return nil
	}
	for j, v := range r.Values {
		e.item.Choices[j].Value = v
	}
	e.item.Keep = max(0, kept)
	if known {
		err = e.program.Set(item, e.item)
	} else {
		item, err = e.program.Add(e.item)
		e.jobs[id] = item
	}
	if err != nil {
		return err
	}
	return e.program.Adjust(item, r.Restart.Base, factor, kept)
}

// Remove implements Engine.
func (e *price) Remove(id Job) error {
	item := e.jobs[id]
	delete(e.jobs, id)
	return e.program.Remove(item)
}

// Solve implements Engine.
func (e *price) Solve(ctx context.Context) (*Answer, error) {
	s, err := e.program.Solve(ctx, mmkp.DefaultOptions())
	if err != nil {
		return nil, err
	}
	return &Answer{
		Weights: func(id Job, dst []Weight) []Weight {
			if c := e.program.Pick(e.jobs[id]); c >= 0 {
				dst = append(dst, Weight{c, 1})
			}
			return dst
		},
		Bound: s.Bound, Fractional: s.Fractional, Status: s.Status.String(), Iterations: s.Iterations,
	}, nil
}
