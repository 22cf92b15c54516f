package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Exit statuses of commands that try a job.
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
