package verdict

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// Level is the confidence of ranges, that of package resample.
const Level = statistics.Share

// JCT is the measure by which policies are ordered: the mean job completion time, in hours.
const JCT = "jct_mean_h"

// A Trial is what one run of one policy came to.
type Trial struct {
	Policy   string
	Seed     uint64
	Measures map[string]float64 // those that are known, by the names of reports
	Terms    Terms
	Came     uint64 // a hash of which jobs came, and when
	Done     int    // jobs that ended well
	Ended    bool   // no job was left when the run ended
	Jobs     []metrics.JobTimes
	Pool     int // the largest number of GPUs of one type
}

// Terms are the parts of the mean completion time of a run, in seconds.
type Terms struct{ Waiting, Restarts, Running float64 }

// A Verdict says which policy is best. All that reports say of "best" is from it.
type Verdict struct {
	// Sentences are at most four.
	Sentences []string `json:"sentences"`
	// Policies are those that are compared, the least mean completion time first; none if they are fewer than two.
	Policies []string `json:"policies"`
	// Best has by measure the policy that is better than every other by more than chance; not a measure in which
	// none is.
	Best map[string]string `json:"best"`
	// Versus is by how much the mean completion time of each policy is above that of the first of Policies.
	Versus map[string]Difference `json:"versus"`
	// Seeds are those over which policies are compared; one: over blocks of time.
	Seeds []uint64 `json:"seeds"`

	baseline string
	left     []string // policies that are not compared
	trials   map[string][]Trial
}

// New compares policies. Better says of measures whether less (-1) or more (1) is better; the baseline is the policy that
// stands for what is usual, and need not be among the trials. A policy is compared if it has a trial of each seed, in
// which no job was left and as many jobs are done as under any other. There is no verdict if not all had the same jobs.
func New(trials []Trial, better map[string]int, baseline string) *Verdict {
	v := &Verdict{baseline: baseline, Best: make(map[string]string), Versus: make(map[string]Difference)}
	if v.choose(trials); len(v.Policies) == 0 {
		return v
	}
	for name, sign := range better {
		if best, found := v.best(name, sign); found {
			v.Best[name] = best
		}
	}
	for _, p := range v.Policies[1:] {
		v.Versus[p] = v.Difference(p, v.Policies[0])
	}
	v.Sentences = v.sentences()
	return v
}

// choose finds the policies that can be compared, and their seeds.
func (v *Verdict) choose(trials []Trial) {
	v.trials = make(map[string][]Trial)
	most := make(map[uint64]int) // jobs done, by seed
	var names []string
	for i := range trials {
		t := &trials[i]
		if v.trials[t.Policy] == nil {
			names = append(names, t.Policy)
		}
		v.trials[t.Policy] = append(v.trials[t.Policy], *t)
		most[t.Seed] = max(most[t.Seed], t.Done)
	}
	v.Seeds = slices.Sorted(maps.Keys(most))
	for _, p := range names {
		slices.SortFunc(v.trials[p], func(a, b Trial) int { return cmp.Compare(a.Seed, b.Seed) })
		if complete(v.trials[p], most) {
			v.Policies = append(v.Policies, p)
		} else {
			v.left = append(v.left, p)
		}
	}
	slices.SortStableFunc(v.Policies, func(a, b string) int { return cmp.Compare(v.mean(a, JCT), v.mean(b, JCT)) })
	switch {
	case len(v.Policies) < 2:
		v.none("there are no two policies of which all jobs ended")
	case !v.alike():
		v.none("the policies did not have the same jobs")
	}
}

// none says why there is no verdict.
func (v *Verdict) none(why string) {
	v.Policies, v.Sentences = nil, []string{"No verdict: " + why + "."}
}

// alike reports whether under each seed all policies had the same jobs.
func (v *Verdict) alike() bool {
	first := v.trials[v.Policies[0]]
	return !slices.ContainsFunc(v.Policies, func(p string) bool {
		return !slices.EqualFunc(first, v.trials[p], func(a, b Trial) bool { return a.Seed == b.Seed && a.Came == b.Came })
	})
}

// complete reports whether the trials of a policy, by seed, can be compared.
func complete(trials []Trial, most map[uint64]int) bool {
	cut := func(t Trial) bool { return !t.Ended || t.Done < most[t.Seed] || t.Done == 0 }
	return len(trials) == len(most) && !slices.ContainsFunc(trials, cut)
}

// Means returns the means of a policy's measures over the seeds, of those that are known in all of them.
func Means(trials []Trial, policy string) map[string]float64 {
	sums, known, n := make(map[string]float64), make(map[string]int), 0
	for i := range trials {
		if trials[i].Policy != policy {
			continue
		}
		n++
		for name, value := range trials[i].Measures {
			sums[name] += value
			known[name]++
		}
	}
	for name := range sums {
		if sums[name] /= float64(n); known[name] < n {
			delete(sums, name)
		}
	}
	return sums
}

// mean returns the mean of a measure over the seeds.
func (v *Verdict) mean(policy, measure string) float64 {
	sum := 0.0
	for i := range v.trials[policy] {
		sum += v.trials[policy][i].Measures[measure]
	}
	return sum / float64(max(1, len(v.trials[policy])))
}

// best returns the policy whose measure is better than that of every other by more than chance.
func (v *Verdict) best(measure string, sign int) (policy string, found bool) {
	if sign == 0 {
		return "", false
	}
	for _, p := range v.Policies {
		beats := func(other string) bool { return other == p || v.better(measure, sign, p, other) }
		if !slices.ContainsFunc(v.Policies, func(other string) bool { return !beats(other) }) {
			return p, true
		}
	}
	return "", false
}

// Distrust says that the simulations are not to be trusted: then none is best.
func (v *Verdict) Distrust() {
	clear(v.Best)
	first := v.Sentences[0]
	if rest, none := strings.CutPrefix(first, "No "); none {
		first = "no " + rest
	}
	v.Sentences[0] = "Not to be trusted: " + first
}

// Text returns the sentences as one text.
func (v *Verdict) Text() string { return strings.Join(v.Sentences, " ") }
