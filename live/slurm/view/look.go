package view

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
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
