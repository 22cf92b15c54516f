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
	ID                  ID
	Label               string // 12, 12_3, 12_[2-9] or 12+1
	State               State
	ExitCode, Signal    int
	Submit, Eligible    time.Time
	Start, End          time.Time
	Elapsed             time.Duration
	Partition, QOS      string
	Account, User, Name string
	Comment             string // empty unless AccountingStoreFlags has job_comment
	Nodes               []string
	Wanted, Held        GPUs
}

// RunColumns are the sacct columns that ParseRuns reads. The first and the last are the same.
const RunColumns = "JobIDRaw,JobID,JobName,Comment,User,Account,Partition,QOS,State,ExitCode,Submit,Eligible,Start,End,ElapsedRaw,NodeList,ReqTRES,AllocTRES,JobIDRaw"

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
		"JobIDRaw": f[0], "Submit": f[10], "Eligible": f[11], "Start": f[12], "End": f[13], "ElapsedRaw": f[14],
	}}
	var c checker
	state, _, _ := strings.Cut(f[8], " ") // such as CANCELLED by 1000
	r := Run{
		ID: ID(c.integer(c.field(rec, "JobIDRaw"), "JobIDRaw", 1, math.MaxUint32)), Label: f[1], Name: f[2], Comment: f[3],
		User: f[4], Account: f[5], Partition: f[6], QOS: f[7], State: State(strings.TrimSuffix(state, "+")),
		Submit: c.at(c.field(rec, "Submit"), "Submit"), Eligible: c.at(c.field(rec, "Eligible"), "Eligible"),
		Start: c.at(c.field(rec, "Start"), "Start"), End: c.at(c.field(rec, "End"), "End"),
		Elapsed: time.Duration(c.integer(c.field(rec, "ElapsedRaw"), "ElapsedRaw", 0, mostMinutes*60)) * time.Second,
		Wanted:  c.gpus(f[16]), Held: c.gpus(f[17]),
	}
	if f[15] != "None assigned" {
		r.Nodes = c.nodes(f[15])
	}
	r.ExitCode, r.Signal = exitOf(f[9])
	return r, c.of("job", strconv.Quote(f[1]))
}
