package metrics

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
)

// Results are listed as they were resultStore, stay where they are, and a clone leaves no trace.
func TestFiled(t *testing.T) {
	var f resultStore
	if got := f.all(); got == nil || len(got) > 0 {
		t.Errorf("of none, %v, want an empty list", got)
	}
	var at []*JobResult
	for i := range 20_000 {
		at = append(at, f.add(JobResult{Restarts: i}))
		if i%777 == 0 {
			c := f.clone()
			c.add(JobResult{Restarts: -1})
			all := c.all()
			if len(all) != i+2 || all[i+1].Restarts != -1 {
				t.Fatalf("a clone of %d results and one more has %d", i+1, len(all))
			}
			all[0].Restarts = -1
			some := f.clone()
			some.all()[0].Restarts = -1
			if at[0].Restarts != 0 {
				t.Fatal("who changes the list of a clone changes the results")
			}
		}
	}
	for i := range at {
		at[i].Restarts = -i
	}
	all := f.all()
	for i := range at {
		if all[i].Restarts != -i {
			t.Fatalf("result %d, which was changed in its place: listed as %d", i, all[i].Restarts)
		}
	}
	if n := len(f.all()); n > 0 {
		t.Errorf("%d results are listed twice", n)
	}
}

// Results are sorted by submission, then ID, whatever the order in which jobs ended.
func TestSortResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []JobResult
		for i := range rapid.IntRange(0, 40).Draw(t, "jobs") {
			jobs = append(jobs, JobResult{Restarts: i, Submitted: float64(rapid.IntRange(0, 9).Draw(t, "submitted")), ID: job.ID(rapid.StringMatching("[ab]{2}").Draw(t, "ID"))})
		}
		want := slices.Clone(jobs)
		slices.SortFunc(want, func(a, b JobResult) int {
			return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.ID, b.ID), a.Restarts-b.Restarts)
		})
		sortResults(jobs)
		slices.SortStableFunc(jobs, func(a, b JobResult) int { // those with one name in any order
			if a.Submitted != b.Submitted || a.ID != b.ID {
				return 0
			}
			return a.Restarts - b.Restarts
		})
		for i := range jobs {
			if jobs[i].Restarts != want[i].Restarts {
				t.Fatalf("at %d: job %s of %g, want %s of %g", i, jobs[i].ID, jobs[i].Submitted, want[i].ID, want[i].Submitted)
			}
		}
	})
}
