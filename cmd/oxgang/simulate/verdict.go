package simulate

import (
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/report"
)

const compared = 3

// chooseSeeds chooses one seed for a recorded trace, which is the same under every seed.
func (s *simulation) chooseSeeds() {
	switch {
	case s.each:
	case s.config.Trace == "" && several(s.config.Policies):
		s.seeds = compared
	default:
		s.seeds = 1
	}
}

func several(policies []string) bool {
	return slices.ContainsFunc(policies, func(p string) bool { return p != policies[0] })
}

func (t *task) judge() {
	if t.run == nil {
		return
	}
	t.trial = report.Trial(t.policy, t.config.Sim.Seed, t.run.Result)
	t.trial.Ended = t.trial.Ended && !t.run.Unfinished
	if t.aside {
		t.run.Result = nil
	}
}

func (s *simulation) fidelity(runs []report.Run, tasks []*task) *metrics.Trust {
	if s.past.History == nil {
		return nil
	}
	var t *metrics.Trust
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.policy == s.past.baseline && t.run != nil }); i >= 0 {
		t = s.past.Judge(runs[i].Result, tasks[i].Inputs, s.config.Scheduler.Round.Seconds(), s.past.Causes(s.config))
	} else {
		t = metrics.Judge(metrics.Figures{}, metrics.Figures{}, 0, 0, 0, []string{s.past.baseline + " was not simulated"})
	}
	for i := range runs {
		if runs[i].Trust = t; !t.Trusted && runs[i].Result != nil {
			runs[i].Name += metrics.Stamp
		}
	}
	return t
}

func distrust(runs []report.Run, t *metrics.Trust) {
	if t != nil && !t.Trusted && len(runs) > 0 && runs[0].Verdict != nil {
		runs[0].Verdict.Distrust()
	}
}
