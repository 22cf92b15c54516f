package multimode

import "testing"

// Once a job runs in a round, the round before it needs no start any more.
func TestFill_ends_when_nobody_gains(t *testing.T) {
	p := &Problem{Rounds: 4, Capacity: []int{1}, Jobs: []Job{{
		Modes: []Mode{{Amount: 1, After: []Point{{Value: 1}, {Value: 2}, {Value: 3}, {Value: 4}}}}, Held: -1, Again: 5,
	}}}
	k := &packing{p: p, runs: []Run{{Mode: -1}}, free: [][]int{{1, 1, 1, 1}}}
	k.take(0, 0, 3)
	k.fill()
	if k.runs[0].Rounds != 0b1111 {
		t.Errorf("rounds %04b, want 1111", k.runs[0].Rounds)
	}
}
