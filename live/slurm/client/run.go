package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A Command is a call of one of Slurm's programs.
type Command struct {
	Name  string   // such as squeue
	Args  []string // not read by a shell
	Input []byte   // standard input
}

// A Runner runs a command and returns its standard output. If the command fails, the error is an *Error.
type Runner func(ctx context.Context, cmd Command) ([]byte, error)

// Reasons for which a command fails.
var (
	ErrNoCommand   = errors.New("not in PATH")
	ErrUnreachable = errors.New("slurmctld or slurmdbd does not answer")
	ErrTimeout     = errors.New("no answer in time")
	ErrDenied      = errors.New("not permitted")
	ErrUnknownJob  = errors.New("no such job")
	ErrEnded       = errors.New("the job has ended")
	ErrVersion     = errors.New("unknown version")
	ErrMalformed   = errors.New("malformed output")
	ErrText        = errors.New("no JSON")
)

// An Error is a failed command.
type Error struct {
	Command string
	Message string
	Err     error
}

func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Command, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

const longestStop = time.Second

// Exec is a Runner that finds the command in PATH.
func Exec(ctx context.Context, c Command) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(c.Input), &out, &complaint, longestStop
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0")
	err := cmd.Run()
	// Some commands print an error and exit with 0.
	if said := complaint.String(); err == nil && !strings.Contains(said, "error: ") {
		return out.Bytes(), nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, &Error{Command: c.Name, Err: ErrNoCommand}
	}
	return nil, Failed(c.Name, complaint.String(), err)
}

var known = []struct {
	text string
	err  error
}{
	{"Unable to contact slurm controller", ErrUnreachable},
	{"Socket timed out", ErrUnreachable},
	{"missing socket", ErrUnreachable},
	{"Connection refused", ErrUnreachable},
	{"Unable to connect to database", ErrUnreachable},
	{"Zero Bytes were transmitted or received", ErrUnreachable},
	{"Could not establish a configuration source", ErrUnreachable},
	{"ccess/permission denied", ErrDenied},
	{"Invalid user id", ErrDenied},
	{"only accessible to", ErrDenied},
	{"Invalid job id", ErrUnknownJob},
	{"already completing or completed", ErrEnded},
	{"Job/step already", ErrEnded},
}

// Failed returns the error of a command that ended with error err and printed complaint.
func Failed(command, complaint string, err error) *Error {
	e := &Error{Command: command, Message: words(command, complaint), Err: err}
	for _, k := range known {
		if strings.Contains(complaint, k.text) {
			e.Err = k.err
			break
		}
	}
	if e.Err == nil {
		e.Err = errors.New("the command printed an error")
	}
	return e
}

func words(command, complaint string) string {
	var said []string
	for line := range strings.Lines(complaint) {
		line = strings.TrimPrefix(strings.TrimSpace(line), command+": ")
		if line = strings.TrimPrefix(line, "error: "); line != "" {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}
