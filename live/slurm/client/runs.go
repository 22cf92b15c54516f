package client

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

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

// ParseRuns parses the output of sacct. separator is the text between columns; users must not be able to guess it.
// Names may contain line breaks. Errors are ErrMalformed.
func ParseRuns(text []byte, separator string) ([]Run, error) {
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
