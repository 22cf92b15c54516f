package client

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Field is one thing that Update changes, as scontrol names it: NumNodes, 2-2.
type Field struct{ Name, Value string }

// Submit writes: it submits a script, with options of sbatch, and returns the number of the job, of the
// first component if it is heterogeneous.
func (c *Client) Submit(ctx context.Context, script []byte, options ...string) (ID, error) {
	out, err := c.call(ctx, Command{Name: "sbatch", Args: append([]string{"--parsable"}, options...), Input: script})
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";") // 12;cluster
	n, err := strconv.ParseUint(first, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: sbatch printed %.40q, want the number of a job", ErrMalformed, out)
	}
	return ID(n), nil
}

// Hold writes: it keeps a job that waits from starting.
func (c *Client) Hold(ctx context.Context, id ID) error { return c.control(ctx, "hold", id) }

// Release writes: a job that is held may start.
func (c *Client) Release(ctx context.Context, id ID) error { return c.control(ctx, "release", id) }

// Requeuehold writes: a job that runs is stopped and waits, held.
func (c *Client) Requeuehold(ctx context.Context, id ID) error {
	return c.control(ctx, "requeuehold", id)
}

// control runs a command of scontrol about one job.
func (c *Client) control(ctx context.Context, what string, id ID) error {
	_, err := c.call(ctx, Command{Name: "scontrol", Args: []string{what, id.String()}})
	return err
}

// Update writes: it changes fields of a job, all in one request.
func (c *Client) Update(ctx context.Context, id ID, fields ...Field) error {
	args := []string{"update", "JobId=" + id.String()}
	for _, f := range fields {
		if strings.ContainsAny(f.Value, "\n\r\x00") || f.Name == "" || strings.Trim(f.Name, letters) != "" {
			return fmt.Errorf("%w: field %q: value %q, want a name and one line", ErrMalformed, f.Name, f.Value)
		}
		args = append(args, f.Name+"="+f.Value)
	}
	_, err := c.call(ctx, Command{Name: "scontrol", Args: args})
	return err
}

// letters are those of the names of fields.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Cancel writes: it ends a job. One that has ended, or is not known, is no error.
func (c *Client) Cancel(ctx context.Context, id ID) error {
	_, err := c.call(ctx, Command{Name: "scancel", Args: []string{id.String()}})
	return err
}

// Target says who gets a signal.
type Target string

// The processes of a job that may get a signal.
const (
	Steps Target = ""        // those that srun started
	Batch Target = "--batch" // the batch script alone
	Full  Target = "--full"  // the batch script, its children, and all steps
)

// Signal writes: it sends a signal, as USR1, to processes of a job.
func (c *Client) Signal(ctx context.Context, id ID, name string, to Target) error {
	args := []string{"--signal=" + name}
	if to != Steps {
		args = append(args, string(to))
	}
	_, err := c.call(ctx, Command{Name: "scancel", Args: append(args, id.String())})
	return err
}
