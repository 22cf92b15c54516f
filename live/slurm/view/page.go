package view

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

const month = 30 * 24 * time.Hour

// Page returns the live page of a Slurm cluster. past may be nil; noPast then states why there are no past runs. meter
// measures the use of GPUs, and may be nil.
func Page(c *client.Client, past *History, noPast string, meter *gpuuse.Meter) *page.Watched {
	var last atomic.Pointer[Look]
	w := page.NewWatched(func(ctx context.Context) (*status.Status, error) {
		l, err := Take(ctx, c, time.Now)
		if err != nil {
			return nil, err
		}
		last.Store(l)
		return StatusOf(l, past, noPast), nil
	})
	if meter != nil {
		w.Measure = func(s *status.Status) { meter.Attach(s, last.Load().owner()) }
	}
	return w
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
	past := HistoryOf(runs)
	if err != nil {
		past, none = nil, "past runs are not known: "+err.Error()
	}
	w := Page(c, past, none, meter)
	if err := w.Look(ctx); err != nil {
		return nil, err
	}
	go w.Follow(ctx, client.DefaultPace().Next)
	return w, nil
}
