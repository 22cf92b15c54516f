package slurm

import (
	"strconv"
	"strings"
)

func (l *log) note(state string, r *run, wanted *ask) {
	say := l.o.Summary.Note
	switch {
	case state == "" || state == "COMPLETED":
	case stillRan(state):
		say("jobs still running when the log ends, treated as ending there")
	default:
		say("jobs that ended as " + state + ", simulated with their observed running time")
	}
	switch {
	case wanted.held:
		say("jobs that could not start when submitted (" + orElse(wanted.reason, heldBy) + "), counted from the time when they could")
	case wanted.reason != "":
		say("jobs that waited for " + wanted.reason + ", which is not replayed")
	}
	if wanted.reserved {
		say("jobs that ran in a node reservation, simulated without it")
	}
	if wanted.had > wanted.gpus {
		counted := "counted as requested"
		if l.observe {
			counted = "simulated with all of them"
		}
		say("jobs that got more GPUs than requested (whole nodes), " + counted)
	}
	if wanted.suspended {
		say("jobs that were suspended, counted from start to end: a suspended job keeps its GPUs")
	}
	if strings.Contains(wanted.types, ",") {
		say("jobs on GPUs of several types at once, simulated on one of these types")
	}
	if wanted.part != "" {
		say("jobs with parts of GPUs next to whole ones, simulated without the parts (" + wanted.part + ")")
	}
	if r.limit > 0 && r.elapsed > r.limit && !wanted.suspended {
		say("jobs that ran longer than their time limit")
	}
}

func stillRan(state string) bool { return state == "RUNNING" || state == "SUSPENDED" }

const heldBy = "a dependency, a hold, a begin time, a limit of an array"

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

const usualQOS = "normal"

func (l *log) noteQOS(name string) {
	if name != "" && name != usualQOS {
		l.o.Summary.Note("jobs of QOS " + name + " (logged priorities include it, its limits are not replayed)")
	}
}

// waitingTasks returns how many tasks a name like 6_[1-3,10-100:10%4] means; 0 for other names. A name that
// Slurm truncated ("...") counts the tasks that it lists, at least 1.
func waitingTasks(id string) int {
	_, list, ok := strings.Cut(id, "[")
	if !ok {
		return 0
	}
	list, _, _ = strings.Cut(strings.TrimSuffix(list, "]"), "%")
	n := 0
	for item := range strings.SplitSeq(list, ",") {
		n += tasksOf(item)
	}
	return max(1, n)
}

func tasksOf(item string) int {
	span, by, stepped := strings.Cut(item, ":")
	from, to, ranged := strings.Cut(span, "-")
	if !ranged {
		to = from
	}
	step, bad := 1, error(nil)
	if stepped {
		step, bad = strconv.Atoi(by)
	}
	first, err := strconv.Atoi(from)
	last, wrong := strconv.Atoi(to)
	if err != nil || wrong != nil || bad != nil || step < 1 || last < first {
		return 0
	}
	return (last-first)/step + 1
}
