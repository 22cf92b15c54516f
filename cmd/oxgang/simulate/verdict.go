package simulate

import (
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/report"
)

// compared is over how many seeds policies are compared on a generated trace, unless --seeds says otherwise.
const compared = 3

// chooseSeeds chooses how many seeds there are, unless --seeds has said so. A trace that was recorded is the same under every
// seed.
func (s *simulation) chooseSeeds() {
	switch {
	case s.each:
	case s.config.Trace == "" && several(s.config.Policies):
		s.seeds = compared
	default:
		s.seeds = 1
	}
}

// several reports whether there are two policies.
func several(policies []string) bool {
	return slices.ContainsFunc(policies, func(p string) bool { return p != policies[0] })
}

// judge stores what the verdict needs of a run that has ended. The result of a run without a row is then dropped.
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

// fidelity says how well history is simulated under the policy that stands for the cluster's own, and
// marks all simulations of it if that is not well enough.
func (s *simulation) fidelity(runs []report.Run, tasks []*task) *metrics.Trust {
	if s.past.History == nil {
		return nil
	}
	var t *metrics.Trust
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.policy == s.past.baseline && t.run != nil }); i >= 0 {
		t = history.Judge(s.past.Jobs(), runs[i].Result, tasks[i].Inputs.Cluster, s.config.Scheduler.Round.Seconds(), s.past.Causes(s.config))
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

// distrust says with the verdict that simulations of history are not to be trusted.
func distrust(runs []report.Run, t *metrics.Trust) {
	if t != nil && !t.Trusted && len(runs) > 0 && runs[0].Verdict != nil {
		runs[0].Verdict.Distrust()
	}
}
