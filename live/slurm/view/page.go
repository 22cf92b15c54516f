package view

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
)

const month = 30 * 24 * time.Hour

// Page returns the live page of a Slurm cluster. past may be nil; noPast then states why there are no past runs.
func Page(c *client.Client, past *History, noPast string) *page.Watched {
	return page.NewWatched(func(ctx context.Context) (*status.Status, error) {
		l, err := Take(ctx, c, time.Now)
		if err != nil {
			return nil, err
		}
		return StatusOf(l, past, noPast), nil
	})
}

// Open returns the live page of the Slurm cluster whose commands are in PATH, once Slurm answers. Until ctx is done, it
// reads the state at the intervals of client.DefaultPace.
func Open(ctx context.Context) (*page.Watched, error) {
	c, none := &client.Client{Run: client.Limited(client.Exec, client.DefaultPerMinute)}, ""
	runs, err := c.Accounting(ctx, time.Now().Add(-month))
	past := HistoryOf(runs)
	if err != nil {
		past, none = nil, "past runs are not known: "+err.Error()
	}
	w := Page(c, past, none)
	if err := w.Look(ctx); err != nil {
		return nil, err
	}
	go w.Follow(ctx, client.DefaultPace().Next)
	return w, nil
}
