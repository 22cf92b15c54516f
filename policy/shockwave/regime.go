package shockwave

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
)

// A Regime is a run of consecutive epochs that a job trains with the same batch size.
type Regime struct {
	BatchSize int     // samples over all replicas
	Seen      int     // number of epochs trained
	Expected  float64 // expected number of epochs, including those trained
}

// A Predictor predicts, from the epochs trained so far, how many epochs a job trains with each of its batch sizes, and
// how long these epochs take. Source: Shockwave §5.
//
// A job has N epochs and at most K regimes. The order of their batch sizes is known, but not their lengths. A repeated
// batch size begins another regime. The fractions of the epochs have a Dirichlet distribution, and predictions are its
// means.
//
//	N      epochs of NewPredictor
//	K      len(Regimes)
//	m_k    Regime.Seen
//	f_k·N  Regime.Expected
//
// Invariants: the sum of Seen is at most N, the sum of Expected is N up to rounding, no value is negative, and Seen is
// 0 after the present regime.
type Predictor struct {
	rule    Rule
	epochs  int // N
	seen    int // epochs trained
	present int // index of the current regime
	regimes []Regime
	stated  []int // epochs of each regime as stated by the user, or nil
}

// NewPredictor returns a Predictor for a job that trains the given number of epochs and uses batchSizes in this
// order.
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

// NewStatedPredictor returns a Predictor for a job whose user has stated how many epochs each batch size lasts.
func NewStatedPredictor(regimes []job.Regime) (*Predictor, error) {
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

// Observe records that the job has trained more epochs with a batch size. epochs is 0 if only the batch size changed.
// The job is then in the next regime with this batch size; regimes that it skipped have no epochs. Observe returns an
// error, and changes nothing, if epochs is negative or too large, or if no regime has the batch size.
//
// Deviation: a batch size that occurs only in earlier regimes begins an additional regime after the K-th, because the
// user's K may be too low.
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

func (p *Predictor) batchSizes() []int {
	var all []int
	for _, r := range p.regimes {
		all = append(all, r.BatchSize)
	}
	return all
}

// Regimes returns the predicted regimes, in order. The caller must not modify the slice. The next call of Observe
// changes its elements.
func (p *Predictor) Regimes() []Regime { return p.regimes }

// Present returns the index in Regimes of the regime that the job is in.
func (p *Predictor) Present() int { return p.present }

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Predictor) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&p.rule), &p.epochs, &p.seen, &p.present, &p.stated)
	memory.Slice(m, &p.regimes, func(r *Regime, m *memory.Codec) { m.Fields(&r.BatchSize, &r.Seen, &r.Expected) })
}
