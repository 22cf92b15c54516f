package casestudy

import (
	"testing"
	"time"
)

// Thesis §5.2: POP's times are "estimated parallel runtimes computed
// mathematically for 64 cores".
func TestPaper_Makespan(t *testing.T) {
	for cores, want := range map[int]time.Duration{1: 11, 2: 8, 3: 6, 4: 5, 64: 5} { // on two: 3, 5 and 1, 2
		if got := Makespan([]time.Duration{3, 1, 2, 5}, cores); got != want {
			t.Errorf("%d cores: %v, want %v", cores, got, want)
		}
	}
}

func TestClock_may_be_none(t *testing.T) {
	if got := Clock(nil).Read(); got != 0 {
		t.Errorf("no clock reads %v, want 0", got)
	}
	if got := Clock(func() time.Duration { return 7 }).Read(); got != 7 {
		t.Errorf("reads %v, want 7", got)
	}
}
