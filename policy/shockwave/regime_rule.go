package shockwave

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// A Rule is a method that predicts, from the epochs so far, how many epochs each regime lasts.
type Rule uint8

// The rules. The paper proposes Restatement and compares it with the others. Source: Shockwave §5.
const (
	Restatement Rule = iota // past regimes keep their epochs; the remaining epochs are divided equally among the present and later regimes
	Bayes                   // posterior mean of a Dirichlet prior: each trained epoch adds one to the count of its regime
	Greedy                  // the present regime lasts until the job ends
)

var ruleNames = [...]string{"restatement", "bayes", "greedy"}

func (r Rule) String() string { return ruleNames[r] }

func (p *Predictor) update() {
	if p.stated != nil {
		p.follow()
		return
	}
	switch p.rule {
	case Restatement:
		p.restate()
	case Bayes:
		p.count()
	case Greedy:
		p.persist()
	}
}

// restate applies Dir(m_1, …, m_k, S_k, …, S_k) after k regimes have ended: the K − k other regimes are each
// expected to last S_k = (N − Σ m_i) / (K − k) epochs. Source: Shockwave §5.
//
// Deviation: a present regime that has lasted longer than S_k is expected to end now, because the paper states the
// rule for the ends of regimes only.
//
// With at most K regimes, the sum of |expected − true| never grows.
func (p *Predictor) restate() {
	left := float64(p.epochs)
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = float64(r.Seen)
		if i >= p.present {
			r.Expected = max(r.Expected, left/float64(len(p.regimes)-i))
		}
		left -= r.Expected
	}
}

// follow expects past regimes as seen, the others as stated, and the rest of the epochs in the last.
func (p *Predictor) follow() {
	left := float64(p.epochs)
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = float64(r.Seen)
		if i >= p.present && i < len(p.stated) {
			r.Expected = max(r.Expected, min(left, float64(p.stated[i])))
		}
		if left -= r.Expected; i == len(p.regimes)-1 {
			r.Expected += max(0, left)
		}
	}
}

// count applies Dir(N/K + m_1, …, N/K + m_K): the usual update of the prior, as if the order of
// epochs did not matter. Source: Shockwave §5.
func (p *Predictor) count() {
	n := float64(p.epochs)
	prior := n / float64(len(p.regimes))
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = n * (prior + float64(r.Seen)) / (n + float64(p.seen))
	}
}

// persist expects no further regime, like schedulers that know only the latest throughput. Source: Shockwave
// §5.
func (p *Predictor) persist() {
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = float64(r.Seen)
		if i == p.present {
			r.Expected += float64(p.epochs - p.seen)
		}
	}
}

// RegimeSequence returns the batch sizes that a job is expected to use, in order, before it starts:
//
//   - the batch sizes of the schedule's regimes, if given;
//   - else the batch sizes that the user names (the schedule's own slice, which must not be modified);
//   - else a sequence that starts with first: only first for a static job; doubling up to limit under GNS;
//     alternating between first and limit under Accordion, for at most maxRegimes regimes.
//
// Sizes are samples in total. Source: Shockwave §5.
func RegimeSequence(s *job.BatchSchedule, first, limit, maxRegimes int) ([]int, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("regime: %w", err)
	}
	switch {
	case s.Mode == job.Unscheduled:
		return nil, errors.New("regime: job counts no epochs, want one with a schedule")
	case s.Mode == job.Given:
		return given(s.Regimes), nil
	case len(s.Sizes) > 0:
		return s.Sizes, nil
	case first < 1:
		return nil, fmt.Errorf("regime: first batch size %d, want at least 1", first)
	case s.Mode == job.Accordion && maxRegimes < 1:
		return nil, fmt.Errorf("regime: at most %d regimes, want at least 1", maxRegimes)
	}
	sizes := []int{first}
	switch s.Mode {
	case job.GNS:
		for b := first; b <= limit/2; b *= 2 {
			sizes = append(sizes, 2*b)
		}
	case job.Accordion:
		for i := 1; i < maxRegimes && first < limit; i++ {
			sizes = append(sizes, [2]int{first, limit}[i%2])
		}
	case job.Unscheduled, job.Static, job.Given:
	}
	return sizes, nil
}

func given(regimes []job.Regime) []int {
	var sizes []int
	for _, r := range regimes {
		sizes = append(sizes, r.BatchSize)
	}
	return slices.Compact(sizes)
}
