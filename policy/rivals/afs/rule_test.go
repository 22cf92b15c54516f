package afs

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// together returns the sum of the times at which two jobs end, of which short ends first,
// and long then has one GPU more, if it has not already.
func together(short, shortSpeed, long, longSpeed, longAfter float64) float64 {
	first := short / shortSpeed
	return first + first + (long-first*longSpeed)/longAfter
}

// AFS: of two jobs the one gets the GPU with which both together end soonest, if whoever
// is left has it when the other has ended.
func TestRule_is_the_better_of_two(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speed := rapid.Float64Range(0.5, 20)
		gain := rapid.Float64Range(1.01, 2)
		a, b := contender{gpus: 1}, contender{gpus: 1}
		a.speed, b.speed = speed.Draw(t, "pa"), speed.Draw(t, "pb")
		a.next, b.next = a.speed*gain.Draw(t, "gain of a"), b.speed*gain.Draw(t, "gain of b")
		a.left = rapid.Float64Range(1, 100).Draw(t, "work of a")
		b.left = (a.left / a.speed) * b.next * rapid.Float64Range(1.01, 5).Draw(t, "b is longer") // even with one more
		toA := together(a.left, a.next, b.left, b.speed, b.next)
		toB := together(a.left, a.speed, b.left, b.next, b.next)
		if math.Abs(toA-toB) < 1e-9*toA {
			return
		}
		if got := prefer(&a, &b); got != (toA < toB) {
			t.Fatalf("a gets it: %v, with sums of %g if so and %g if not", got, toA, toB)
		}
		if prefer(&a, &b) == prefer(&b, &a) {
			t.Fatal("who gets it hangs on who is asked first")
		}
	})
}
