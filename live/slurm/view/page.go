package view

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

const month = 30 * 24 * time.Hour

// Page returns the live page of a Slurm cluster. runs are past runs; if there are none, noPast states why. meter
// measures the use of GPUs, and may be nil.
func Page(c *client.Client, runs []client.Run, noPast string, meter *gpuuse.Meter) *page.Watched {
	var past *History
	if noPast == "" {
		past = HistoryOf(runs)
	}
	before := latest(pastJobs(runs), nil)
	var last atomic.Pointer[Look]
	w := page.NewWatched(func(ctx context.Context) (*status.Status, error) {
		l, err := Take(ctx, c, time.Now)
		if err != nil {
			return nil, err
		}
		last.Store(l)
		s := StatusOf(l, past, noPast)
		before = latest(endedJobs(l.Jobs), before)
		s.Ended = before
		return s, nil
	})
	w.NoOutput = "Slurm writes it into the file of sbatch --output"
	if meter != nil {
		w.Measure = func(s *status.Status) { meter.Attach(s, last.Load().owner()) }
	}
	return w
}

const mostEnded = 20

// latest returns the jobs that ended last, the latest first. Slurm shows an ended job for some minutes only; before are
// the jobs of earlier looks.
func latest(now, before []status.Job) []status.Job {
	all := slices.Clone(now)
	for _, j := range before {
		if !slices.ContainsFunc(now, func(n status.Job) bool { return n.ID == j.ID }) {
			all = append(all, j)
		}
	}
	slices.SortStableFunc(all, func(a, b status.Job) int { return b.Finished.Compare(a.Finished) })
	return all[:min(len(all), mostEnded)]
}

func endedJobs(all []client.Job) (ended []status.Job) {
	for i := range all {
		if j := &all[i]; !j.Waits() && !j.Holds() && !j.End.IsZero() {
			ended = append(ended, endedJob(j))
		}
	}
	return ended
}

func pastJobs(runs []client.Run) (ended []status.Job) {
	for i := range runs {
		if r := &runs[i]; !r.End.IsZero() {
			ended = append(ended, pastJob(r))
		}
	}
	return ended
}

// owner returns which job holds a GPU, by the indices of its GRES. These are assumed to be the indices of the driver,
// as with AutoDetect=nvml.
func (l *Look) owner() func(*gpuuse.Sample) job.ID {
	type place struct {
		node  string
		index int
	}
	jobs := make(map[place]job.ID)
	for i := range l.Jobs {
		for _, h := range l.Jobs[i].HeldGPUs {
			for _, index := range h.Indices {
				jobs[place{gpuuse.Host(h.Node), index}] = job.ID(l.Jobs[i].Label())
			}
		}
	}
	return func(s *gpuuse.Sample) job.ID { return jobs[place{gpuuse.Host(s.Node), s.Index}] }
}

// Open returns the live page of the Slurm cluster whose commands are in PATH, once Slurm answers. It reads the state at
// the intervals of client.DefaultPace until ctx is done.
func Open(ctx context.Context, meter *gpuuse.Meter) (*page.Watched, error) {
	c, none := &client.Client{Run: client.Limited(client.Exec, client.DefaultPerMinute)}, ""
	runs, err := c.Accounting(ctx, time.Now().Add(-month))
	if err != nil {
		none = "past runs are not known: " + err.Error()
	}
	w := Page(c, runs, none, meter)
	if err := w.Look(ctx); err != nil {
		return nil, err
	}
	go w.Follow(ctx, client.DefaultPace().Next)
	return w, nil
}
