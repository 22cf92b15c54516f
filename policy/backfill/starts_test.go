package backfill_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/backfill"
)

// TestStarts: with exact durations and no new jobs, twins start when Starts expects them to, and Starts changes nothing.
func TestStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, jobs := nodes(t, 8, 4), drawn(t)
		minute := 0
		var expected map[job.ID]backfill.Comparison
		starts := play(t, c, jobs, 500, func(s *backfill.Schedule) *backfill.Schedule {
			if minute++; minute == 90 { // the last one was submitted at 84 minutes at the latest
				var waiting []job.ID
				for _, j := range jobs {
					if _, ok := s.Compare(j.ID); !ok {
						waiting = append(waiting, j.ID)
					}
				}
				expected = s.Starts(waiting)
				if len(expected) != len(waiting) {
					t.Errorf("%d starts of %d waiting jobs", len(expected), len(waiting))
				}
			}
			return s
		})
		for id, x := range expected {
			if got := int(x.Started.Sub(epoch) / time.Minute); got != starts[id] {
				t.Errorf("job %s: expected in minute %d, started in %d", id, got, starts[id])
			}
		}
	})
}

// TestStarts_of_two: one job behind another.
func TestStarts_of_two(t *testing.T) {
	s, c := new(backfill.Schedule), nodes(t, 8)
	jobs := []*policy.Job{timed("a", 8, 30, 0), timed("b", 8, 10, 0), timed("c", 8, 10, 0)}
	snapshot := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c, Jobs: jobs}
	s.Advance(snapshot, stated(snapshot))
	found := s.Starts([]job.ID{"b", "c", "unknown"})
	b, d := found["b"], found["c"]
	if len(found) != 2 || !b.Started.Equal(epoch.Add(30*time.Minute)) || !d.Started.Equal(epoch.Add(40*time.Minute)) {
		t.Errorf("b starts at %v and c at %v, want 30 and 40 minutes after %v", b.Started, d.Started, epoch)
	}
	if x, started := s.Compare("b"); started {
		t.Errorf("looking ahead started b at %v", x.Started)
	}
}
