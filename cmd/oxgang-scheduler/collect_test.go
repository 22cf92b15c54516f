package main

import "testing"

// The heap may grow by 64 MiB, but by no less than a quarter of what is live, nor by more than half or 32 MiB.
func TestGrowth(t *testing.T) {
	for live, want := range map[int64]int{0: 400, 1 << 20: 400, 16 << 20: 200, 64 << 20: 50, 128 << 20: 50, 160 << 20: 40, 256 << 20: 25, 1 << 30: 25} {
		if got := growth(live); got != want {
			t.Errorf("%d live: %d %%, want %d", live, got, want)
		}
	}
}
