package slurm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Three jobs of the priorities 30, 20 and 10 in the opposite order: the outer two change places, and
// the one in the middle is not touched.
func TestExchange(t *testing.T) {
	wanted := []Place{{Job: 3, Priority: 10}, {Job: 2, Priority: 20}, {Job: 1, Priority: 30}}
	changes, bounded := exchange(wanted, []int64{25, 15}, 100)
	if diff := cmp.Diff([]change{{1, 20}, {3, -20}}, changes); diff != "" || bounded != nil {
		t.Errorf("bounded %v; (-want +got):\n%s", bounded, diff)
	}
}

// A job that has started has used up its place: who gave it stays where it is.
func TestExchange_uses_places_up(t *testing.T) {
	if changes, _ := exchange([]Place{{Job: 1, Priority: 10, Nice: 20}}, []int64{15}, 100); changes != nil {
		t.Errorf("got %v, want nothing", changes)
	}
}

// No nice value is further from the job's own than an administrator allows.
func TestExchange_keeps_the_bound(t *testing.T) {
	wanted := []Place{{Job: 2, Priority: 10, Own: 3, Nice: 3}, {Job: 1, Priority: 30}}
	changes, bounded := exchange(wanted, nil, 5)
	if diff := cmp.Diff([]change{{1, 5}, {2, -2}}, changes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(bounded, []uint32{2, 1}) {
		t.Errorf("bounded %v, want both", bounded)
	}
}

// drawn is a queue, in an order that is wanted.
func drawn(t *rapid.T) (wanted []Place, others []int64) {
	n := rapid.IntRange(0, 8).Draw(t, "jobs")
	for i := range n {
		own := rapid.IntRange(-3, 3).Draw(t, "own")
		nice := own + rapid.IntRange(-20, 20).Draw(t, "moved")
		wanted = append(wanted, Place{Job: uint32(i), Priority: rapid.Int64Range(100, 140).Draw(t, "priority"), Nice: nice, Own: own})
	}
	return wanted, rapid.SliceOfN(rapid.Int64Range(90, 150), 0, 6).Draw(t, "others")
}

func apply(places []Place, changes []change) []Place {
	after := slices.Clone(places)
	for _, c := range changes {
		p := &after[slices.IndexFunc(after, func(p Place) bool { return p.Job == c.Job })]
		p.Priority, p.Nice = p.Priority+int64(p.Nice)-int64(c.Nice), c.Nice
	}
	return after
}

// After an exchange the jobs are in the wanted order, each job that takes no part has as many before it
// as the places say, and nothing is left to change.
func TestExchange_any_queue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted, others := drawn(t)
		places := targets(wanted)
		changes, bounded := exchange(wanted, others, 1000)
		after := apply(wanted, changes)
		for i := range after {
			if i > 0 && after[i].Priority >= after[i-1].Priority {
				t.Errorf("job %d has priority %d, the one before %d", after[i].Job, after[i].Priority, after[i-1].Priority)
			}
		}
		for _, o := range others {
			before, now := 0, 0
			for i := range after {
				if places[i] > o {
					before++
				}
				if after[i].Priority > o {
					now++
				}
			}
			if before != now {
				t.Errorf("%d jobs are before one of priority %d, want %d", now, o, before)
			}
		}
		if again, _ := exchange(after, others, 1000); again != nil || bounded != nil {
			t.Errorf("after %v: %v are left, %v bounded", changes, again, bounded)
		}
	})
}

// Where only the first of the changes are made, nobody who takes no part has more jobs before it.
func TestExchange_any_part(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted, others := drawn(t)
		changes, _ := exchange(wanted, others, 1000)
		part := apply(wanted, changes[:rapid.IntRange(0, len(changes)).Draw(t, "made")])
		for _, o := range others {
			before, now := 0, 0
			for i := range part {
				if wanted[i].Priority > o {
					before++
				}
				if part[i].Priority > o {
					now++
				}
			}
			if now > before {
				t.Errorf("%d jobs are before one of priority %d, before it were %d", now, o, before)
			}
		}
	})
}

// With any bound no nice value is beyond it, and nobody who is where he should be is touched.
func TestExchange_any_bound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted, others := drawn(t)
		most := rapid.IntRange(0, 30).Draw(t, "most")
		changes, _ := exchange(wanted, others, most)
		for _, c := range changes {
			p := wanted[slices.IndexFunc(wanted, func(p Place) bool { return p.Job == c.Job })]
			if c.Nice < p.Own-most || c.Nice > p.Own+most || c.Nice == p.Nice {
				t.Errorf("job %d: nice %d, had %d, its own is %d, bound %d", c.Job, c.Nice, p.Nice, p.Own, most)
			}
		}
	})
}
