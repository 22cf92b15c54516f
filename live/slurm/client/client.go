package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// defaultTimeout is the time limit of a command. slurmctld answers within seconds unless it is overloaded.
const defaultTimeout = 30 * time.Second

// A Client runs the commands of one Slurm cluster and parses their output. It is safe for concurrent use.
type Client struct {
	// Run runs commands; nil: Exec.
	Run Runner
	// Text requests text instead of JSON.
	Text bool
	// OnlyJSON makes Jobs return ErrText instead of reading text, in which a job's name can imitate other jobs and
	// fields. Set it if you act on the result.
	OnlyJSON bool
	// Slow is how long a JSON answer may take; 0: no limit. After a slower one the client requests text, which
	// takes half as long, until some text cannot be parsed.
	Slow time.Duration
	slow atomic.Bool // the last JSON answer took longer than Slow
}

func (c *Client) call(ctx context.Context, cmd Command) ([]byte, error) {
	run := c.Run
	if run == nil {
		run = Exec
	}
	bounded, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	out, err := run(bounded, cmd)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, &Error{Command: cmd.Name, Message: fmt.Sprintf("no answer within %v", defaultTimeout), Err: ErrTimeout}
	}
	return nil, err
}

// Jobs returns the jobs that wait, run, or ended within Slurm's MinJobAge, by number. An array is one job until its
// first task starts.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	return inEitherForm(ctx, c, form[Job]{
		json: Command{Name: "squeue", Args: []string{"--json"}}, parse: ParseJobs,
		text: Command{Name: "scontrol", Args: []string{"-o", "-d", "show", "job"}}, parseText: parseJobsText, forgeable: true,
	})
}

// Nodes returns the nodes, by name.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	return inEitherForm(ctx, c, form[Node]{
		json: Command{Name: "scontrol", Args: []string{"--json", "show", "node"}}, parse: ParseNodes,
		text: Command{Name: "scontrol", Args: []string{"-o", "-d", "show", "node"}}, parseText: ParseNodesText,
	})
}

// Booted returns when slurmctld started, in Slurm's time format, or "" if this is unknown.
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

// Partitions returns the partitions that the user can see.
func (c *Client) Partitions(ctx context.Context) ([]Partition, error) {
	return asked(ctx, c, Command{Name: "scontrol", Args: []string{"-o", "show", "partition"}}, ParsePartitions)
}

// Reservations returns the current and future reservations.
func (c *Client) Reservations(ctx context.Context) ([]Reservation, error) {
	return asked(ctx, c, Command{Name: "scontrol", Args: []string{"-o", "show", "reservation"}}, ParseReservations)
}

// QOS returns the qualities of service from slurmdbd.
func (c *Client) QOS(ctx context.Context) ([]QOS, error) {
	return asked(ctx, c, Command{Name: "sacctmgr", Args: []string{"-n", "-P", "show", "qos", "format=" + QOSColumns}}, ParseQOS)
}

// Accounting returns the runs of jobs since start, without job steps, from slurmdbd. The columns are separated by a new
// random text, which no job name can contain.
func (c *Client) Accounting(ctx context.Context, start time.Time) ([]Run, error) {
	separator := "," + rand.Text() + ","
	return asked(ctx, c, Command{Name: "sacct", Args: []string{
		"-n", "-P", "-a", "-X", "-D", "--delimiter=" + separator, "-S", fmt.Sprintf("uts%d", start.Unix()), "-o", RunColumns,
	}}, func(text []byte) ([]Run, error) { return parseRuns(text, separator) })
}

// A Run is one run of a job in Slurm's accounting database.
type Run struct {
	ID               ID
	Label            string // 12, 12_3, 12_[2-9] or 12+1
	State            State
	ExitCode, Signal int
	Start, End       time.Time
	Elapsed          time.Duration
	User, Name       string
	Nodes            []string
	Held             GPUs
}

// RunColumns are the sacct columns that ParseRuns reads. The first and the last are the same.
const RunColumns = "JobIDRaw,JobID,JobName,User,State,ExitCode,Start,End,ElapsedRaw,NodeList,AllocTRES,JobIDRaw"

// parseRuns parses the output of sacct. separator is the text between columns; users must not be able to guess it.
// Names may contain line breaks. Errors are ErrMalformed.
func parseRuns(text []byte, separator string) ([]Run, error) {
	want := strings.Count(RunColumns, ",") + 1
	cells := strings.Split(strings.TrimSuffix(string(text), "\n"), separator)
	if len(text) == 0 {
		return nil, nil
	}
	var all []Run
	for n := 1; ; n++ {
		if len(cells) < want {
			return nil, fmt.Errorf("%w: row %d: %d columns, want %d", ErrMalformed, n, len(cells), want)
		}
		f := slices.Clone(cells[:want])
		last, next, _ := strings.Cut(f[want-1], "\n")
		f[want-1] = last
		if f[0] != f[want-1] || (len(cells) == want) != (next == "") {
			return nil, fmt.Errorf("%w: row %d: job %.20q ends as %.20q, want the same, and %d columns", ErrMalformed, n, f[0], f[want-1], want)
		}
		r, err := run(f, n)
		if err != nil {
			return nil, err
		}
		if all = append(all, r); len(cells) == want {
			return all, nil
		}
		cells = cells[want-1:]
		cells[0] = next
	}
}

func run(f []string, line int) (Run, error) {
	rec := &record{line: line, fields: map[string]string{
		"JobIDRaw": f[0], "Start": f[6], "End": f[7], "ElapsedRaw": f[8],
	}}
	var c checker
	state, _, _ := strings.Cut(f[4], " ") // such as CANCELLED by 1000
	r := Run{
		ID: ID(c.integer(c.field(rec, "JobIDRaw"), "JobIDRaw", 1, math.MaxUint32)), Label: f[1], Name: f[2],
		User: f[3], State: State(strings.TrimSuffix(state, "+")),
		Start: c.at(c.field(rec, "Start"), "Start"), End: c.at(c.field(rec, "End"), "End"),
		Elapsed: time.Duration(c.integer(c.field(rec, "ElapsedRaw"), "ElapsedRaw", 0, mostMinutes*60)) * time.Second,
		Held:    c.gpus(f[10]),
	}
	if f[9] != "None assigned" {
		r.Nodes = c.nodes(f[9])
	}
	r.ExitCode, r.Signal = exitOf(f[5])
	return r, c.of("job", strconv.Quote(f[1]))
}
