package client

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestJobs_fall_back: where JSON is missing, or of a version that is not known, text is asked for.
func TestJobs_fall_back(t *testing.T) {
	for name, answer := range map[string]func() ([]byte, error){
		"no option": func() ([]byte, error) { return nil, Failed("squeue", "squeue: unrecognized option '--json'\n", nil) },
		"no plugin": func() ([]byte, error) { return nil, Failed("squeue", "squeue: fatal: JSON plugin load failure\n", nil) },
		"version": func() ([]byte, error) {
			return bytes.ReplaceAll(sample(t, "squeue.json"), []byte("v0.0.38"), []byte("v0.0.99")), nil
		},
		"complaint": func() ([]byte, error) {
			return []byte(`{"meta":{"plugin":{"type":"openapi/v0.0.38"}},"errors":[{"error":"Unspecified error","description":"Failed"}],"jobs":[]}`), nil
		},
		"controller": func() ([]byte, error) {
			return nil, Failed("squeue", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", nil)
		},
		"truncated": func() ([]byte, error) { return sample(t, "squeue.json")[:100], nil },
	} {
		asked := 0
		c := Client{Run: func(_ context.Context, cmd Command) ([]byte, error) {
			if cmd.Name == "squeue" {
				return answer()
			}
			asked++
			return sample(t, "scontrol-job.txt"), nil
		}}
		jobs, err := c.Jobs(t.Context())
		switch name {
		case "controller":
			if !errors.Is(err, ErrUnreachable) || asked > 0 || !strings.Contains(err.Error(), "connect failure") {
				t.Errorf("%s: %v, asked again %d times", name, err, asked)
			}
		case "truncated":
			if !errors.Is(err, ErrMalformed) || asked > 0 {
				t.Errorf("%s: %v, asked again %d times", name, err, asked)
			}
		default:
			if err != nil || len(jobs) != 16 || asked != 1 {
				t.Errorf("%s: %d jobs, %v, asked again %d times", name, len(jobs), err, asked)
			}
		}
	}
}

// A client that acts on its answers reads no text, in which a name can imitate other jobs, and asks sacct for columns that
// no name can imitate.
func TestOnlyJSON(t *testing.T) {
	var asked []string
	c := Client{OnlyJSON: true, Run: func(_ context.Context, cmd Command) ([]byte, error) {
		asked = append(asked, cmd.Name)
		if cmd.Name == "squeue" {
			return nil, Failed("squeue", "squeue: fatal: JSON plugin load failure\n", nil)
		}
		return sample(t, "scontrol-node.txt"), nil
	}}
	if _, err := c.Jobs(t.Context()); !errors.Is(err, ErrText) || !strings.Contains(err.Error(), "install Slurm's JSON serializer") || len(asked) != 1 {
		t.Errorf("%v after %v, want ErrText after squeue alone", err, asked)
	}
	c.Run = func(_ context.Context, cmd Command) ([]byte, error) {
		asked = append(asked, cmd.Args[5])
		return nil, nil
	}
	for range 2 {
		if _, err := c.Accounting(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(asked); !strings.HasPrefix(asked[n-1], "--delimiter=") || asked[n-1] == asked[n-2] {
		t.Errorf("delimiters %q, want a new one in each call", asked[n-2:])
	}
}

// TestWrite: what is written is one argument each, and what cannot be is refused before.
func TestWrite(t *testing.T) {
	var calls []string
	c := Client{Run: func(_ context.Context, cmd Command) ([]byte, error) {
		calls = append(calls, cmd.Name+" "+strings.Join(cmd.Args, "|"))
		return []byte("17;rig\n"), nil
	}}
	ctx := t.Context()
	id, err := c.Submit(ctx, []byte("#!/bin/sh\n"), "--hold")
	if id != 17 || err != nil {
		t.Errorf("submitted %v, %v, want 17", id, err)
	}
	for _, err := range []error{
		c.Hold(ctx, 3), c.Release(ctx, 3), c.Requeuehold(ctx, 3), c.Signal(ctx, 3, "USR1", Batch), c.Signal(ctx, 3, "TERM", steps),
		c.Update(ctx, 3, Field{"NumNodes", "2-2"}, Field{"Comment", "oxgang: a b"}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"sbatch --parsable|--hold", "scontrol hold|3", "scontrol release|3", "scontrol requeuehold|3", "scancel --signal=USR1|--batch|3",
		"scancel --signal=TERM|3", "scontrol update|JobId=3|NumNodes=2-2|Comment=oxgang: a b",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
	for _, f := range []Field{{"Comment", "a\nb"}, {"", "x"}, {"JobId=4 Nice", "x"}} {
		if err := c.Update(ctx, 3, f); !errors.Is(err, ErrMalformed) {
			t.Errorf("update of %q: %v, want an error", f, err)
		}
	}
}
