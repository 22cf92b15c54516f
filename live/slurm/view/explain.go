package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// ErrUnknown marks a job that Slurm does not show.
var ErrUnknown = errors.New("Slurm shows no such job") //nolint:staticcheck // Slurm is a name

// Explain returns the status of the jobs that id names in Slurm's notation: 12, 12_3, 12_[2-9%4] or 12+1; 12 includes
// all tasks and components. runs are past runs; if there are none, noPast states why. It returns ErrUnknown, wrapped,
// if there is no such job.
func Explain(l *Look, runs []client.Run, noPast, id string) (*status.Status, error) {
	var past *History
	if noPast == "" {
		past = HistoryOf(runs)
	}
	meant := slices.DeleteFunc(slices.Clone(l.Jobs), func(j client.Job) bool { return !names(&j, id) })
	e := StatusOf(l, past, noPast)
	e.Jobs = jobs(meant, l, past, noPast)
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
	return nil, fmt.Errorf("job %s: %w, and none in the requested past", id, ErrUnknown)
}

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

var outcomes = map[client.State]string{client.Completed: "done", client.Cancelled: "cancelled"}

func ended(v status.Job, nodes []string, exit, signal int, took time.Duration) status.Job {
	v.Phase, v.Outcome = strings.ToLower(v.State), cmp.Or(outcomes[client.State(v.State)], "failed")
	var words []string
	if exit != 0 || signal != 0 {
		words = append(words, fmt.Sprintf("exit status %d", exit))
	}
	if signal != 0 {
		words = append(words, fmt.Sprintf("signal %d", signal))
	}
	if len(nodes) == 0 || v.Started.IsZero() {
		words = append(words, "it never ran")
	} else {
		words = append(words, fmt.Sprintf("ran %s on %s", printable.Short(took), strings.Join(nodes[:min(len(nodes), mostNodes)], ", ")))
		if more := len(nodes) - mostNodes; more > 0 {
			words = append(words, fmt.Sprintf("%d more nodes", more))
		}
	}
	v.Detail = strings.Join(words, ", ")
	return v
}

const mostNodes = 5

func endedJob(j *client.Job) status.Job {
	v := status.Job{ID: job.ID(j.Label()), Name: j.Name, User: j.User, State: string(j.State), Reason: j.Reason, Started: j.Start, Finished: j.End}
	if v.Reason == "None" {
		v.Reason = ""
	}
	return ended(v, j.Nodes, j.ExitCode, j.Signal, max(0, j.End.Sub(j.Start)))
}

func pastJob(r *client.Run) status.Job {
	v := status.Job{ID: job.ID(r.Label), Name: r.Name, User: r.User, State: string(r.State), Started: r.Start, Finished: r.End}
	return ended(v, r.Nodes, r.ExitCode, r.Signal, r.Elapsed)
}

func lastRuns(runs []client.Run, id string) (all []status.Job) {
	at := map[client.ID]int{}
	for i := range runs {
		r := &runs[i]
		base, _, _ := strings.Cut(strings.ReplaceAll(r.Label, "+", "_"), "_")
		if id != r.ID.String() && id != r.Label && id != base {
			continue
		}
		v := pastJob(r)
		if before, known := at[r.ID]; known {
			if !v.Started.Before(all[before].Started) {
				all[before] = v
			}
			continue
		}
		at[r.ID] = len(all)
		all = append(all, v)
	}
	return all
}
