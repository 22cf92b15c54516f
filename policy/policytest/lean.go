package policytest

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/oxgang/oxgang/policy"
)

// RunLean checks how much memory a policy allocates in one round with 1,000 jobs, if 100 jobs report progress. The
// limit is 64 kB plus twice the size of its decisions, in at most 100 allocations plus one per 20 jobs.
func RunLean(t *testing.T, p policy.Policy) {
	w, rounds := NewCrowd(t, 7000), 0
	var before, after runtime.MemStats
	var bytes, times uint64
	w.Play(30, func(s *policy.Snapshot) *policy.Plan {
		runtime.ReadMemStats(&before)
		plan, err := p.Plan(t.Context(), s)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if rounds++; rounds > 15 {
			bytes, times = bytes+after.TotalAlloc-before.TotalAlloc, times+after.Mallocs-before.Mallocs
		}
		return plan
	})
	jobs := uint64(len(w.s.Jobs))
	bytes, times = bytes/15, times/15
	if most := 2*jobs*uint64(unsafe.Sizeof(policy.Decision{})) + 1<<16; bytes > most {
		t.Errorf("%d bytes a round of %d jobs, want at most %d", bytes, jobs, most)
	}
	if most := 100 + jobs/20; times > most {
		t.Errorf("%d allocations a round of %d jobs, want at most %d", times, jobs, most)
	}
	t.Logf("%d bytes and %d allocations a round of %d jobs", bytes, times, jobs)
}
