package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/internal/usage"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// ErrBudget is the cause with which a context ends when its processor time is used up.
var ErrBudget = errors.New("the limit of processor time is reached")

const budgetTick = 20 * time.Millisecond

// WithBudget returns a context that is cancelled, with cause ErrBudget, when the process has used a further budget of
// processor time over all threads. cancel frees its resources.
func WithBudget(ctx context.Context, budget time.Duration) (_ context.Context, cancel context.CancelFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	if budget <= 0 {
		stop(ErrBudget)
	}
	end := usage.ProcessTime() + budget
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(budgetTick):
				if usage.ProcessTime() > end {
					stop(ErrBudget)
				}
			}
		}
	})
	return ctx, func() {
		stop(context.Canceled)
		watch.Wait()
	}
}

var leastGrowth atomic.Int64

// Hurry lets the heap double between garbage collections, for a command that answers one question and ends.
func Hurry() { leastGrowth.Store(100) }

// LeastGrowth returns the least growth of the heap, in per cent, between two garbage collections; 0: the default.
func LeastGrowth() int64 { return leastGrowth.Load() }

const (
	tryWaits = 3
	tryNever = 4
)

// WriteTrial writes an answer in a format: text, json or yaml. It returns a StatusError if the job would not start at
// once.
func WriteTrial(w io.Writer, format string, answer *whatif.TrialAnswer) error {
	var err error
	if format == "text" {
		_, err = io.WriteString(w, answer.Text())
	} else {
		err = Write(w, format, answer)
	}
	switch {
	case err != nil:
		return err
	case answer.Answer == whatif.Waits:
		return StatusError(tryWaits)
	case answer.Answer == whatif.Never:
		return StatusError(tryNever)
	}
	return nil
}

// mostSubmission is the size in bytes of the largest file that is read as a job.
const mostSubmission = 4 << 20

// Submission reads the job that a user's file would submit: see trace.ReadSubmission.
func Submission(ctx context.Context, file string) (*job.Spec, error) {
	in, err := Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, mostSubmission+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostSubmission {
		return nil, fmt.Errorf("%s: larger than 4 MiB, want a file with one job", file)
	}
	return trace.ReadSubmission(text, file)
}
