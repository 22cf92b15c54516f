package backfill_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/backfill"
)

// TestExpect: with exact durations and no new jobs, twins start when Expect says, and Expect changes nothing.
func TestExpect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, jobs := nodes(t, 8, 4), drawn(t)
		minute := 0
		expected := make(map[job.ID]backfill.Comparison)
		starts := play(t, c, jobs, 500, func(s *backfill.Schedule) *backfill.Schedule {
			if minute++; minute == 90 { // the last one was submitted at 84 minutes at the latest
				for _, j := range jobs {
					x, ok := s.Expect(j.ID)
					if _, started := s.Compare(j.ID); ok == started {
						t.Errorf("job %s has started: %v, is expected: %v", j.ID, started, ok)
					}
					if ok {
						expected[j.ID] = x
					}
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

// TestExpect_of_two: one job behind another.
func TestExpect_of_two(t *testing.T) {
	s, c := new(backfill.Schedule), nodes(t, 8)
	jobs := []*policy.Job{timed("a", 8, 30, 0), timed("b", 8, 10, 0), timed("c", 8, 10, 0)}
	snapshot := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c, Jobs: jobs}
	s.Advance(snapshot, stated(snapshot))
	for id, minutes := range map[job.ID]int{"c": 40, "b": 30} {
		if x, ok := s.Expect(id); !ok || !x.Started.Equal(epoch.Add(time.Duration(minutes)*time.Minute)) {
			t.Errorf("%s starts at %v, want %d minutes after %v", id, x.Started, minutes, epoch)
		}
	}
	for _, id := range []job.ID{"a", "unknown"} {
		if x, ok := s.Expect(id); ok {
			t.Errorf("%s does not wait, and is expected at %v", id, x.Started)
		}
	}
	if x, started := s.Compare("b"); started {
		t.Errorf("looking ahead started b at %v", x.Started)
	}
}
