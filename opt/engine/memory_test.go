package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// both does everything with two engines.
type both struct{ one, two engine.Engine }

func (b *both) Set(i int, it mmkp.Item) error { return alike(b.one.Set(i, it), b.two.Set(i, it)) }
func (b *both) Remove(i int) error            { return alike(b.one.Remove(i), b.two.Remove(i)) }
func (b *both) Adjust(i int, a mmkp.Adjustment) error {
	return alike(b.one.Adjust(i, a), b.two.Adjust(i, a))
}

func (b *both) SetCapacity(k int, amount float64) error {
	return alike(b.one.SetCapacity(k, amount), b.two.SetCapacity(k, amount))
}
func (b *both) Remember(m *memory.Codec) { b.one.Remember(m) }

func (b *both) Solve(ctx context.Context) (*mmkp.Solution, error) {
	s, err := b.one.Solve(ctx)
	other, err2 := b.two.Solve(ctx)
	if err != nil || err2 != nil {
		return nil, alike(err, err2)
	}
	if got, want := fmt.Sprintf("%b", *other), fmt.Sprintf("%b", *s); got != want {
		return nil, fmt.Errorf("an engine that has read the memory of another finds\n%s\nand that one\n%s", got, want)
	}
	return s, nil
}

func alike(one, two error) error {
	if fmt.Sprint(one) != fmt.Sprint(two) {
		return fmt.Errorf("one engine says %w, and the other %w", one, two)
	}
	return one
}

// An engine that has read the memory of another solves alike, bit by bit, whatever is edited before and after.
func TestEngines_remember(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		rapid.Check(t, func(t *rapid.T) {
			s := &state{[]float64{4, 6}, map[int]mmkp.Item{}, map[int]mmkp.Adjustment{}}
			fresh := func() engine.Engine {
				e, err := engine.New(name, []float64{4, 6}, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			e := fresh()
			for range rapid.IntRange(1, 3).Draw(t, "rounds") {
				for range rapid.IntRange(0, 9).Draw(t, "edits") {
					edit(t, e, s)
				}
				_, err := e.Solve(context.Background())
				fatal(t, err)
			}
			image, err := memory.Take(e)
			fatal(t, err)
			now := &both{e, fresh()}
			fatal(t, image.Restore(now.two))
			for range 3 {
				for range rapid.IntRange(0, 6).Draw(t, "later edits") {
					edit(t, now, s)
				}
				_, err := now.Solve(context.Background())
				fatal(t, err)
			}
		})
	})
}

// fatal ends a test, but for errors that engines say of what they cannot solve.
func fatal(t *rapid.T, err error) {
	if err != nil && !errors.Is(err, mmkp.ErrLimit) && !errors.Is(err, mmkp.ErrInfeasible) {
		t.Fatal(err)
	}
}
