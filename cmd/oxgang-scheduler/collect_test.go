package main

import "testing"

// The heap may grow by 64 MiB, but by no less than a quarter of what is live, nor by more than half.
func TestGrowth(t *testing.T) {
	for live, want := range map[int64]int{0: 50, 1 << 20: 50, 128 << 20: 50, 160 << 20: 40, 256 << 20: 25, 1 << 30: 25} {
		if got := growth(live); got != want {
			t.Errorf("%d live: %d %%, want %d", live, got, want)
		}
	}
}
