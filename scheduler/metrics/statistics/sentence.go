package statistics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

func (v *Verdict) sentences() []string {
	all := []string{v.first()}
	if s := v.against(); s != "" {
		all = append(all, s)
	}
	if s := v.why(); s != "" {
		all = append(all, s)
	}
	if s := v.later(); s != "" {
		all = append(all, s)
	}
	return all
}

func (v *Verdict) first() string {
	best, next := v.Policies[0], v.Policies[1]
	d := v.difference(best, next)
	if even := v.tied(); len(even) > 1 {
		return fmt.Sprintf("No clear winner: chance alone may explain how the mean completion times of %s differ. %s is %s %s (%s, %s)%s.",
			listed(even), best, portion(d.Part), next, v.compared(), d.spread(), v.omitted())
	}
	return fmt.Sprintf("%s has the lowest mean completion time: %s %s, the runner-up (%s, %s)%s.",
		v.named(best), portion(d.Part), v.named(next), v.compared(), d.spread(), v.omitted())
}

func (v *Verdict) compared() string {
	if len(v.Seeds) == 1 {
		return v.Over()
	}
	return "paired " + v.Over()
}

func (v *Verdict) tied() []string {
	even := []string{v.Policies[0]}
	for _, p := range v.Policies[1:] {
		if !v.better(JCT, -1, v.Policies[0], p) {
			even = append(even, p)
		}
	}
	return even
}

func (v *Verdict) against() string {
	if !v.otherPolicy(v.baseline) {
		return ""
	}
	d := v.difference(v.Policies[0], v.baseline)
	return fmt.Sprintf("%s is %s %s, the baseline (%s).", v.Policies[0], portion(d.Part), v.baseline, d.spread())
}

func (v *Verdict) otherPolicy(policy string) bool {
	return slices.Contains(v.Policies[2:], policy) && !slices.Contains(v.tied(), policy)
}

// why splits the difference to the runner-up into waiting, restarts and running; to the baseline if the difference
// to the runner-up may be chance; empty if both may be.
func (v *Verdict) why() string {
	best, other := v.Policies[0], v.Policies[1]
	if len(v.tied()) > 1 {
		if other = v.baseline; !v.otherPolicy(other) {
			return ""
		}
	}
	return fmt.Sprintf("Why: under %s a job %s.", best, v.terms(best, other))
}

func (v *Verdict) later() string {
	best, baseline := v.Policies[0], v.trials[v.baseline]
	if best == v.baseline || len(baseline) == 0 {
		return ""
	}
	return fmt.Sprintf("Under %s %s.", best, Later(Delays(v.trials[best], baseline)))
}

// Delays counts the jobs that finish later in trials than in the baseline trials with the same seeds. It returns nil if
// no seeds match.
func Delays(trials, baseline []Trial) *metrics.Delays {
	var d *metrics.Delays
	for i := range baseline {
		for k := range trials {
			if trials[k].Seed != baseline[i].Seed {
				continue
			}
			if d == nil {
				d = metrics.NewDelays(baseline[i].Policy, baseline[i].Pool)
			}
			d.Add(trials[k].Seed, baseline[i].Jobs, trials[k].Jobs, baseline[i].Pool)
		}
	}
	return d
}

// Later describes delays as part of a sentence, such as "3 of 160 jobs finish later than under easy (...)".
func Later(d *metrics.Delays) string {
	switch {
	case d == nil || d.Compared == 0:
		return "no job can be compared with the baseline"
	case d.Later == 0:
		return fmt.Sprintf("no job finishes later than under %s (by %s)", d.Baseline, metrics.LaterRule)
	}
	verb := "finish"
	if d.Later == 1 {
		verb = "finishes"
	}
	seed := ""
	if d.Seeds > 1 {
		seed = fmt.Sprintf(", seed %d", d.Seed)
	}
	worst := time.Duration(math.Round(d.Worst)) * time.Second
	return fmt.Sprintf("%d of %d jobs %s later than under %s (by %s), the worst by %s (%s%s)",
		d.Later, d.Compared, verb, d.Baseline, metrics.LaterRule, printable.Duration(worst), printable.Named("job", printable.Line(string(d.WorstJob))), seed)
}

func (v *Verdict) terms(policy, other string) string {
	var d Terms
	for i := range v.trials[policy] {
		a, b := v.trials[policy][i].Terms, v.trials[other][i].Terms
		d.Waiting, d.Restarts, d.Running = d.Waiting+a.Waiting-b.Waiting, d.Restarts+a.Restarts-b.Restarts, d.Running+a.Running-b.Running
	}
	n := float64(len(v.Seeds))
	all := []string{differs("waits", "", d.Waiting/n), differs("spends", " on restarts", d.Restarts/n), differs("runs", "", d.Running/n)}
	all = slices.DeleteFunc(all, func(text string) bool { return text == "" })
	if len(all) == 0 {
		return "takes as long as under " + other
	}
	return listed(all) + " than under " + other
}

// Over states in words which runs the intervals cover, such as "over seeds 1 to 3".
func (v *Verdict) Over() string {
	n := len(v.Seeds)
	switch {
	case n == 1:
		return "one trace"
	case n == 2:
		return fmt.Sprintf("over seeds %d and %d", v.Seeds[0], v.Seeds[1])
	case v.Seeds[n-1]-v.Seeds[0] == uint64(n-1):
		return fmt.Sprintf("over seeds %d to %d", v.Seeds[0], v.Seeds[n-1])
	}
	return fmt.Sprintf("over %d seeds", n)
}

func (v *Verdict) omitted() string {
	if len(v.omittedPolicies) == 0 {
		return ""
	}
	return "; " + listed(v.omittedPolicies) + " left out: not all jobs ended under each seed"
}

func (v *Verdict) named(policy string) string {
	if policy == v.baseline {
		return policy + " (the baseline)"
	}
	return policy
}

func (d *Difference) spread() string {
	if !d.Known {
		return "no interval: too few jobs, or nearly all of their time lies in one block"
	}
	from, to := portion(d.Low), portion(d.High)
	switch {
	case d.High < 0:
		from, to = percent(d.High), percent(d.Low)+" %"
	case d.Low > 0:
		from, to = percent(d.Low), percent(d.High)+" %"
	}
	return fmt.Sprintf("%.0f %% interval %s to %s", 100*level, from, to)
}

func portion(part float64) string {
	if part > 0 {
		return percent(part) + " % above"
	}
	return percent(-part) + " % below"
}

func percent(part float64) string {
	p := 100 * math.Abs(part)
	switch {
	case p < 0.05:
		return "0"
	case p < 9.95:
		return fmt.Sprintf("%.1f", p)
	}
	return fmt.Sprintf("%.0f", p)
}

func differs(does, what string, seconds float64) string {
	d := time.Duration(math.Round(math.Abs(seconds))) * time.Second
	switch {
	case d == 0:
		return ""
	case seconds < 0:
		return does + " " + printable.Duration(d) + " less" + what
	}
	return does + " " + printable.Duration(d) + " more" + what
}

func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
