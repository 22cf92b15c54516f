package slurm

import (
	"strconv"
	"strings"
)

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
