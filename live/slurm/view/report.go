package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/comment"
)

// ErrClocks says that the clock of this machine and that of slurmctld are apart.
var ErrClocks = errors.New("clocks are apart")

// A Report is what a Slurm does.
type Report struct {
	At    time.Time `json:"at"`
	Types []Type    `json:"gpus"`
	Jobs  []Job     `json:"jobs"` // that run, by number; then those that wait, as Slurm orders them
	Idle  []Idle    `json:"idle"` // GPUs that no job holds, by node
	// Notes say what could not be known, and why.
	Notes []string `json:"notes,omitempty"`
}

// A Type counts the GPUs of one type.
type Type struct {
	Name string `json:"type"` // empty: Slurm's configuration names none
	GPUs int    `json:"total"`
	Held int    `json:"held"`
	Down int    `json:"unusable"` // of those that no job holds: on nodes that are drained, down or reserved
}

// A Job is a job that runs or waits.
type Job struct {
	ID        string    `json:"id"` // 12, 12_3, 12_[2-9%4], 12+1
	Name      string    `json:"name"`
	User      string    `json:"user"`
	Account   string    `json:"account"`
	Partition string    `json:"partition"`
	QOS       string    `json:"qos"`
	State     string    `json:"state"`
	GPUs      int       `json:"gpus"`
	Type      string    `json:"gpu_type"` // that it holds or asks for; empty: any
	Nodes     []string  `json:"nodes"`
	Submitted time.Time `json:"submitted"`
	Started   time.Time `json:"started,omitzero"`
	Priority  uint32    `json:"priority"`
	// Code is Slurm's reason code, Why says what it means here, and Unblock what would end the waiting. All are
	// empty for a job that runs.
	Code    string `json:"reason"`
	Why     string `json:"why"`
	Unblock string `json:"unblock"`
	// Note says what is wrong with a job that runs; empty: nothing is known to be.
	Note  string `json:"note,omitempty"`
	Start ETA    `json:"start,omitzero"` // of a job that waits
	End   ETA    `json:"end,omitzero"`   // of a job that runs
}

// An ETA is when something is expected.
type ETA struct {
	Early time.Time `json:"early,omitzero"`
	Late  time.Time `json:"late,omitzero"`
	From  string    `json:"from"` // where it comes from; if it is not known: why not
}

// ReportOf returns what a Look and past runs say. Runs may be nil: then no end is known from them, for the
// reason noHistory.
func ReportOf(l *Look, h *History, noHistory string) *Report {
	r := &Report{At: l.At, Types: types(l), Idle: idle(l), Jobs: jobs(l.Jobs, l, h, noHistory)}
	if l.NoQOS != "" {
		r.Notes = append(r.Notes, "limits of QOS are not known: "+l.NoQOS)
	}
	return r
}

// jobs returns those of some jobs of a Look that run or wait.
func jobs(some []client.Job, l *Look, h *History, noHistory string) (all []Job) {
	for i := range some {
		j := &some[i]
		switch {
		case j.Holds():
			all = append(all, running(j, l.At, h, noHistory))
		case j.Waits():
			all = append(all, waiting(j, l))
		}
	}
	slices.SortStableFunc(all, order)
	return all
}

// order puts jobs that run before those that wait, and these by priority.
func order(a, b Job) int {
	wait := func(j *Job) int {
		if j.State == string(client.Pending) {
			return 1
		}
		return 0
	}
	if c := cmp.Compare(wait(&a), wait(&b)); c != 0 || wait(&a) == 0 {
		return c
	}
	return cmp.Compare(b.Priority, a.Priority)
}

// jobOf returns what running and waiting jobs have in common.
func jobOf(j *client.Job) Job {
	return Job{
		ID: j.Label(), Name: j.Name, User: j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS, State: string(j.State),
		GPUs: j.GPUs.Total(), Type: strings.Join(named(j.GPUs), "+"), Nodes: j.Nodes, Submitted: j.Submit, Started: startOf(j), Priority: j.Priority,
	}
}

// named returns the types of GPUs that are named.
func named(g client.GPUs) []string {
	return slices.DeleteFunc(g.Types(), func(t string) bool { return t == "" })
}

// running returns a job that holds nodes.
func running(j *client.Job, now time.Time, h *History, noHistory string) Job {
	v := jobOf(j)
	v.End = h.end(j, now, noHistory)
	if mark, err := comment.ParseMark(j.AdminComment); err == nil && mark.Silent {
		v.Note = silent
	}
	return v
}

// silent is said of a job whose mark says so.
const silent = "its program has said nothing to the scheduler of Oxgang for long: it hangs, does not reach it, or has no client of it; see its output"

// types counts GPUs by type.
func types(l *Look) []Type {
	count := make(map[string]*Type)
	for i := range l.Nodes {
		n := &l.Nodes[i]
		for kind, many := range n.GPUs {
			t := count[kind]
			if t == nil {
				t = &Type{Name: kind}
				count[kind] = t
			}
			held := min(n.Used[kind], many)
			if len(n.GPUs) == 1 { // what is used may be said without the type
				held = min(n.Used.Total(), many)
			}
			t.GPUs, t.Held = t.GPUs+many, t.Held+held
			if reason, _ := l.closed(n); reason != "" {
				t.Down += many - held
			}
		}
	}
	var all []Type
	for _, t := range count {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	return all
}
