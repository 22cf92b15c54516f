package statistics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// drawn returns trials of policies over so many seeds. Seeds differ in how crowded they are, by factors of about e; the mean
// completion time of a policy is its part of that, off by a factor of about 1+noise.
func drawn(r *rand.Rand, seeds int, noise float64, parts map[string]float64) []Trial {
	var trials []Trial
	for seed := range seeds {
		crowded := math.Exp(r.NormFloat64())
		for _, p := range []string{"a", "b", "c", "easy"} {
			if part, there := parts[p]; there {
				trials = append(trials, trial(p, uint64(seed+1), crowded*part*math.Exp(noise*r.NormFloat64())))
			}
		}
	}
	return trials
}

// trial returns one with a mean completion time in hours.
func trial(policy string, seed uint64, jct float64) Trial {
	return Trial{Policy: policy, Seed: seed, Measures: map[string]float64{JCT: jct}, Terms: Terms{Running: 3600 * jct}, Done: 10, Ended: true}
}

var less = map[string]int{JCT: -1}

// TestDifference_holds: the range has the true difference in about as many cases as it says, with few seeds as with more.
func TestDifference_holds(t *testing.T) {
	seed := draws.Seed(t)
	for _, seeds := range []int{2, 3, 5} {
		r, held := rng.Stream(seed, fmt.Sprint("coverage ", seeds)), 0
		const tries = 500
		for range tries {
			v := NewVerdict(drawn(r, seeds, 0.1, map[string]float64{"a": 1, "b": 0.9}), less, "")
			if d := v.difference("b", "a"); d.Known && d.Low < -0.1 && d.High > -0.1 {
				held++
			}
		}
		if part := 100 * float64(held) / tries; part < 72 || part > 88 {
			t.Errorf("seed %d, %d seeds: %.0f %% of ranges have the true difference, want about 80", seed, seeds, part)
		}
	}
}

// TestNew_finds_in_pairs what means do not show: a policy is 5 % better in each seed, and seeds differ by far more.
func TestNew_finds_in_pairs(t *testing.T) {
	seed := draws.Seed(t)
	r, found := rng.Stream(seed, "paired"), 0
	const tries = 100
	for range tries {
		if v := NewVerdict(drawn(r, 3, 0.01, map[string]float64{"a": 1, "b": 0.95}), less, ""); v.Best[JCT] == "b" {
			found++
		}
	}
	if found < 90 {
		t.Errorf("seed %d: b is found to be best in %d of %d cases, want nearly all", seed, found, tries)
	}
}

// TestNew_names_none_by_chance: of equal policies, rarely one is best.
func TestNew_names_none_by_chance(t *testing.T) {
	seed := draws.Seed(t)
	r, named := rng.Stream(seed, "equal"), 0
	const tries = 500
	for range tries {
		v := NewVerdict(drawn(r, 3, 0.1, map[string]float64{"a": 1, "b": 1, "c": 1, "easy": 1}), less, "easy")
		if v.Best[JCT] != "" {
			named++
		} else if !strings.HasPrefix(v.Sentences[0], "No clear winner: chance alone may explain how the mean completion times of ") {
			t.Fatalf("seed %d: none is best, and the verdict is %q", seed, v.Text())
		} else if slices.Contains(v.tied(), "easy") && strings.Contains(v.Text(), "Why: ") {
			t.Fatalf("seed %d: chance has no reason, and the verdict is %q", seed, v.Text())
		}
	}
	if named > tries/10 {
		t.Errorf("seed %d: one of four equal policies is best in %d of %d cases, want at most a tenth", seed, named, tries)
	}
}

// TestNew: what is said, and of whom.
func TestNew(t *testing.T) {
	var trials []Trial
	for i, crowded := range []float64{1, 3, 9} {
		for p, part := range map[string]float64{"a": 1 + 0.01*float64(i), "b": 2, "easy": 4} {
			trials = append(trials, trial(p, uint64(i+1), crowded*part))
		}
	}
	v := NewVerdict(trials, less, "easy")
	want := []string{
		"a has the lowest mean completion time: 50 % below b, the runner-up (paired over seeds 1 to 3, 80 % interval 49 to 50 %).",
		"a is 75 % below easy, the baseline (80 % interval 74 to 75 %).",
		"Why: under a a job runs 4h15m less than under b.",
		"Under a no job can be compared with the baseline.",
	}
	if !slices.Equal(v.Sentences, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(v.Sentences, "\n"), strings.Join(want, "\n"))
	}
	if v.Best[JCT] != "a" || !slices.Equal(v.Policies, []string{"a", "b", "easy"}) || math.Abs(v.Versus["b"].Part-0.98) > 0.001 {
		t.Errorf("best %v, in order %v, versus %v", v.Best, v.Policies, v.Versus)
	}
	v.Distrust()
	if len(v.Best) != 0 || !strings.HasPrefix(v.Text(), "Not to be trusted: a has the lowest") {
		t.Errorf("not to be trusted: best %v, %q", v.Best, v.Text())
	}
}

// TestNew_counts_delays: the verdict counts the jobs that finish later than under the baseline, seed by seed.
func TestNew_counts_delays(t *testing.T) {
	trials := []Trial{trial("a", 1, 1), trial("a", 2, 1), trial("easy", 1, 2), trial("easy", 2, 2)}
	for i := range trials {
		trials[i].Pool = 8
		for _, id := range []job.ID{"x", "y"} {
			trials[i].Jobs = append(trials[i].Jobs, metrics.JobTimes{ID: id, JCT: 3600, GPUs: 1, Done: true})
		}
	}
	last := func() string { s := NewVerdict(trials, less, "easy").Sentences; return s[len(s)-1] }
	if want := "Under a no job finishes later than under easy (by more than 10 % and 10 min)."; last() != want {
		t.Errorf("got %q, want %q", last(), want)
	}
	trials[1].Jobs[0].JCT += 720
	if want := "Under a 1 of 4 jobs finishes later than under easy (by more than 10 % and 10 min), the worst by 12m00s (job x, seed 2)."; last() != want {
		t.Errorf("got %q, want %q", last(), want)
	}
	trials[0].Jobs[1].JCT += 960
	if want := "Under a 2 of 4 jobs finish later than under easy (by more than 10 % and 10 min), the worst by 16m00s (job y, seed 1)."; last() != want {
		t.Errorf("got %q, want %q", last(), want)
	}
	if v := NewVerdict(trials, less, "other"); strings.Contains(v.Text(), "later than") {
		t.Errorf("the baseline was not run: %q", v.Text())
	}
}

// TestNew_compares_what_can_be: a policy is left out that failed under some seed, or of which fewer jobs ended.
func TestNew_compares_what_can_be(t *testing.T) {
	whole := func(p string) []Trial { return []Trial{trial(p, 1, 1), trial(p, 2, 2)} }
	cut, fewer, failed := whole("cut"), whole("fewer"), whole("failed")[:1]
	cut[1].Ended, fewer[0].Done = false, 9
	v := NewVerdict(slices.Concat(cut, fewer, failed, whole("a"), whole("b")), less, "")
	if !slices.Equal(v.Policies, []string{"a", "b"}) || !strings.Contains(v.Sentences[0], "; cut, fewer and failed left out: not all jobs ended under each seed.") {
		t.Errorf("compared %v: %q", v.Policies, v.Text())
	}
	if v := NewVerdict(slices.Concat(cut, whole("a")), less, ""); len(v.Best) != 0 || !strings.HasPrefix(v.Text(), "No verdict: ") {
		t.Errorf("one that can be compared: best %v, %q", v.Best, v.Text())
	}
	other := whole("b")
	other[1].Came = 7
	if v := NewVerdict(slices.Concat(whole("a"), other), less, ""); len(v.Best) != 0 || len(v.Policies) != 0 || v.Text() != "No verdict: the policies did not have the same jobs." {
		t.Errorf("other jobs under seed 2: best %v, %q", v.Best, v.Text())
	}
}

// TestNew_of_one_history compares the jobs of one seed, block of time by block of time.
func TestNew_of_one_history(t *testing.T) {
	seed := draws.Seed(t)
	r := rng.Stream(seed, "history")
	a, b := trial("a", 1, 1), trial("b", 1, 0.8)
	a.Measures["other"], b.Measures["other"] = 1, 2
	for i := range 400 {
		jct := 3600 * r.ExpFloat64()
		a.Jobs = append(a.Jobs, metrics.JobTimes{ID: job.ID(fmt.Sprint(i)), Submitted: 1000 * float64(i), JCT: jct, Done: true})
		b.Jobs = append(b.Jobs, metrics.JobTimes{ID: job.ID(fmt.Sprint(i)), Submitted: 1000 * float64(i), JCT: 0.8 * jct, Done: true})
	}
	slices.Reverse(b.Jobs) // jobs are found by name
	v := NewVerdict([]Trial{a, b}, map[string]int{JCT: -1, "other": -1}, "a")
	if v.Best[JCT] != "b" || v.Best["other"] != "" {
		t.Errorf("seed %d: best %v, want b by completion time, and none by what jobs do not say", seed, v.Best)
	}
	if want := "b has the lowest mean completion time: 20 % below a (the baseline), the runner-up (one trace, 80 % interval 20 to 20 %)."; v.Sentences[0] != want {
		t.Errorf("seed %d: got %q, want %q", seed, v.Sentences[0], want)
	}
	few := NewVerdict([]Trial{trial("a", 1, 1), trial("b", 1, 2)}, less, "")
	if few.Best[JCT] != "" || !strings.Contains(few.Text(), "no interval: ") {
		t.Errorf("no jobs: best %v, %q", few.Best, few.Text())
	}
	if text, err := json.Marshal(few); err != nil {
		t.Errorf("no range: %s, %v", text, err)
	}
}

// TestBest_of_any_measure: more may be better, zeros are compared by differences, and what is not known of all is not compared.
func TestBest_of_any_measure(t *testing.T) {
	var trials []Trial
	for i := range 3 {
		a, b := trial("a", uint64(i), 1), trial("b", uint64(i), 1)
		a.Measures["restarts"], b.Measures["restarts"] = 0, 2+0.1*float64(i)
		a.Measures["goodput"], b.Measures["goodput"] = 0.5, 0.7+0.01*float64(i)
		a.Measures["known"] = 5
		a.Measures["neither"], b.Measures["neither"] = 1, 2
		a.Measures["same"], b.Measures["same"] = 0.1+0.2, 0.3
		trials = append(trials, a, b)
	}
	v := NewVerdict(trials, map[string]int{"restarts": -1, "goodput": 1, "known": -1, "neither": 0, "same": -1}, "")
	want := map[string]string{"restarts": "a", "goodput": "b"}
	if len(v.Best) != 2 || v.Best["restarts"] != want["restarts"] || v.Best["goodput"] != want["goodput"] {
		t.Errorf("best %v, want %v", v.Best, want)
	}
}

// TestBest_needs_the_mean, too: a policy that is better in most seeds, and much worse in a crowded one, is not best.
func TestBest_needs_the_mean(t *testing.T) {
	var trials []Trial
	for i, crowded := range []float64{1, 1, 1, 1, 100} {
		part := 0.5
		if crowded > 1 {
			part = 1.02
		}
		trials = append(trials, trial("a", uint64(i), crowded*part), trial("b", uint64(i), crowded))
	}
	if v := NewVerdict(trials, less, ""); v.Best[JCT] != "" {
		t.Errorf("best %q: %s", v.Best[JCT], v.Text())
	}
}

// TestMeans are of what is known under all seeds.
func TestMeans(t *testing.T) {
	one, two := trial("a", 1, 1), trial("a", 2, 3)
	one.Measures["once"] = 4
	got := Means([]Trial{one, trial("b", 1, 9), two}, "a")
	if len(got) != 1 || got[JCT] != 2 {
		t.Errorf("got %v, want %s: 2", got, JCT)
	}
}
