package usage

import "testing"

func TestUsage_grows(t *testing.T) {
	before := ProcessTime()
	sum := 0
	for ProcessTime() == before {
		for i := range 1_000_000 {
			sum += i
		}
	}
	if PeakMemory() < 1<<20 {
		t.Errorf("peak memory %d bytes, want what a Go program has (%d)", PeakMemory(), sum)
	}
}
