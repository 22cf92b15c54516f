package shockwave

import (
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type account struct {
	row       *policy.Job // as last read
	index     int         // in this round's snapshot
	lastRound int

	predictor     *Predictor // nil: constant batch size
	unpredictable bool       // its batch sizes do not follow its schedule
	batch         int        // total samples; 0: the agent chooses
	epochs        int        // observed

	contention float64 // jobs for each GPU over its life, times seconds
	updated    time.Time
	skew       float64 // factor on predicted times (Options.Error)

	expectation
}

func (p *Policy) update(s *policy.Snapshot, r *grant.Round) {
	moved := p.count(s, r)
	p.active = p.active[:0]
	for i, j := range s.Jobs {
		if r.Decided(i) {
			continue
		}
		a := p.accounts[j.ID]
		if a == nil {
			a = p.open(j)
			p.accounts[j.ID] = a
		}
		a.index, a.lastRound = i, s.Round
		a.wait(s)
		if a.row != j || moved || a.guessed {
			a.observe(j)
			p.expect(s, r, a)
		}
		p.active = append(p.active, a)
	}
	for id, a := range p.accounts {
		if a.lastRound != s.Round {
			delete(p.accounts, id)
		}
	}
}

func (p *Policy) open(j *policy.Job) *account {
	a := &account{updated: j.Submitted, skew: 1}
	if p.o.Error > 0 {
		a.skew += p.o.Error * (2*rng.Stream(p.o.Seed, "error/"+string(j.ID)).Float64() - 1)
	}
	if j.Schedule.Mode == job.Unscheduled || j.Adaptivity.Has(job.BatchSizes) || j.BatchSize < 1 {
		return a
	}
	a.batch = j.BatchSize
	var err error
	if a.predictor, err = p.predictor(j); err != nil {
		a.predictor, a.unpredictable = nil, true
	}
	return a
}

func (p *Policy) predictor(j *policy.Job) (*Predictor, error) {
	if j.Schedule.Mode == job.Given {
		return NewStatedPredictor(j.Schedule.Regimes)
	}
	sizes, err := RegimeSequence(&j.Schedule, j.BatchSize, j.BatchLimits().Max, p.o.Accordion)
	if err != nil {
		return nil, err
	}
	return NewPredictor(p.o.Rule, j.Schedule.Epochs, sizes)
}

func (a *account) wait(s *policy.Snapshot) {
	passed := max(0, s.Now.Sub(a.updated).Seconds())
	a.contention += passed * float64(len(s.Jobs)) / float64(max(1, s.Cluster.GPUs()))
	a.updated = s.Now
}

func (a *account) observe(j *policy.Job) {
	a.row = j
	if a.batch == 0 {
		return
	}
	batch := a.batch
	if b := j.Status.Batch; b != (job.BatchSize{}) && j.Holding() {
		batch = b.PerReplica() * (j.Allocation.GPUs / j.ReplicaGPUs(j.Allocation.GPUType))
	}
	if a.predictor != nil {
		epochs := min(j.Epoch, a.predictor.epochs)
		err := a.predictor.Observe(a.batch, max(0, epochs-a.epochs))
		if err == nil && batch != a.batch {
			err = a.predictor.Observe(batch, 0)
		}
		if err != nil {
			a.predictor, a.unpredictable = nil, true
		}
		a.epochs = max(a.epochs, epochs)
	}
	a.batch = batch
}

// rho returns the expected finish-time fairness of a job that waits for so many seconds more. Source:
// Shockwave App. G.2, Eq. 9.
func (a *account) rho(now time.Time, more float64) float64 {
	age := max(0, a.row.Age(now).Seconds())
	left := a.options[a.alone].ahead.time()
	return perf.Life{Waited: seconds(age + more), Remaining: seconds(left), Total: seconds(a.past + left)}.Estimate(a.contention / max(age, 1))
}

func seconds(s float64) time.Duration {
	return time.Duration(min(s, endless) * float64(time.Second))
}
