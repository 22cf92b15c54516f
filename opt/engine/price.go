package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

type price struct {
	program *mmkp.Program
	ids     []mmkp.ItemID // by item; zero: none
	pick    []int
	options mmkp.Options
	none    []float64
}

func newPrice(capacity []float64, o Options) (Engine, error) {
	own := mmkp.DefaultOptions()
	own.Ties = o.Ties
	if o.Nodes > 0 {
		own.MaxNodes = o.Nodes
	}
	return pricesOf(capacity, own)
}

func pricesOf(capacity []float64, o mmkp.Options) (*price, error) {
	p, err := mmkp.NewProgram(capacity)
	return &price{program: p, options: o, none: make([]float64, len(capacity))}, err
}

func (e *price) Set(i int, it mmkp.Item) error {
	if i < 0 {
		return fmt.Errorf("item %d, want at least 0", i)
	}
	for i >= len(e.ids) {
		e.ids = append(e.ids, mmkp.ItemID{})
	}
	if e.ids[i] != (mmkp.ItemID{}) {
		return e.program.Set(e.ids[i], it)
	}
	id, err := e.program.Add(it)
	e.ids[i] = id
	return err
}

func (e *price) Adjust(i int, a mmkp.Adjustment) error {
	if !e.has(i) {
		return errNoItem
	}
	return e.program.Adjust(e.ids[i], a)
}

func (e *price) Remove(i int) error {
	if !e.has(i) {
		return errNoItem
	}
	id := e.ids[i]
	e.ids[i] = mmkp.ItemID{}
	return e.program.Remove(id)
}

func (e *price) has(i int) bool { return i >= 0 && i < len(e.ids) && e.ids[i] != (mmkp.ItemID{}) }

func (e *price) SetCapacity(k int, b float64) error { return e.program.SetCapacity(k, b) }

func (e *price) Solve(ctx context.Context) (*mmkp.Solution, error) {
	s, err := e.program.Solve(ctx, e.options)
	if err != nil {
		return nil, err
	}
	e.pick = e.pick[:0]
	for _, id := range e.ids {
		j := -1
		if id != (mmkp.ItemID{}) {
			j = e.program.Pick(id)
		}
		e.pick = append(e.pick, j)
	}
	s.Pick = e.pick
	return s, nil
}

type withPrices struct {
	chooser Engine
	price   *price
}

func priced(kind Maker) Maker {
	return func(capacity []float64, o Options) (Engine, error) {
		chooser, err := kind(capacity, o)
		if err != nil {
			return nil, err
		}
		own := mmkp.DefaultOptions()
		own.MaxNodes = 0
		p, err := pricesOf(capacity, own)
		return &withPrices{chooser, p}, err
	}
}

func (e *withPrices) Set(i int, it mmkp.Item) error {
	if err := e.price.Set(i, it); err != nil {
		return err
	}
	return e.chooser.Set(i, it)
}

func (e *withPrices) Adjust(i int, a mmkp.Adjustment) error {
	if err := e.price.Adjust(i, a); err != nil {
		return err
	}
	return e.chooser.Adjust(i, a)
}

func (e *withPrices) Remove(i int) error {
	if err := e.price.Remove(i); err != nil {
		return err
	}
	return e.chooser.Remove(i)
}

func (e *withPrices) SetCapacity(k int, b float64) error {
	if err := e.price.SetCapacity(k, b); err != nil {
		return err
	}
	return e.chooser.SetCapacity(k, b)
}

func (e *withPrices) Solve(ctx context.Context) (*mmkp.Solution, error) {
	s, err := e.chooser.Solve(ctx)
	if err != nil {
		return nil, err
	}
	p, err := e.price.Solve(ctx)
	switch {
	case errors.Is(err, mmkp.ErrLimit):
		s.Prices = append(s.Prices[:0], e.price.none...)
		return s, nil
	case err != nil:
		return nil, err
	}
	s.Prices = append(s.Prices[:0], p.Prices...)
	s.Bound = max(s.Value, min(s.Bound, p.Bound))
	s.Gap = gap(s.Value, s.Bound)
	return s, nil
}

func (e *price) Remember(m *memory.Codec) {
	m.Fields(e.program)
	memory.Slice(m, &e.ids, (*mmkp.ItemID).Remember)
}

func (e *withPrices) Remember(m *memory.Codec) { m.Fields(e.chooser, e.price) }

func (e *integral) Remember(m *memory.Codec) { m.Fields(&e.book) }

func (e *relaxed) Remember(m *memory.Codec) {
	m.Fields(&e.book, &e.program)
	if s, ok := e.solver.(memory.Rememberer); ok {
		m.Fields(s)
	}
	for i := range e.resources {
		m.Fields(&e.resources[i])
	}
	memory.Slice(m, &e.items, func(c *columns, m *memory.Codec) {
		m.Fields(&c.row)
		memory.Slice(m, &c.cols, (*lp.Col).Remember)
	})
}

func (b *book) Remember(m *memory.Codec) {
	m.Fields(&b.capacity)
	memory.Slice(m, &b.entries, func(e *entry, m *memory.Codec) {
		memory.Slice(m, &e.choices, (*mmkp.Choice).Remember)
		m.Fields(&e.must, &e.live, &e.adjustment)
	})
}
