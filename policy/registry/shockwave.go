package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/model/perf/regime"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/shockwave"
)

// shockwaveEntry is the Shockwave policy.
func shockwaveEntry() Entry {
	d := shockwave.DefaultOptions()
	settings := []Setting{
		{"window", strconv.Itoa(d.Window), "rounds planned ahead"},
		{"k", fmt.Sprint(d.K), "power of finish-time fairness in a job's weight"},
		{"lambda", fmt.Sprint(d.Lambda), "weight of the makespan"},
		{"paper", strconv.FormatBool(d.Paper), "fairness, weights and utility as the paper has them (true, false)"},
		{"rule", d.Rule.String(), "how batch sizes are predicted (restatement, bayes, greedy)"},
		{"accordion", strconv.Itoa(d.Accordion), "regimes expected of jobs under Accordion, at most"},
		{"lazy", strconv.FormatBool(d.Lazy), "whether a batch size that changes is no reason to plan anew (true, false)"},
		{"gap", fmt.Sprint(d.Solve.Gap), "relative gap to the bound at which a plan is good enough"},
		{"solves", strconv.Itoa(d.Solve.Solves), "knapsacks solved for a plan, at most"},
		{"error", fmt.Sprint(d.Error), "relative error put into predicted run times, for experiments"},
		{"seed", strconv.FormatUint(d.Seed, 10), "seed of error"},
	}
	return Entry{Name: "shockwave", Doc: "Shockwave: a window of rounds planned ahead for fairness over time and an early end of all.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := shockwave.DefaultOptions()
		r := read(given, settings)
		r.int("window", &o.Window)
		r.float("k", &o.K)
		r.float("lambda", &o.Lambda)
		r.bool("paper", &o.Paper)
		r.rule("rule", &o.Rule)
		r.int("accordion", &o.Accordion)
		r.bool("lazy", &o.Lazy)
		r.float("gap", &o.Solve.Gap)
		r.int("solves", &o.Solve.Solves)
		r.float("error", &o.Error)
		r.uint("seed", &o.Seed)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return shockwave.New(o)
	}}
}

// rule sets a rule of prediction that is given.
func (r *reader) rule(name string, to *regime.Rule) {
	text, ok := r.given[name]
	if !ok {
		return
	}
	for _, rule := range []regime.Rule{regime.Restatement, regime.Bayes, regime.Greedy} {
		if rule.String() == text {
			*to = rule
			return
		}
	}
	r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want restatement, bayes or greedy", name, text))
}
