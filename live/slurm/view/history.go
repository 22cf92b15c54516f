package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
)

// A History knows how long past runs took.
type History struct {
	took map[class][]time.Duration // of runs that completed, sorted
}

// A class is what jobs have in common whose runs take about as long: one user's jobs of one name, on as many GPUs.
type class struct {
	user, name string
	gpus       int
}

// leastRuns is how many past runs say something.
const leastRuns = 5

// HistoryOf returns what accounting says.
func HistoryOf(runs []client.Run) *History {
	h := &History{took: make(map[class][]time.Duration)}
	for i := range runs {
		r := &runs[i]
		if r.State == client.Completed && r.Elapsed > 0 {
			c := class{r.User, r.Name, r.Held.Total()}
			h.took[c] = append(h.took[c], r.Elapsed)
		}
	}
	for _, all := range h.took {
		slices.Sort(all)
	}
	return h
}

// end returns when a job that runs is expected to end. History may be nil, for the reason none.
func (h *History) end(j *client.Job, now time.Time, none string) status.Range {
	e := status.Range{Unknown: none}
	if !j.Unlimited && !j.End.IsZero() {
		e.Late, e.Source = j.End, "its time limit"
	}
	if h == nil {
		return e
	}
	passed := now.Sub(j.Start)
	longer := h.took[class{j.User, j.Name, j.GPUs.Total()}]
	all := len(longer)
	first, _ := slices.BinarySearch(longer, passed)
	longer = longer[first:] // those that had not ended after so long
	if len(longer) < leastRuns {
		e.Unknown = fmt.Sprintf("of %d past runs of this user, name and GPUs, %d took longer than it has run, want %d", all, len(longer), leastRuns)
		return e
	}
	early, late := j.Start.Add(quantile(longer, 0.1)), j.Start.Add(quantile(longer, 0.9))
	if e.Late.IsZero() || late.Before(e.Late) {
		e.Late = late
	}
	e.Early, e.Unknown = early, ""
	e.Source = fmt.Sprintf("the middle 80 %% of %d past runs of this user, name and GPUs that took longer than it has run", len(longer))
	return e
}

// quantile returns the value below which a share of sorted values lies: the nearest of them.
func quantile(sorted []time.Duration, share float64) time.Duration {
	return sorted[int(share*float64(len(sorted)-1)+0.5)]
}
