package simulate

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/report"
)

const unfinished = " (unfinished)"

// rows returns the reported runs with the verdict. With other seeds, rows have means, unless interrupted, because
// the seeds then ran for different times.
func (s *simulation) rows(tasks []*task, interrupted bool) []report.Run {
	var trials []statistics.Trial
	for _, t := range tasks {
		if t.run != nil {
			trials = append(trials, t.trial)
		}
	}
	var v *statistics.Verdict
	if several(s.config.Policies) {
		v = report.Verdict(trials, s.past.baseline)
	}
	var runs []report.Run
	for _, t := range tasks {
		if t.aside {
			continue
		}
		r := t.row()
		r.Compare(s.trialsOf(t, trials), baseline(trials, s.past.baseline))
		if r.Verdict = v; !s.each && s.seeds > 1 && !interrupted {
			r = t.averaged(r, tasks, trials)
		}
		runs = append(runs, r)
	}
	return runs
}

func (s *simulation) trialsOf(t *task, trials []statistics.Trial) []statistics.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(o statistics.Trial) bool {
		return t.run == nil || o.Policy != t.policy || s.each && o.Seed != t.config.Sim.Seed
	})
}

func baseline(trials []statistics.Trial, name string) []statistics.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t statistics.Trial) bool { return t.Policy != name })
}

func (t *task) averaged(r report.Run, tasks []*task, trials []statistics.Trial) report.Run {
	for _, other := range tasks {
		switch {
		case other.policy != t.policy || !other.aside || r.Result == nil:
		case other.run == nil:
			r.Result, r.Error = nil, other.name+": "+other.why()
		case other.run.Unfinished && r.Name == t.name:
			r.Name += unfinished
		}
	}
	if r.Result == nil {
		return r
	}
	return report.Averaged(r, trials)
}

func (t *task) row() report.Run {
	if t.run == nil {
		return report.Run{Name: t.name, Error: t.why()}
	}
	r := report.Run{Name: t.name, Policy: t.policy, Result: t.run.Result, PolicyTimes: t.run.PolicyTimes}
	if t.run.Unfinished {
		r.Name += unfinished
	}
	return r
}

func (s *simulation) refused(t *task) {
	for _, why := range t.run.Refused[:min(3, len(t.run.Refused))] {
		fmt.Fprintf(s.stderr, "%s: %s\n", t.name, why)
	}
	if n := len(t.run.Refused); n > 0 {
		fmt.Fprintf(s.stderr, "%s: plans that were refused, so that the last plan stayed: %d\n", t.name, n)
	}
}
