package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

type form[T any] struct {
	json, text       Command
	parse, parseText func([]byte) ([]T, error)
	forgeable        bool // users control parts of the text
}

// inEitherForm requests JSON, and text if JSON is missing, unknown, slow or a complaint. Without slurmctld, squeue
// --json of 22.05 prints "Unspecified error" and exits with 0.
func inEitherForm[T any](ctx context.Context, c *Client, f form[T]) ([]T, error) {
	if !c.Text && !c.slow.Load() {
		begin := time.Now()
		all, err := asked(ctx, c, f.json, f.parse)
		if c.Slow > 0 && time.Since(begin) > c.Slow {
			c.slow.Store(true)
		}
		if !errors.Is(err, ErrVersion) && !errors.Is(err, errComplaint) && !noJSON(err) {
			return all, err
		}
	}
	if c.OnlyJSON && f.forgeable {
		return nil, &Error{Command: f.json.Name, Message: "printed no JSON of a known version; Oxgang changes jobs only if Slurm prints JSON, " +
			"because in text a job's name can imitate other jobs: install Slurm's JSON serializer", Err: ErrText}
	}
	all, err := asked(ctx, c, f.text, f.parseText)
	if errors.Is(err, ErrMalformed) && c.slow.CompareAndSwap(true, false) && !c.Text {
		return asked(ctx, c, f.json, f.parse)
	}
	return all, err
}

func asked[T any](ctx context.Context, c *Client, cmd Command, parse func([]byte) ([]T, error)) ([]T, error) {
	out, err := c.call(ctx, cmd)
	if err != nil {
		return nil, err
	}
	all, err := parse(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Name, err)
	}
	return all, nil
}

func noJSON(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	said := strings.ToLower(failed.Message)
	return strings.Contains(said, "json") || strings.Contains(said, "unrecognized option") ||
		strings.Contains(said, "data_parser") || strings.Contains(said, "serializer")
}
