package shockwave_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/policy/shockwave"
)

// A score is how well a rule does, in percent: means over epochs, then jobs.
type score struct {
	duration  float64    // |expected − true| / N of the regimes
	relative  float64    // |expected − true| / true of the regimes the job has
	total     float64    // 1 − |predicted − true| / true of the time of all epochs
	remaining float64    // the same of the epochs to come
	course    [5]float64 // duration, when 0, 20, …, 80 % of the epochs are over
}

func (s *score) String() string {
	return fmt.Sprintf("regimes %5.1f %% of N (in its course %4.1f), %5.1f %% of themselves; run time %5.1f %%, remaining %5.1f %% accurate",
		s.duration, s.course, s.relative, s.total, s.remaining)
}

func (s *score) add(o *score, weight float64) {
	s.duration += weight * o.duration
	s.relative += weight * o.relative
	s.total += weight * o.total
	s.remaining += weight * o.remaining
	for i := range s.course {
		s.course[i] += weight * o.course[i]
	}
}

// A method makes the epochs expected of each regime, in a job of n epochs that
// has seen some of them and is in regime present.
type method struct {
	rule   shockwave.Rule
	remake func(n, seen, present int, regimes []shockwave.Regime) []float64 // nil: the rule's
}

// evaluate replays a job and scores the prediction at the start of every epoch.
func (m *method) evaluate(t *testing.T, p *profile, sizes []int) *score {
	t.Helper()
	predictor, err := shockwave.NewPredictor(m.rule, p.Epochs, sizes)
	if err != nil {
		t.Fatal(err)
	}
	s, epoch, past, total := &score{}, 0, 0.0, p.total()
	for k, r := range p.RLE {
		for range r[1] {
			if err := predictor.Observe(r[0], 0); err != nil {
				t.Fatal(err)
			}
			now := m.score(predictor, p, k, epoch, past, total)
			s.add(now, 1/float64(p.Epochs))
			if err := predictor.Observe(r[0], 1); err != nil {
				t.Fatal(err)
			}
			for i := range s.course {
				if epoch == i*p.Epochs/5 {
					s.course[i] = now.duration
				}
			}
			past += float64(p.times[r[0]])
			epoch++
		}
	}
	return s
}

// score is that of one prediction, when past of the total time is over.
func (m *method) score(predictor *shockwave.Predictor, p *profile, k, epoch int, past, total float64) *score {
	s, predicted := &score{}, 0.0
	regimes := predictor.Regimes()
	var remade []float64
	if m.remake != nil {
		remade = m.remake(p.Epochs, epoch, k, regimes)
	}
	for i, r := range regimes {
		expected := r.Expected
		if remade != nil {
			expected = remade[i]
		}
		truth := 0.0
		if i < len(p.RLE) {
			truth = float64(p.RLE[i][1])
			s.relative += 100 * math.Abs(expected-truth) / truth / float64(len(p.RLE))
		}
		s.duration += 100 * math.Abs(expected-truth) / float64(p.Epochs) / float64(len(regimes))
		predicted += expected * float64(p.times[r.BatchSize])
	}
	s.total = 100 * (1 - math.Abs(predicted-total)/total)
	s.remaining = 100 * (1 - math.Abs(max(0, predicted-past)-(total-past))/(total-past))
	return s
}

// even is another reading of the paper's words: what is left after each epoch is
// split evenly among the present regime and those to come.
func even(n, seen, present int, regimes []shockwave.Regime) []float64 {
	all := make([]float64, len(regimes))
	for i, r := range regimes {
		if all[i] = float64(r.Seen); i >= present {
			all[i] += float64(n-seen) / float64(len(regimes)-present)
		}
	}
	return all
}

// predictive takes the past as seen, and the usual update's mean for the epochs
// to come only.
func predictive(n, seen, _ int, regimes []shockwave.Regime) []float64 {
	all := make([]float64, len(regimes))
	for i, r := range regimes {
		all[i] = float64(r.Seen) + float64(n-seen)*r.Expected/float64(n)
	}
	return all
}

func (m *method) mean(t *testing.T, jobs []*profile, sizes func(*profile) []int) *score {
	t.Helper()
	sum := &score{}
	for _, p := range jobs {
		sum.add(m.evaluate(t, p, sizes(p)), 1/float64(len(jobs)))
	}
	return sum
}

// Shockwave §5, Fig. 5: "the error in modeling the duration of each regime is on
// average 6%, which results on average an 84% accuracy in run time prediction",
// over "200 jobs randomly drawn [...], each with a batch size scaling schedule
// imposed by Accordion or GNS"; better than the usual update and greedy.
func TestRestatement_is_6_percent_off(t *testing.T) {
	all := adapting(t)
	var changing []*profile
	for _, p := range all {
		if len(p.RLE) > 1 {
			changing = append(changing, p)
		}
	}
	if len(all) != 1637 || len(changing) != 894 {
		t.Fatalf("%d jobs, %d of which change, want 1637 and 894", len(all), len(changing))
	}
	drawn, own := draw(changing), (*profile).own
	byRule := func(most int) func(*profile) []int {
		return func(p *profile) []int { return p.byRule(t, most) }
	}
	for _, c := range []struct {
		name   string
		jobs   []*profile
		sizes  func(*profile) []int
		off    float64 // duration, at most
		total  float64 // at least, far above the paper's 84
		better bool    // than both rivals, in everything
	}{
		{"200 jobs, K of the job", drawn, own, 6, 97, true},
		{"all that change, K of the job", changing, own, 6, 97, true},
		{"200 jobs, K of the rule, at most 2", drawn, byRule(2), 6, 97, true},
		{"200 jobs, K of the rule, at most 4", drawn, byRule(4), 12, 95, false},
		{"all, K of the rule, at most 2", all, byRule(2), 9, 98, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours := (&method{rule: shockwave.Restatement}).mean(t, c.jobs, c.sizes)
			if ours.duration > c.off || ours.total < c.total {
				t.Errorf("regimes %.1f %% off, run time %.1f %% accurate, want %g and %g", ours.duration, ours.total, c.off, c.total)
			}
			if better := ours.beatsRivals(t, c.jobs, c.sizes); better != c.better {
				t.Errorf("better than both rivals: %t, want %t", better, c.better)
			}
		})
	}
}

func draw(jobs []*profile) []*profile {
	var drawn []*profile
	for _, i := range rng.Stream(1, "regime").Perm(len(jobs))[:200] {
		drawn = append(drawn, jobs[i])
	}
	return drawn
}

// beatsRivals reports whether the score of the paper's rule is better than those
// of its rivals in regimes, run time and remaining time. It prints them all, and
// those of the other readings.
func (s *score) beatsRivals(t *testing.T, jobs []*profile, sizes func(*profile) []int) bool {
	t.Helper()
	t.Logf("%-12s %v", shockwave.Restatement, s)
	beaten := 0
	for _, rule := range []shockwave.Rule{shockwave.Bayes, shockwave.Greedy} {
		r := (&method{rule: rule}).mean(t, jobs, sizes)
		t.Logf("%-12s %v", rule, r)
		if s.duration < r.duration && s.total > r.total && s.remaining > r.remaining {
			beaten++
		}
	}
	t.Logf("%-12s %v", "even", (&method{shockwave.Restatement, even}).mean(t, jobs, sizes))
	t.Logf("%-12s %v", "predictive", (&method{shockwave.Bayes, predictive}).mean(t, jobs, sizes))
	return beaten == 2
}
