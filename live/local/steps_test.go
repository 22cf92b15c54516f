package local

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/model/job"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func stopOf(id job.ID, n int) stopStep {
	return stopStep{Generation: statedir.Generation{Job: id, Number: n}}
}

func startOf(id job.ID, n int, cores ...int) startStep {
	return startStep{Generation: statedir.Generation{Job: id, Number: n}, Cores: cores}
}

func TestSteps(t *testing.T) {
	run := func(generation int, slots ...int) runState { return runState{Generation: generation, Slots: slots} }
	for _, tc := range []struct {
		name   string
		jobs   []jobState
		stops  []stopStep
		starts []startStep
	}{
		{"nothing runs", []jobState{{ID: "a", Generation: 1, Slots: []int{0}}, {ID: "b"}}, nil, []startStep{startOf("a", 1)}},
		{"what runs is planned", []jobState{{ID: "a", Generation: 2, Slots: []int{0}, Runs: []runState{run(2, 0)}}}, nil, nil},
		{"an old generation stops before the new one starts", []jobState{{ID: "a", Generation: 2, Slots: []int{1}, Runs: []runState{run(1, 0)}}}, []stopStep{stopOf("a", 1)}, nil},
		{"slots are free when nobody is on them", []jobState{
			{ID: "a", Runs: []runState{run(1, 0)}}, {ID: "b", Generation: 1, Slots: []int{0}}, {ID: "c", Generation: 1, Slots: []int{1}},
		}, []stopStep{stopOf("a", 1)}, []startStep{startOf("c", 1)}},
		{"notice is given once", []jobState{{ID: "a", Runs: []runState{{Generation: 1, Slots: []int{0}, Stopping: true}}}}, nil, nil},
		{"a back-off", []jobState{{ID: "a", Generation: 1, Slots: []int{0}, NotBefore: now.Add(1)}, {ID: "b", Generation: 1, Slots: []int{1}, NotBefore: now}}, nil, []startStep{startOf("b", 1)}},
		{"slots that are not known", []jobState{{ID: "a", Ended: true, Runs: []runState{{Generation: 1}}}, {ID: "b", Generation: 1, Slots: []int{1}}}, []stopStep{stopOf("a", 1)}, nil},
		{"cores", []jobState{
			{ID: "a", Generation: 1, Slots: []int{0}, Cores: 1, Runs: []runState{{Generation: 1, Slots: []int{0}, Cores: []int{10}}}},
			{ID: "b", Generation: 1, Slots: []int{1}, Cores: 2},
			{ID: "c", Generation: 1, Slots: []int{2}, Cores: 1},
		}, nil, []startStep{startOf("b", 1, 11, 12), startOf("c", 1)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stops, starts := nextSteps(tc.jobs, []int{10, 11, 12}, now)
			if d := cmp.Diff(tc.stops, stops, cmpopts.IgnoreFields(stopStep{}, "Reason")); d != "" {
				t.Errorf("stops (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.starts, starts); d != "" {
				t.Errorf("starts (-want +got):\n%s", d)
			}
		})
	}
}

func TestSteps_say_why(t *testing.T) {
	stops, _ := nextSteps([]jobState{{ID: "a", Ended: true, Runs: []runState{{Generation: 1, Slots: []int{0}}}}, {ID: "b", Runs: []runState{{Generation: 1, Slots: []int{1}}}}}, nil, now)
	if len(stops) != 2 || stops[0].Reason != "the job has ended" || stops[1].Reason == stops[0].Reason || stops[1].Reason == "" {
		t.Errorf("got %v, want that the first has ended, and another reason for the second", stops)
	}
}

// Whatever is planned in between, no two generations are ever on one slot, and once the plan
// stays and all that has notice is gone, what is planned runs.
func TestSteps_release_before_they_acquire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const slots = 4
		jobs := make([]jobState, 3)
		for i := range jobs {
			jobs[i].ID = job.ID(rune('a' + i))
		}
		for range rapid.IntRange(1, 20).Draw(t, "passes") {
			if rapid.Bool().Draw(t, "new plan") {
				holder := rapid.SliceOfN(rapid.IntRange(0, len(jobs)), slots, slots).Draw(t, "holder")
				for i := range jobs {
					assignSlots(&jobs[i], holder, i)
				}
			}
			takeSteps(t, jobs)
			end := rapid.IntRange(0, len(jobs)).Draw(t, "ends")
			for i := range jobs[:end] {
				jobs[i].Runs = slices.DeleteFunc(jobs[i].Runs, func(r runState) bool { return r.Stopping })
			}
		}
		for range 2 {
			takeSteps(t, jobs)
			for i := range jobs {
				jobs[i].Runs = slices.DeleteFunc(jobs[i].Runs, func(r runState) bool { return r.Stopping })
			}
		}
		takeSteps(t, jobs)
		for i := range jobs {
			if j := &jobs[i]; (len(j.Slots) > 0) != (len(j.Runs) == 1) || len(j.Runs) == 1 && j.Runs[0].Generation != j.Generation {
				t.Fatalf("job %s: runs %v, want generation %d on %v", j.ID, j.Runs, j.Generation, j.Slots)
			}
		}
	})
}

// assignSlots gives a job the slots whose holder it is.
func assignSlots(j *jobState, holder []int, who int) {
	var mine []int
	for s, h := range holder {
		if h == who {
			mine = append(mine, s)
		}
	}
	if !slices.Equal(mine, j.Slots) {
		j.Slots = mine
		j.Generation++
	}
}

// takeSteps takes all steps, and checks that no two generations are on one slot.
func takeSteps(t *rapid.T, jobs []jobState) {
	stops, starts := nextSteps(jobs, nil, now)
	for i := range jobs {
		j := &jobs[i]
		for k := range j.Runs {
			stopped := slices.ContainsFunc(stops, func(s stopStep) bool { return s.Job == j.ID && s.Number == j.Runs[k].Generation })
			j.Runs[k].Stopping = j.Runs[k].Stopping || stopped
		}
		if slices.ContainsFunc(starts, func(s startStep) bool { return s.Job == j.ID }) {
			j.Runs = append(j.Runs, runState{Generation: j.Generation, Slots: j.Slots})
		}
	}
	on := map[int]job.ID{}
	for i := range jobs {
		for _, r := range jobs[i].Runs {
			for _, s := range r.Slots {
				if on[s] != "" {
					t.Fatalf("slot %d: jobs %s and %s are on it", s, on[s], jobs[i].ID)
				}
				on[s] = jobs[i].ID
			}
		}
	}
}
