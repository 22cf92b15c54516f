package view

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Look is what a Slurm said at one moment.
type Look struct {
	At           time.Time
	Jobs         []client.Job
	Nodes        []client.Node
	Partitions   []client.Partition
	Reservations []client.Reservation
	QOS          []client.QOS // nil: slurmdbd did not say, for the reason in NoQOS
	NoQOS        string
}

// Take asks a Slurm: five commands, of which one asks slurmdbd, without which there are no limits to show.
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

// mostApart is how far a clock may be from that of slurmctld.
const mostApart = 5 * time.Minute

// check returns an error for a Look from which nothing can be concluded: jobs that started in the future.
func (l *Look) check() error {
	for i := range l.Jobs {
		j := &l.Jobs[i]
		for _, at := range []time.Time{j.Submit, startOf(j)} {
			if ahead := at.Sub(l.At); ahead > mostApart {
				return fmt.Errorf("%w: job %s was submitted or started %v after now, %v: the clocks of slurmctld and of this machine are apart",
					ErrClocks, j.Label(), ahead.Round(time.Second), l.At.UTC().Format(time.RFC3339))
			}
		}
	}
	return nil
}

// startOf returns when a job started; zero if it waits: then Start is what Slurm expects.
func startOf(j *client.Job) time.Time {
	if j.Waits() {
		return time.Time{}
	}
	return j.Start
}

// partition returns a partition; nil if the user may not see it.
func (l *Look) partition(name string) *client.Partition {
	for i := range l.Partitions {
		if l.Partitions[i].Name == name {
			return &l.Partitions[i]
		}
	}
	return nil
}

// qos returns a quality of service; nil if it is not known.
func (l *Look) qos(name string) *client.QOS {
	for i := range l.QOS {
		if l.QOS[i].Name == name {
			return &l.QOS[i]
		}
	}
	return nil
}
