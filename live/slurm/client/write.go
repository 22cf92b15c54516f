package client

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Field is a setting of a job that Update changes, by scontrol's name: for example NumNodes with value 2-2.
type Field struct{ Name, Value string }

// Submit submits a script and returns the job number. For a heterogeneous job, this is the number of its first
// component.
func (c *Client) Submit(ctx context.Context, script []byte, options ...string) (ID, error) {
	out, err := c.call(ctx, Command{Name: "sbatch", Args: append([]string{"--parsable"}, options...), Input: script})
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";") // such as 12;cluster
	n, err := strconv.ParseUint(first, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: sbatch printed %.40q, want the number of a job", ErrMalformed, out)
	}
	return ID(n), nil
}

// Hold keeps a waiting job from starting.
func (c *Client) Hold(ctx context.Context, id ID) error { return c.control(ctx, "hold", id) }

// Release lets a held job start.
func (c *Client) Release(ctx context.Context, id ID) error { return c.control(ctx, "release", id) }

// Requeuehold stops a running job, and returns it to the queue in state held.
func (c *Client) Requeuehold(ctx context.Context, id ID) error {
	return c.control(ctx, "requeuehold", id)
}

func (c *Client) control(ctx context.Context, what string, id ID) error {
	_, err := c.call(ctx, Command{Name: "scontrol", Args: []string{what, id.String()}})
	return err
}

// Update changes fields of a job in one request.
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

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// A Target selects which processes get a signal.
type Target string

// Targets of a signal.
const (
	steps Target = ""        // started by srun
	Batch Target = "--batch" // only the batch script
)

// Signal sends the signal called name, such as USR1, to the processes of a job that target selects.
func (c *Client) Signal(ctx context.Context, id ID, name string, target Target) error {
	args := []string{"--signal=" + name}
	if target != steps {
		args = append(args, string(target))
	}
	_, err := c.call(ctx, Command{Name: "scancel", Args: append(args, id.String())})
	return err
}
