package execute

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

func stop(id job.ID, n int) Stop { return Stop{Generation: statedir.Generation{Job: id, Number: n}} }

func start(id job.ID, n int, cores ...int) Start {
	return Start{Generation: statedir.Generation{Job: id, Number: n}, Cores: cores}
}

func TestSteps(t *testing.T) {
	run := func(generation int, slots ...int) Run { return Run{Generation: generation, Slots: slots} }
	for _, tc := range []struct {
		name   string
		jobs   []Job
		stops  []Stop
		starts []Start
	}{
		{"nothing runs", []Job{{ID: "a", Generation: 1, Slots: []int{0}}, {ID: "b"}}, nil, []Start{start("a", 1)}},
		{"what runs is planned", []Job{{ID: "a", Generation: 2, Slots: []int{0}, Runs: []Run{run(2, 0)}}}, nil, nil},
		{"an old generation stops before the new one starts", []Job{{ID: "a", Generation: 2, Slots: []int{1}, Runs: []Run{run(1, 0)}}}, []Stop{stop("a", 1)}, nil},
		{"slots are free when nobody is on them", []Job{
			{ID: "a", Runs: []Run{run(1, 0)}}, {ID: "b", Generation: 1, Slots: []int{0}}, {ID: "c", Generation: 1, Slots: []int{1}},
		}, []Stop{stop("a", 1)}, []Start{start("c", 1)}},
		{"notice is given once", []Job{{ID: "a", Runs: []Run{{Generation: 1, Slots: []int{0}, Stopping: true}}}}, nil, nil},
		{"a back-off", []Job{{ID: "a", Generation: 1, Slots: []int{0}, NotBefore: now.Add(1)}, {ID: "b", Generation: 1, Slots: []int{1}, NotBefore: now}}, nil, []Start{start("b", 1)}},
		{"slots that are not known", []Job{{ID: "a", Ended: true, Runs: []Run{{Generation: 1}}}, {ID: "b", Generation: 1, Slots: []int{1}}}, []Stop{stop("a", 1)}, nil},
		{"cores", []Job{
			{ID: "a", Generation: 1, Slots: []int{0}, Cores: 1, Runs: []Run{{Generation: 1, Slots: []int{0}, Cores: []int{10}}}},
			{ID: "b", Generation: 1, Slots: []int{1}, Cores: 2},
			{ID: "c", Generation: 1, Slots: []int{2}, Cores: 1},
		}, nil, []Start{start("b", 1, 11, 12), start("c", 1)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stops, starts := Steps(tc.jobs, []int{10, 11, 12}, now)
			if d := cmp.Diff(tc.stops, stops, cmpopts.IgnoreFields(Stop{}, "Reason")); d != "" {
				t.Errorf("stops (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.starts, starts); d != "" {
				t.Errorf("starts (-want +got):\n%s", d)
			}
		})
	}
}

func TestSteps_say_why(t *testing.T) {
	stops, _ := Steps([]Job{{ID: "a", Ended: true, Runs: []Run{{Generation: 1, Slots: []int{0}}}}, {ID: "b", Runs: []Run{{Generation: 1, Slots: []int{1}}}}}, nil, now)
	if len(stops) != 2 || stops[0].Reason != "the job has ended" || stops[1].Reason == stops[0].Reason || stops[1].Reason == "" {
		t.Errorf("got %v, want that the first has ended, and another reason for the second", stops)
	}
}

// Whatever is planned in between, no two generations are ever on one slot, and once the plan
// stays and all that has notice is gone, what is planned runs.
func TestSteps_release_before_they_acquire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const slots = 4
		jobs := make([]Job, 3)
		for i := range jobs {
			jobs[i].ID = job.ID(rune('a' + i))
		}
		for range rapid.IntRange(1, 20).Draw(t, "passes") {
			if rapid.Bool().Draw(t, "new plan") {
				holder := rapid.SliceOfN(rapid.IntRange(0, len(jobs)), slots, slots).Draw(t, "holder")
				for i := range jobs {
					plan(&jobs[i], holder, i)
				}
			}
			pass(t, jobs)
			end := rapid.IntRange(0, len(jobs)).Draw(t, "ends")
			for i := range jobs[:end] {
				jobs[i].Runs = slices.DeleteFunc(jobs[i].Runs, func(r Run) bool { return r.Stopping })
			}
		}
		for range 2 {
			pass(t, jobs)
			for i := range jobs {
				jobs[i].Runs = slices.DeleteFunc(jobs[i].Runs, func(r Run) bool { return r.Stopping })
			}
		}
		pass(t, jobs)
		for i := range jobs {
			if j := &jobs[i]; (len(j.Slots) > 0) != (len(j.Runs) == 1) || len(j.Runs) == 1 && j.Runs[0].Generation != j.Generation {
				t.Fatalf("job %s: runs %v, want generation %d on %v", j.ID, j.Runs, j.Generation, j.Slots)
			}
		}
	})
}

// plan gives a job the slots whose holder it is.
func plan(j *Job, holder []int, who int) {
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

// pass takes all steps, and checks that no two generations are on one slot.
func pass(t *rapid.T, jobs []Job) {
	stops, starts := Steps(jobs, nil, now)
	for i := range jobs {
		j := &jobs[i]
		for k := range j.Runs {
			stopped := slices.ContainsFunc(stops, func(s Stop) bool { return s.Job == j.ID && s.Number == j.Runs[k].Generation })
			j.Runs[k].Stopping = j.Runs[k].Stopping || stopped
		}
		if slices.ContainsFunc(starts, func(s Start) bool { return s.Job == j.ID }) {
			j.Runs = append(j.Runs, Run{Generation: j.Generation, Slots: j.Slots})
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
