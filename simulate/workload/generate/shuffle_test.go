package generate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// TestShuffle: every block of the new order is one of the trace, with its times and jobs, and
// every job comes once.
func TestShuffle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trace []workload.Arrival
		at := time.Duration(0)
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			at += time.Duration(rapid.IntRange(0, 100).Draw(t, "seconds")) * time.Second
			trace = append(trace, workload.Arrival{At: at, Spec: job.Spec{ID: job.ID(rune('A' + i)), GPUs: i + 1}})
		}
		blocks := rapid.IntRange(1, 8).Draw(t, "blocks")
		got := generate.Shuffle(trace, blocks, rapid.Uint64().Draw(t, "seed"))
		length := at/time.Duration(blocks) + 1
		seen := map[job.ID]bool{}
		drawn := make([][]workload.Arrival, blocks)
		for i, a := range got {
			if i > 0 && a.At < got[i-1].At {
				t.Fatalf("job %d comes at %v, before one at %v", i, a.At, got[i-1].At)
			}
			if seen[a.Spec.ID] {
				t.Fatalf("two jobs are %s", a.Spec.ID)
			}
			seen[a.Spec.ID] = true
			k := int(a.At / length)
			drawn[k] = append(drawn[k], a)
		}
		if len(got) != len(trace) {
			t.Fatalf("%d jobs, want %d", len(got), len(trace))
		}
		for k, block := range drawn {
			if len(block) == 0 {
				continue
			}
			if !isBlock(trace, block, length, time.Duration(k)*length) {
				t.Fatalf("block %d is none of the trace's: %v", k, block)
			}
		}
	})
}

// isBlock reports whether the jobs of a block that begins at a time are those of one of the
// trace's, at the same times in it.
func isBlock(trace, block []workload.Arrival, length, begin time.Duration) bool {
	type come struct {
		at   time.Duration
		gpus int
	}
	var want []come
	for _, a := range block {
		want = append(want, come{a.At - begin, a.Spec.GPUs})
	}
	for from := time.Duration(0); from <= trace[len(trace)-1].At; from += length {
		var is []come
		for _, a := range trace {
			if a.At >= from && a.At < from+length {
				is = append(is, come{a.At - from, a.Spec.GPUs})
			}
		}
		if cmp.Equal(is, want, cmp.AllowUnexported(come{})) {
			return true
		}
	}
	return false
}
