package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// DefaultTimeout is how long a command may take: slurmctld answers within seconds or is overloaded.
const DefaultTimeout = 30 * time.Second

// A Client asks and tells one Slurm. Its methods may be called from several goroutines.
type Client struct {
	// Run runs commands; nil: Exec.
	Run Runner
	// Timeout is how long each command may take; 0: DefaultTimeout.
	Timeout time.Duration
	// Text asks for text in place of JSON.
	Text bool
	// Slow is how long an answer in JSON may take. After one that took longer text is asked for, which takes half as much, until it cannot
	// be read, as where a name has a line break. 0: as long as it likes.
	Slow time.Duration
	slow atomic.Bool // one took longer
}

// call runs a command within the time limit.
func (c *Client) call(ctx context.Context, cmd Command) ([]byte, error) {
	limit := c.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	run := c.Run
	if run == nil {
		run = Exec
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := run(bounded, cmd)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, &Error{Command: cmd.Name, Message: fmt.Sprintf("no answer within %v", limit), Err: ErrTimeout}
	}
	return nil, err
}

// Jobs returns the jobs that Slurm knows: those that wait, run, or ended within its MinJobAge,
// by number. An array of which no task was started is one job.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	return inEitherForm(ctx, c, form[Job]{
		json: Command{Name: "squeue", Args: []string{"--json"}}, parse: ParseJobs,
		text: Command{Name: "scontrol", Args: []string{"-o", "-d", "show", "job"}}, parseText: ParseJobsText,
	})
}

// Nodes returns the nodes, by name.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	return inEitherForm(ctx, c, form[Node]{
		json: Command{Name: "scontrol", Args: []string{"--json", "show", "node"}}, parse: ParseNodes,
		text: Command{Name: "scontrol", Args: []string{"-o", "-d", "show", "node"}}, parseText: ParseNodesText,
	})
}

// Booted returns when slurmctld was started, in its words, which are others once it is started again; empty: it does not say.
func (c *Client) Booted(ctx context.Context) (string, error) {
	out, err := c.call(ctx, Command{Name: "scontrol", Args: []string{"show", "config"}})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if name, value, _ := strings.Cut(line, "="); strings.TrimSpace(name) == "BOOT_TIME" {
			return strings.TrimSpace(value), nil
		}
	}
	return "", nil
}

// Partitions returns the partitions that the user may see.
func (c *Client) Partitions(ctx context.Context) ([]Partition, error) {
	return asked(ctx, c, Command{Name: "scontrol", Args: []string{"-o", "show", "partition"}}, ParsePartitions)
}

// Reservations returns the reservations that there are now or will be.
func (c *Client) Reservations(ctx context.Context) ([]Reservation, error) {
	return asked(ctx, c, Command{Name: "scontrol", Args: []string{"-o", "show", "reservation"}}, ParseReservations)
}

// QOS returns the qualities of service, which slurmdbd knows.
func (c *Client) QOS(ctx context.Context) ([]QOS, error) {
	return asked(ctx, c, Command{Name: "sacctmgr", Args: []string{"-n", "-P", "show", "qos", "format=" + QOSColumns}}, ParseQOS)
}

// Accounting returns the runs of jobs that slurmdbd knows of the time since: of all users whose jobs the
// user may see, one row a run, without steps.
func (c *Client) Accounting(ctx context.Context, since time.Time) ([]Run, error) {
	return asked(ctx, c, Command{Name: "sacct", Args: []string{
		"-n", "-P", "-a", "-X", "-D", "--delimiter=" + separator, "-S", fmt.Sprintf("uts%d", since.Unix()), "-o", RunColumns,
	}}, ParseRuns)
}
