package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// ErrNoItem reports an item that the engine does not have.
var ErrNoItem = errors.New("no such item")

// An Engine holds items that share resources, and chooses for them. Items have
// numbers that the caller gives them, at least 0; memory grows with the largest.
// Not safe for concurrent use.
type Engine interface {
	// Set adds item i, or gives it other choices, each worth its Value: what
	// Adjust said is forgotten. It copies what it needs. Bad numbers are an error.
	Set(i int, it mmkp.Item) error
	// Adjust sets what the choices of item i are worth in this round; the kept
	// choice is no better for it. See mmkp.Program.Adjust.
	Adjust(i int, a mmkp.Adjustment) error
	// Remove removes item i.
	Remove(i int) error
	// SetCapacity changes the capacity of resource k.
	SetCapacity(k int, b float64) error
	// Solve chooses. Solution.Pick is by item number, -1 where there is no item or
	// it gets nothing; Prices are by resource, Bound is proven, and what is picked
	// fits. The solution holds until the next call. Errors: mmkp.ErrInfeasible,
	// mmkp.ErrLimit, those of the solver.
	Solve(ctx context.Context) (*mmkp.Solution, error)
	// An engine remembers its items, and what the last solve knew: an engine over as many resources that reads it solves alike.
	memory.Rememberer
}

// Names returns what New takes.
func Names() []string { return []string{"price", "copter", "exact", "lp-exact"} }

// Check returns an error unless New makes the engine of that name in this build.
func Check(name string) error {
	_, err := maker(name)
	return err
}

// Options are those of all engines.
type Options struct {
	Ties  uint64 // which of equally good solutions price finds: see mmkp.Options
	Nodes int    // of price's search for a better solution, at most; 0: as mmkp.DefaultOptions
}

// New returns an engine without items over resources of the given capacities,
// which it copies. Errors: an unknown name, one that this build lacks, bad
// capacities.
func New(name string, capacity []float64, o Options) (Engine, error) {
	kind, err := maker(name)
	if err != nil {
		return nil, err
	}
	return kind(capacity, o)
}

type newEngine func(capacity []float64, o Options) (Engine, error)

// maker returns what makes the engine of a name.
func maker(name string) (newEngine, error) {
	switch name {
	case "price":
		return newPrice, nil
	case "copter":
		return relaxedBy(continual), nil
	case "exact", "lp-exact":
		if !exact.Available {
			return nil, fmt.Errorf("engine %s: %w", name, exact.ErrUnavailable)
		}
		if name == "exact" {
			return priced(newWhole), nil
		}
		return relaxedBy(anew), nil
	}
	return nil, fmt.Errorf("engine %q, want one of %s", name, strings.Join(Names(), ", "))
}

// continual returns the solver of copter. It ends at a vertex, where few items are
// divided between choices: the shim rounds these, and that costs value.
func continual() (lp.Solver, error) {
	o := copter.DefaultOptions()
	o.Polish = true
	return copter.New(o)
}

// anew returns the solver of lp-exact.
func anew() (lp.Solver, error) { return exact.New(exact.DefaultOptions()) }

// An entry is an item with the adjustment that Adjust has set.
type entry struct {
	choices    []mmkp.Choice
	must, live bool
	adjustment mmkp.Adjustment
}

// value returns what choice j is worth.
func (e *entry) value(j int) float64 {
	a := &e.adjustment
	if j == a.Kept {
		return a.Base + a.KeptFactor*e.choices[j].Value
	}
	return a.Base + a.Factor*e.choices[j].Value
}

// worth reports whether choice j may be taken: an item that need not be served takes
// only a choice of a value above 0.
func (e *entry) worth(j int) bool { return e.must || e.value(j) > 0 }

// A book holds the items of engines whose solvers read all items at every solve.
type book struct {
	capacity []float64
	entries  []entry
}

func newBook(capacity []float64) (book, error) {
	p := mmkp.Problem{Capacity: capacity}
	return book{capacity: slices.Clone(capacity)}, p.Validate()
}

// set writes entry i.
func (b *book) set(i int, it mmkp.Item) error {
	p := mmkp.Problem{Capacity: b.capacity, Items: []mmkp.Item{it}}
	if err := p.Validate(); err != nil {
		return err
	}
	if i < 0 {
		return fmt.Errorf("item %d, want at least 0", i)
	}
	for i >= len(b.entries) {
		b.entries = append(b.entries, entry{})
	}
	e := &b.entries[i]
	*e = entry{choices: append(e.choices[:0], it.Choices...), must: it.Must, live: true, adjustment: mmkp.Adjustment{Factor: 1, Kept: -1}}
	return nil
}

func (b *book) adjust(i int, a mmkp.Adjustment) error {
	if !b.has(i) {
		return ErrNoItem
	}
	e := &b.entries[i]
	if err := a.Check(); err != nil {
		return err
	}
	if a.Kept < -1 || a.Kept >= len(e.choices) {
		return fmt.Errorf("kept choice %d, want -1 or one of %d", a.Kept, len(e.choices))
	}
	e.adjustment = a
	return nil
}

func (b *book) remove(i int) error {
	if !b.has(i) {
		return ErrNoItem
	}
	b.entries[i] = entry{choices: b.entries[i].choices[:0]}
	return nil
}

func (b *book) has(i int) bool { return i >= 0 && i < len(b.entries) && b.entries[i].live }

// SetCapacity implements Engine.
func (b *book) SetCapacity(k int, amount float64) error {
	if k < 0 || k >= len(b.capacity) {
		return fmt.Errorf("resource %d, want one of %d", k, len(b.capacity))
	}
	if err := (&mmkp.Problem{Capacity: []float64{amount}}).Validate(); err != nil {
		return err
	}
	b.capacity[k] = amount
	return nil
}

// take deducts what choice j of entry i uses from left, if it fits.
func (b *book) take(i, j int, left []float64) bool {
	c := &b.entries[i].choices[j]
	for k := range left {
		if a := c.Uses(k); a > 0 && a > left[k] {
			return false
		}
	}
	for k := range left {
		left[k] -= c.Uses(k)
	}
	return true
}

// total returns what the picks are worth.
func (b *book) total(pick []int) float64 {
	sum := 0.0
	for i, j := range pick {
		if j >= 0 {
			sum += b.entries[i].value(j)
		}
	}
	return sum
}

// gap returns a solution's relative gap.
func gap(value, bound float64) float64 {
	if value == bound {
		return 0
	}
	return (bound - value) / max(bound, -bound)
}
