package rounds

import (
	"context"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
)

type price struct {
	engine  engine.Engine
	numbers map[Job]int
	free    []int
	item    mmkp.Item // reused
}

func newPrice(q Question) (Engine, error) {
	e := &price{numbers: map[Job]int{}, item: mmkp.Item{Choices: make([]mmkp.Choice, len(q.Configs))}}
	for j, c := range q.Configs {
		e.item.Choices[j].Use = mmkp.Use{Resource: c.Type, Amount: float64(c.GPUs)}
	}
	capacity := make([]float64, len(q.Capacity))
	for k, n := range q.Capacity {
		capacity[k] = float64(n)
	}
	var err error
	e.engine, err = engine.New("price", capacity, engine.Options{})
	return e, err
}

func (e *price) Set(id Job, r Row) error {
	number, known := e.numbers[id]
	kept := r.Restart.Kept
	adjustment := mmkp.Adjustment{Base: r.Restart.Base, Factor: r.Restart.Factor, Kept: kept, KeptFactor: 1}
	if known && !r.News && e.engine.Adjust(number, adjustment) == nil {
		return nil
	}
	if !known {
		number = e.number()
		e.numbers[id] = number
	}
	for j, v := range r.Values {
		e.item.Choices[j].Value = v
	}
	e.item.Keep = max(0, kept)
	if err := e.engine.Set(number, e.item); err != nil {
		return err
	}
	return e.engine.Adjust(number, adjustment)
}

func (e *price) number() int {
	if n := len(e.free); n > 0 {
		number := e.free[n-1]
		e.free = e.free[:n-1]
		return number
	}
	return len(e.numbers)
}

func (e *price) Remove(id Job) error {
	number := e.numbers[id]
	delete(e.numbers, id)
	e.free = append(e.free, number)
	return e.engine.Remove(number)
}

func (e *price) Solve(ctx context.Context) (*Answer, error) {
	s, err := e.engine.Solve(ctx)
	if err != nil {
		return nil, err
	}
	return &Answer{
		Weights: func(id Job, dst []Weight) []Weight {
			if c := s.Pick[e.numbers[id]]; c >= 0 {
				dst = append(dst, Weight{Choice: c, X: 1})
			}
			return dst
		},
		Bound: s.Bound, Fractional: s.Fractional, Status: s.Status.String(), Iterations: s.Iterations,
	}, nil
}
