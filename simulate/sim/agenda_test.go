package sim

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Entries come by time, then in the order in which they were pushed, and void ones never, however many were removed at once.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var want []entry // in the order in which they come
		agents := make([]agent, 5)
		for range rapid.IntRange(1, 800).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0: // what an agent was to do is void
				agents[rapid.IntRange(0, len(agents)-1).Draw(t, "agent")].turn++
			case 1, 2:
				at, ok := a.peek()
				want = slices.DeleteFunc(want, entry.void)
				if ok != (len(want) > 0) {
					t.Fatalf("there is an entry: %v, want %d", ok, len(want))
				}
				if !ok {
					continue
				}
				if got := a.pop(); !got.at.Equal(at) || got.order != want[0].order {
					t.Fatalf("entry %d of %v, and %v was to come; want %d of %v", got.order, got.at, at, want[0].order, want[0].at)
				}
				want = want[1:]
			default:
				g := &agents[rapid.IntRange(0, len(agents)-1).Draw(t, "agent")]
				e := entry{at: Epoch.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "at"))), agent: g, turn: g.turn}
				a.push(e)
				e.order = a.count
				i, _ := slices.BinarySearchFunc(want, e, func(x, y entry) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.order, y.order)) })
				want = slices.Insert(want, i, e)
			}
		}
		if live := len(slices.DeleteFunc(want, entry.void)); len(a.heap) > 2*max(live, a.valid)+65 {
			t.Fatalf("%d entries are kept, of which %d are not void", len(a.heap), live)
		}
	})
}
