package shockwave

import (
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/fairness"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/perf/regime"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// An account is what is kept of a job.
type account struct {
	row   *policy.Job // as last read
	index int         // in this round's snapshot
	seen  int         // round

	predictor *regime.Predictor // nil: its batch size is expected to stay
	odd       bool              // nil because its batch sizes are not those of its schedule
	batch     int               // samples in total; 0: not known
	epochs    int               // observed

	contention float64 // jobs for each GPU over its life, times seconds
	upto       time.Time
	skew       float64 // factor of its predicted times

	options []option
	total   float64 // progress to its end
	done    float64 // of which made
	past    float64 // seconds that what is done takes alone
	alone   int     // the option that it is compared with: what it asks for, alone
	fastest int     // the option that ends soonest
	leanest int     // the option that takes the least GPU time
}

// An option is GPUs that a job may have, and what is expected of it there.
type option struct {
	kind int // GPU type
	cluster.Configuration
	ahead forecast
}

// meet opens and closes accounts, and brings them up to now.
func (p *Policy) meet(s *policy.Snapshot, r *queue.Round) {
	p.configurations = nil
	before := len(p.active)
	p.active = p.active[:0]
	for i, j := range s.Jobs {
		if r.Decided(i) {
			continue
		}
		a := p.accounts[j.ID]
		if a == nil {
			a = p.open(s, j)
			p.accounts[j.ID], p.changed = a, s.Round
		}
		a.index, a.seen = i, s.Round
		a.wait(s)
		if a.row != j || p.moved {
			p.read(s, r, a, j)
		}
		p.active = append(p.active, a)
	}
	if len(p.active) != before {
		p.changed = s.Round
	}
	for id, a := range p.accounts {
		if a.seen != s.Round {
			delete(p.accounts, id)
		}
	}
}

// open returns the account of a job that comes. A schedule that cannot be followed is
// none.
func (p *Policy) open(s *policy.Snapshot, j *policy.Job) *account {
	a := &account{upto: j.Submitted, skew: 1}
	if p.o.Error > 0 {
		a.skew += p.o.Error * (2*rng.Stream(p.o.Seed, "error/"+string(j.ID)).Float64() - 1)
	}
	if j.Schedule.Mode == job.Unscheduled || j.Adaptivity.Has(job.BatchSizes) {
		return a
	}
	a.batch = j.BatchSize
	sizes, err := regime.Sequence(&j.Schedule, j.BatchSize, j.BatchLimits().Max, p.o.Accordion)
	if err == nil {
		a.predictor, err = regime.NewPredictor(p.o.Rule, j.Schedule.Epochs, sizes)
	}
	a.odd = err != nil
	return a
}

// wait counts who else was there since the last round. Source: Shockwave App. G.2,
// N_avg.
func (a *account) wait(s *policy.Snapshot) {
	passed := max(0, s.Now.Sub(a.upto).Seconds())
	a.contention += passed * float64(len(s.Jobs)) / float64(max(1, s.Cluster.GPUs()))
	a.upto = s.Now
}

// read takes in a row.
func (p *Policy) read(s *policy.Snapshot, r *queue.Round, a *account, j *policy.Job) {
	a.row = j
	if a.observe(j) && !p.o.Lazy {
		p.changed = s.Round
	}
	p.expect(s, r, a)
}

// observe tells the predictor of the epochs since the last round, and reports whether
// the batch size changed.
func (a *account) observe(j *policy.Job) bool {
	batch := a.batch
	if b := j.Status.Batch; b != (job.BatchSize{}) && j.Holding() {
		batch = b.PerReplica() * (j.Allocation.GPUs / j.ReplicaGPUs(j.Allocation.GPUType))
	}
	changed := batch != a.batch
	if a.predictor != nil {
		err := a.predictor.Observe(a.batch, min(j.Epoch, j.Schedule.Epochs)-a.epochs)
		if err == nil && changed {
			err = a.predictor.Observe(batch, 0)
		}
		if err != nil {
			a.predictor, a.odd = nil, true
		}
	}
	a.epochs, a.batch = j.Epoch, batch
	return changed
}

// expect makes the job's options and what is expected on each. A job of which not
// enough is known is taken to be as fast on all, and half done, or to need a window.
func (p *Policy) expect(s *policy.Snapshot, r *queue.Round, a *account) {
	j := a.row
	a.options = p.list(s, r, a)
	a.total, a.done, a.past = j.Target, min(j.Progress, j.Target), 0
	known := a.total > 0
	for i := range a.options {
		o := &a.options[i]
		o.ahead = a.forecast(o)
		known = known && o.ahead != nil
	}
	if !known {
		a.done = j.AttainedService(s.Now).Seconds()
		a.total = 2*a.done + float64(p.o.Window)*s.Length.Seconds()
		for i := range a.options {
			a.options[i].ahead = forecast{{a.total - a.done, 1 / a.skew}}
		}
	}
	a.compare(known)
}

// compare finds the options that others are measured by.
func (a *account) compare(known bool) {
	a.fastest, a.leanest, a.alone = 0, 0, -1
	for i := range a.options {
		o := &a.options[i]
		time := o.ahead.time()
		if time < a.options[a.fastest].ahead.time() {
			a.fastest = i
		}
		if lean := &a.options[a.leanest]; time*float64(o.GPUs) < lean.ahead.time()*float64(lean.GPUs) {
			a.leanest = i
		}
		if o.GPUs == max(1, a.row.GPUs) && (a.alone < 0 || time < a.options[a.alone].ahead.time()) {
			a.alone = i
		}
	}
	if a.alone < 0 {
		a.alone = a.leanest
	}
	if len(a.options) == 0 {
		return
	}
	a.past = a.done * a.skew
	if known {
		a.past = a.behind(&a.options[a.alone])
	}
}

// rate returns the progress per second of a job on an option with a batch size in
// total; 0: the one that it trains with.
func (a *account) rate(o *option, batch int) float64 {
	j := a.row
	if j.Perf == nil {
		return 0
	}
	on := cluster.Allocation{Configuration: o.Configuration}
	if batch == 0 {
		rate, _ := queue.Speed(j, on)
		return rate / a.skew
	}
	n := o.GPUs / j.ReplicaGPUs(o.GPUType)
	return perf.Goodput(j.Perf, on, n, perf.FixedBatch(batch, n, o.GPUType, j.BatchLimits())) / a.skew
}

// forecast returns what the job has still to do on an option; nil if its speed there
// is not known.
func (a *account) forecast(o *option) forecast {
	left := a.total - a.done
	if a.predictor == nil {
		rate := a.rate(o, 0)
		if rate <= 0 {
			return nil
		}
		return forecast{{left, rate}}
	}
	var f forecast
	each := a.total / float64(a.row.Schedule.Epochs)
	part := a.done - each*float64(a.epochs) // of the epoch that it is in
	for _, r := range a.predictor.Regimes()[a.predictor.Present():] {
		progress := max(0, r.Expected-float64(r.Seen))*each - part
		part = max(0, -progress)
		if progress = min(progress, left); progress <= 0 {
			continue
		}
		rate := a.rate(o, r.BatchSize)
		if rate <= 0 {
			return nil
		}
		f = append(f, stretch{progress, rate})
		left -= progress
	}
	if rate := a.rate(o, a.batch); left > 0 && rate > 0 { // Bayes may expect fewer epochs than there are
		f = append(f, stretch{left, rate})
	}
	return f
}

// behind returns the seconds that what is done takes on an option.
func (a *account) behind(o *option) float64 {
	if a.predictor == nil {
		return a.done / max(a.rate(o, 0), 1e-300)
	}
	time, each := 0.0, a.total/float64(a.row.Schedule.Epochs)
	for _, r := range a.predictor.Regimes() {
		if r.Seen > 0 {
			time += float64(r.Seen) * each / max(a.rate(o, r.BatchSize), 1e-300)
		}
	}
	return time
}

// rho returns the finish-time fairness that the job is heading for, after so many more
// seconds of which it runs some.
func (a *account) rho(now time.Time, passed, ran float64) float64 {
	age := max(0, a.row.Age(now).Seconds())
	n := a.contention / max(age, 1)
	left := max(0, a.options[a.alone].ahead.time()-ran)
	total := a.past + a.options[a.alone].ahead.time()
	return fairness.Estimate(seconds(age+passed), 0, seconds(left), seconds(total), n)
}

func seconds(s float64) time.Duration { return time.Duration(min(s, 1e9) * float64(time.Second)) }
