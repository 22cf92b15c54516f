package statistics

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

const level = Share

// JCT is the name of the measure by which policies are ordered: mean job completion time in hours.
const JCT = "jct_mean_h"

// A Trial has the results of one run of one policy.
type Trial struct {
	Policy   string
	Seed     uint64
	Measures map[string]float64 // known values, by their names in reports
	Terms    Terms
	Came     uint64 // hash of the jobs and their submission times; only trials with equal hashes are compared
	Done     int    // completed jobs
	Ended    bool   // all jobs have ended
	Jobs     []metrics.JobTimes
	Pool     int // largest number of GPUs of one type
}

// Terms are the three parts that add up to a mean completion time, in seconds.
type Terms struct{ Waiting, Restarts, Running float64 }

// A Verdict states which policy is best and by how much. All reports print the same verdict.
type Verdict struct {
	// Sentences are the verdict in words, at most four.
	Sentences []string `json:"sentences"`
	// Policies are ordered by mean completion time, the shortest first; empty if fewer than two are compared.
	Policies []string `json:"policies"`
	// Best maps a measure to the policy that is better than every other by more than chance, if there is one.
	Best map[string]string `json:"best"`
	// Versus compares each policy's mean completion time with the first policy's.
	Versus map[string]Difference `json:"versus"`
	// Seeds are the compared seeds.
	Seeds []uint64 `json:"seeds"`

	baseline        string
	omittedPolicies []string
	trials          map[string][]Trial
}

// NewVerdict compares policies by their runs. better states for each measure whether lower (-1) or higher (1) values
// are better. baseline names the usual policy, which may be missing. A policy is compared only if it has a trial for
// each seed in which all jobs ended, and as many completed as under any policy. If the trials had different jobs, there
// is no verdict.
func NewVerdict(trials []Trial, better map[string]int, baseline string) *Verdict {
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
		v.Versus[p] = v.difference(p, v.Policies[0])
	}
	v.Sentences = v.sentences()
	return v
}

func (v *Verdict) choose(trials []Trial) {
	v.trials = make(map[string][]Trial)
	most := make(map[uint64]int) // completed jobs by seed
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
			v.omittedPolicies = append(v.omittedPolicies, p)
		}
	}
	slices.SortStableFunc(v.Policies, func(a, b string) int { return cmp.Compare(v.mean(a, JCT), v.mean(b, JCT)) })
	switch {
	case len(v.Policies) < 2:
		v.noVerdict("fewer than two policies finished all jobs")
	case !v.alike():
		v.noVerdict("the policies did not have the same jobs")
	}
}

func (v *Verdict) noVerdict(why string) {
	v.Policies, v.Sentences = nil, []string{"No verdict: " + why + "."}
}

func (v *Verdict) alike() bool {
	first := v.trials[v.Policies[0]]
	return !slices.ContainsFunc(v.Policies, func(p string) bool {
		return !slices.EqualFunc(first, v.trials[p], func(a, b Trial) bool { return a.Seed == b.Seed && a.Came == b.Came })
	})
}

func complete(trials []Trial, most map[uint64]int) bool {
	cut := func(t Trial) bool { return !t.Ended || t.Done < most[t.Seed] || t.Done == 0 }
	return len(trials) == len(most) && !slices.ContainsFunc(trials, cut)
}

// Means returns the mean of each measure over the seeds of a policy. It omits measures that some run lacks.
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

func (v *Verdict) mean(policy, measure string) float64 {
	sum := 0.0
	for i := range v.trials[policy] {
		sum += v.trials[policy][i].Measures[measure]
	}
	return sum / float64(max(1, len(v.trials[policy])))
}

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

// Distrust makes the first sentence state that the verdict is not to be trusted, and removes Best.
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
