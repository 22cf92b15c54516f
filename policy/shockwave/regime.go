// Package regime predicts how many epochs a job trains with each of its batch
// sizes, and how long that takes, from the epochs seen so far and nothing else.
//
// A job has N epochs and at most K regimes: consecutive epochs with one batch size.
// The order of the batch sizes is known from the job's rule; only the length of each
// regime is uncertain. A regime is a position in that order: a batch size that occurs
// again begins another regime. The fractions of the epochs have a Dirichlet
// distribution, and predictions are its means. Source: Shockwave §5.
//
//	N      epochs of NewPredictor
//	K      len(Regimes)
//	m_k    Regime.Seen
//	f_k·N  Regime.Expected
package regime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// A Regime is a number of consecutive epochs with one batch size, as far as it is known.
type Regime struct {
	BatchSize int     // samples in total
	Seen      int     // epochs trained
	Expected  float64 // epochs that it is expected to have in all
}

// A Predictor predicts the regimes of one job. It is not safe for concurrent
// use. Invariants: the regimes' Seen sum to at most N, their Expected to N, up
// to rounding, none is negative, and none after the present one has been seen.
type Predictor struct {
	rule    Rule
	epochs  int // N
	seen    int // how many of them were trained
	present int // index of the regime the job is in
	regimes []Regime
	stated  []int // epochs of the regimes, as the user wrote them down; nil: predicted
}

// NewPredictor returns a predictor of a job that has so many epochs, of which it
// has seen none, and at most one regime for each of the batch sizes, in their
// order. It returns an error for an unknown rule, no epochs, no regimes, and a
// batch size that is not positive or that of the regime before.
func NewPredictor(rule Rule, epochs int, batchSizes []int) (*Predictor, error) {
	switch {
	case int(rule) >= len(ruleNames):
		return nil, fmt.Errorf("regime: rule %d, want at most %d", rule, len(ruleNames)-1)
	case epochs < 1 || epochs > job.MaxEpochs:
		return nil, fmt.Errorf("regime: job of %d epochs, want 1 to %d", epochs, job.MaxEpochs)
	case len(batchSizes) == 0:
		return nil, errors.New("regime: 0 regimes, want at least 1")
	}
	p := &Predictor{rule: rule, epochs: epochs, regimes: make([]Regime, len(batchSizes))}
	for i, b := range batchSizes {
		if b < 1 {
			return nil, fmt.Errorf("regime %d: batch size %d, want at least 1", i+1, b)
		}
		if i > 0 && b == batchSizes[i-1] {
			return nil, fmt.Errorf("regime %d: batch size %d again, want another than before", i+1, b)
		}
		p.regimes[i].BatchSize = b
	}
	p.update()
	return p, nil
}

// NewStated returns a predictor of a job whose user wrote down its regimes: they are
// expected to last as long as that. It returns an error for regimes that a
// job.BatchSchedule may not have, and for more than job.MaxEpochs epochs in all.
func NewStated(regimes []job.Regime) (*Predictor, error) {
	if err := (&job.BatchSchedule{Mode: job.Given, Regimes: regimes}).Validate(); err != nil {
		return nil, fmt.Errorf("regime: %w", err)
	}
	var sizes, stated []int
	epochs := 0
	for _, r := range regimes {
		if last := len(sizes) - 1; last >= 0 && sizes[last] == r.BatchSize {
			stated[last] += r.Epochs
		} else {
			sizes, stated = append(sizes, r.BatchSize), append(stated, r.Epochs)
		}
		epochs += r.Epochs
	}
	p, err := NewPredictor(Restatement, epochs, sizes)
	if err != nil {
		return nil, err
	}
	p.stated = stated
	p.update()
	return p, nil
}

// Observe records that the job trained for a number of further epochs with a batch
// size; 0 if it only changes to it. The present regime becomes the next one with
// this batch size; regimes in between had no epochs. It returns an error, and
// changes nothing, if epochs is negative or more than are left, or if no regime has
// the batch size.
//
// Deviation: a batch size that no later regime has, but an earlier one, begins a
// regime beyond the K-th, because the user's K may be too low.
func (p *Predictor) Observe(batchSize, epochs int) error {
	if left := p.epochs - p.seen; epochs < 0 || epochs > left {
		return fmt.Errorf("regime: saw %d epochs after %d of %d, want 0 to %d", epochs, p.seen, p.epochs, left)
	}
	at, err := p.place(batchSize)
	if err != nil {
		return err
	}
	p.present = at
	p.seen += epochs
	p.regimes[at].Seen += epochs
	p.update()
	return nil
}

// place returns the index of the first regime with a batch size, beginning with the present one.
func (p *Predictor) place(batchSize int) (int, error) {
	has := func(r Regime) bool { return r.BatchSize == batchSize }
	if i := slices.IndexFunc(p.regimes[p.present:], has); i >= 0 {
		return p.present + i, nil
	}
	if !slices.ContainsFunc(p.regimes, has) {
		return 0, fmt.Errorf("regime: saw batch size %d, want one of %v", batchSize, p.batchSizes())
	}
	p.regimes = append(p.regimes, Regime{BatchSize: batchSize})
	return len(p.regimes) - 1, nil
}

// batchSizes returns those of the regimes, for messages.
func (p *Predictor) batchSizes() []int {
	var all []int
	for _, r := range p.regimes {
		all = append(all, r.BatchSize)
	}
	return all
}

// Regimes returns the regimes in their order. Callers must not modify the slice; Observe
// does.
func (p *Predictor) Regimes() []Regime { return p.regimes }

// Epochs returns N, the epochs of the job.
func (p *Predictor) Epochs() int { return p.epochs }

// Present returns the index of the regime the job is in.
func (p *Predictor) Present() int { return p.present }
