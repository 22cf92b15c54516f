package simulate

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics/verdict"
	"github.com/oxgang/oxgang/simulate/report"
)

// unfinished follows the name of a run that is not complete.
const unfinished = " (unfinished)"

// rows returns the runs that are reported, with the verdict over all. Where some are aside, a row has the means over the seeds;
// not if they were interrupted, as the seeds did then not run for the same time.
func (s *simulation) rows(tasks []*task, interrupted bool) []report.Run {
	var trials []verdict.Trial
	for _, t := range tasks {
		if t.run != nil {
			trials = append(trials, t.trial)
		}
	}
	var v *verdict.Verdict
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

// trialsOf returns the trials that the row of a task stands for: of its policy, under its seed or all.
func (s *simulation) trialsOf(t *task, trials []verdict.Trial) []verdict.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(o verdict.Trial) bool {
		return t.run == nil || o.Policy != t.policy || s.each && o.Seed != t.config.Sim.Seed
	})
}

// baseline returns the trials of the baseline.
func baseline(trials []verdict.Trial, name string) []verdict.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t verdict.Trial) bool { return t.Policy != name })
}

// averaged returns a row with the means over all seeds. If the policy failed under one of them there are no means.
func (t *task) averaged(r report.Run, tasks []*task, trials []verdict.Trial) report.Run {
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

// row returns what is reported of a task.
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

// refused says which plans of a run were refused.
func (s *simulation) refused(t *task) {
	for _, why := range t.run.Refused[:min(3, len(t.run.Refused))] {
		fmt.Fprintf(s.stderr, "%s: %s\n", t.name, why)
	}
	if n := len(t.run.Refused); n > 0 {
		fmt.Fprintf(s.stderr, "%s: %d plans were refused; each time the last plan stayed\n", t.name, n)
	}
}
