package view

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// ErrUnknown is returned, wrapped, for a job that Slurm does not show.
var ErrUnknown = errors.New("Slurm shows no such job") //nolint:staticcheck // Slurm is a name

// An Explanation is how the jobs stand that a number names: one, or tasks of an array, or components of a
// heterogeneous job.
type Explanation struct {
	At    time.Time `json:"at"`
	Jobs  []Job     `json:"jobs,omitempty"`  // that run, then those that wait
	Ended []Ended   `json:"ended,omitempty"` // where none runs or waits: what became of them
}

// An Ended is the last run of a job that has ended.
type Ended struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	User    string        `json:"user"`
	State   string        `json:"state"` // Slurm's word
	Code    string        `json:"reason,omitempty"`
	Exit    int           `json:"exit_code"`
	Signal  int           `json:"signal,omitempty"`
	Nodes   []string      `json:"nodes,omitempty"`
	Started time.Time     `json:"started,omitzero"` // zero: it never was
	End     time.Time     `json:"ended,omitzero"`
	Took    time.Duration `json:"took"`
}

// Explain returns how the jobs stand that id names: a number as users or Slurm write it, 12, 12_3, 12_[2-9%4]
// or 12+1; 12 of an array or a heterogeneous job is all of it. Runs are what accounting says of the past; noPast
// is why it says nothing, empty where it does. It returns ErrUnknown, wrapped, where neither shows the job.
func Explain(l *Look, runs []client.Run, noPast, id string) (*Explanation, error) {
	var past *History
	if noPast == "" {
		past = HistoryOf(runs)
	}
	meant := slices.DeleteFunc(slices.Clone(l.Jobs), func(j client.Job) bool { return !names(&j, id) })
	e := &Explanation{At: l.At, Jobs: jobs(meant, l, past, noPast)}
	if len(e.Jobs) > 0 {
		return e, nil
	}
	for i := range meant {
		e.Ended = append(e.Ended, endedJob(&meant[i]))
	}
	if len(e.Ended) == 0 {
		e.Ended = lastRuns(runs, id)
	}
	if len(e.Ended) > 0 {
		return e, nil
	}
	if noPast != "" {
		return nil, fmt.Errorf("job %s: %w that waits or runs; %s", id, ErrUnknown, noPast)
	}
	return nil, fmt.Errorf("job %s: %w, nor did one of the past that was asked for", id, ErrUnknown)
}

// names reports whether an id names a job.
func names(j *client.Job, id string) bool {
	if id == j.Label() || id == j.ID.String() {
		return true
	}
	base, task, one := strings.Cut(id, "_")
	switch n, err := strconv.Atoi(task); {
	case !one:
		return j.Array != 0 && id == j.Array.String() || j.Het != 0 && id == j.Het.String()
	default:
		return err == nil && j.Tasks != "" && base == j.Array.String() && among(j.Tasks, n)
	}
}

// among reports whether a task is one of those that Slurm writes as "1,4-9,20-40:5%4".
func among(tasks string, task int) bool {
	list, _, _ := strings.Cut(tasks, "%")
	for item := range strings.SplitSeq(list, ",") {
		span, by, stepped := strings.Cut(item, ":")
		from, to, ranged := strings.Cut(span, "-")
		if !ranged {
			to = from
		}
		first, errFirst := strconv.Atoi(from)
		last, errLast := strconv.Atoi(to)
		step, errStep := strconv.Atoi(by)
		if !stepped {
			step, errStep = 1, nil
		}
		if errors.Join(errFirst, errLast, errStep) == nil && step > 0 && first <= task && task <= last && (task-first)%step == 0 {
			return true
		}
	}
	return false
}

// endedJob returns what slurmctld still shows of a job that has ended.
func endedJob(j *client.Job) Ended {
	e := Ended{
		ID: j.Label(), Name: j.Name, User: j.User, State: string(j.State), Code: j.Reason, Exit: j.ExitCode, Signal: j.Signal,
		Nodes: j.Nodes, Started: j.Start, End: j.End,
	}
	if e.Code == "None" {
		e.Code = ""
	}
	if !j.Start.IsZero() && j.End.After(j.Start) {
		e.Took = j.End.Sub(j.Start)
	}
	return e
}

// lastRuns returns the last run of each job of the accounting that an id names.
func lastRuns(runs []client.Run, id string) (all []Ended) {
	at := map[client.ID]int{}
	for i := range runs {
		r := &runs[i]
		base, _, _ := strings.Cut(strings.ReplaceAll(r.Label, "+", "_"), "_")
		if id != r.ID.String() && id != r.Label && id != base {
			continue
		}
		e := Ended{
			ID: r.Label, Name: r.Name, User: r.User, State: string(r.State), Exit: r.ExitCode, Signal: r.Signal,
			Nodes: r.Nodes, Started: r.Start, End: r.End, Took: r.Elapsed,
		}
		if before, known := at[r.ID]; known {
			if !e.Started.Before(all[before].Started) {
				all[before] = e
			}
			continue
		}
		at[r.ID] = len(all)
		all = append(all, e)
	}
	return all
}
