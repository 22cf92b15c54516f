package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A History has the durations of past runs of jobs, to estimate when running jobs end.
type History struct {
	took map[class][]time.Duration // completed runs, sorted
}

type class struct {
	user, name string
	gpus       int
}

const leastRuns = 5

// HistoryOf computes a History from the accounting.
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
	longer = longer[first:] // runs that took longer
	if len(longer) < leastRuns {
		e.Unknown = fmt.Sprintf("%d of %d similar past runs (same user, name and GPUs) took longer than this one so far; an estimate needs %d", len(longer), all, leastRuns)
		return e
	}
	early, late := j.Start.Add(metrics.Quantile(longer, 0.1)), j.Start.Add(metrics.Quantile(longer, 0.9))
	if e.Late.IsZero() || late.Before(e.Late) {
		e.Late = late
	}
	if e.Early, e.Unknown = early, ""; early.After(e.Late) {
		e.Early = e.Late // its time limit comes first
	}
	e.Source = fmt.Sprintf("the middle 80 %% of %d similar past runs (same user, name and GPUs) that took longer than this one so far", len(longer))
	return e
}
