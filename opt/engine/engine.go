package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// errNoItem is returned for an item number that was never set or whose item was removed.
var errNoItem = errors.New("no such item")

// An Engine chooses one option for each item, in every round, within capacities that the items share. Its memory
// grows with the largest item number.
type Engine interface {
	// Set adds or replaces item i, and ends its adjustment. It copies the item.
	Set(i int, it mmkp.Item) error
	// Adjust changes the values of item i's choices until the next Set, for example by the cost of a restart.
	Adjust(i int, a mmkp.Adjustment) error
	// Remove removes item i.
	Remove(i int) error
	// SetCapacity changes the capacity of resource k.
	SetCapacity(k int, b float64) error
	// Solve chooses for all items. Solution.Pick is by item, -1 for none; Prices are by resource. The solution is valid
	// until the next call. It returns mmkp.ErrInfeasible, mmkp.ErrLimit, or an error of the solver.
	Solve(ctx context.Context) (*mmkp.Solution, error)
	// Remember stores or restores all that affects later solutions.
	memory.Rememberer
}

// Names returns the names of engines that New accepts.
func Names() []string { return []string{"price", "copter", "exact", "lp-exact"} }

// Check returns an error if the name is unknown, or if this build lacks the engine.
func Check(name string) error {
	_, err := maker(name)
	return err
}

// Options configure an engine; each engine uses only some of them.
type Options struct {
	Ties  uint64 // order of equally good solutions in engine price, see mmkp.Options
	Nodes int    // limit of nodes that engine price searches; 0: default
}

// New returns the engine with a name, without items.
func New(name string, capacity []float64, o Options) (Engine, error) {
	kind, err := maker(name)
	if err != nil {
		return nil, err
	}
	return kind(capacity, o)
}

// A Maker makes an engine without items.
type Maker func(capacity []float64, o Options) (Engine, error)

type kind struct {
	make    Maker
	missing error
}

var kinds = map[string]kind{"price": {make: newPrice}}

// Register provides the engine called name, which must be one of Names. If this build cannot make it, missing states
// what it lacks; otherwise missing is nil. Call it in an init function.
func Register(name string, m Maker, missing error) { kinds[name] = kind{m, missing} }

func maker(name string) (Maker, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("engine %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	k, linked := kinds[name]
	switch {
	case !linked:
		return nil, fmt.Errorf("engine %s: this program does not contain it, want %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), " or "))
	case k.missing != nil:
		return nil, fmt.Errorf("engine %s: %w", name, k.missing)
	}
	return k.make, nil
}

type entry struct {
	choices    []mmkp.Choice
	must, live bool
	adjustment mmkp.Adjustment
}

func (e *entry) value(j int) float64 {
	a := &e.adjustment
	if j == a.Kept {
		return a.Base + a.KeptFactor*e.choices[j].Value
	}
	return a.Base + a.Factor*e.choices[j].Value
}

func (e *entry) worth(j int) bool { return e.must || e.value(j) > 0 }

type book struct {
	capacity []float64
	entries  []entry
}

func newBook(capacity []float64) (book, error) {
	p := mmkp.Problem{Capacity: capacity}
	return book{capacity: slices.Clone(capacity)}, p.Validate()
}

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
		return errNoItem
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
		return errNoItem
	}
	b.entries[i] = entry{choices: b.entries[i].choices[:0]}
	return nil
}

func (b *book) has(i int) bool { return i >= 0 && i < len(b.entries) && b.entries[i].live }

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

func (b *book) total(pick []int) float64 {
	sum := 0.0
	for i, j := range pick {
		if j >= 0 {
			sum += b.entries[i].value(j)
		}
	}
	return sum
}

func gap(value, bound float64) float64 {
	if value == bound {
		return 0
	}
	return (bound - value) / max(bound, -bound)
}
