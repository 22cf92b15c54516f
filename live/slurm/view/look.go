package view

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
)

// A Look is the state of a Slurm cluster at one moment.
type Look struct {
	At           time.Time
	Jobs         []client.Job
	Nodes        []client.Node
	Partitions   []client.Partition
	Reservations []client.Reservation
	QOS          []client.QOS // nil: NoQOS is the reason
	NoQOS        string
}

// Take reads the state once. If slurmdbd does not answer, limits of QOS are missing.
func Take(ctx context.Context, c *client.Client, now func() time.Time) (*Look, error) {
	l := &Look{At: now()}
	var err error
	if l.Jobs, err = c.Jobs(ctx); err != nil {
		return nil, err
	}
	if l.Nodes, err = c.Nodes(ctx); err != nil {
		return nil, err
	}
	if l.Partitions, err = c.Partitions(ctx); err != nil {
		return nil, err
	}
	if l.Reservations, err = c.Reservations(ctx); err != nil {
		return nil, err
	}
	if l.QOS, err = c.QOS(ctx); err != nil {
		l.NoQOS = err.Error()
	}
	return l, l.check()
}

// mostApart is how far the clocks of this machine and slurmctld may differ.
const mostApart = 5 * time.Minute

func (l *Look) check() error {
	for i := range l.Jobs {
		j := &l.Jobs[i]
		for _, at := range []time.Time{j.Submit, startOf(j)} {
			if ahead := at.Sub(l.At); ahead > mostApart {
				return fmt.Errorf("%w: job %s was submitted or started %v after now, %v: set the clocks of slurmctld's machine and of this one",
					ErrClocks, j.Label(), ahead.Round(time.Second), l.At.UTC().Format(time.RFC3339))
			}
		}
	}
	return nil
}

func startOf(j *client.Job) time.Time {
	if j.Waits() {
		return time.Time{}
	}
	return j.Start
}

func (l *Look) partition(name string) *client.Partition {
	for i := range l.Partitions {
		if l.Partitions[i].Name == name {
			return &l.Partitions[i]
		}
	}
	return nil
}

func (l *Look) qos(name string) *client.QOS {
	for i := range l.QOS {
		if l.QOS[i].Name == name {
			return &l.QOS[i]
		}
	}
	return nil
}

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
