package shockwave

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type option struct {
	typeIndex int
	cluster.Configuration
	ahead forecast
}

// An expectation is the forecast of a job on each option. A job without options can have none of the GPUs to
// be shared.
type expectation struct {
	options []option
	guessed bool    // too little is known: equally fast everywhere, and half done
	total   float64 // progress at its end
	done    float64 // progress so far
	past    float64 // seconds for done, on option alone; at most endless
	start   float64 // seconds of a start; capped half a round below the window, or no start would ever pay
	alone   int     // option with the requested GPUs
	fastest int     // option that ends soonest
	leanest int     // option with the least GPU time
}

func (p *Policy) expect(s *policy.Snapshot, r *grant.Round, a *account) {
	a.expectation = expectation{options: p.list(s, r, a), total: a.row.Target, done: min(a.row.Done(s.Now), a.row.Target)}
	a.start = min(a.row.RestartOverhead.Seconds(), s.Length.Seconds()*(float64(p.o.Window)-0.5))
	a.guessed = !(a.total > 0) || math.IsInf(a.total, 1)
	for i := range a.options {
		o := &a.options[i]
		o.ahead = a.forecast(o)
		a.guessed = a.guessed || o.ahead == nil
	}
	if a.guessed {
		a.guess(s.Length.Seconds()*float64(p.o.Window), a.row.AttainedService(s.Now).Seconds())
	}
	a.compare()
}

func (a *account) guess(window, served float64) {
	a.done, a.total = served, 2*served+window
	for i := range a.options {
		a.options[i].ahead = forecast{{a.total - a.done, 1 / a.skew}}
	}
}

func (a *account) compare() {
	if len(a.options) == 0 {
		return
	}
	a.alone = -1
	area := func(o *option) float64 { return o.ahead.time() * float64(o.GPUs) }
	for i := range a.options {
		o := &a.options[i]
		if o.ahead.time() < a.options[a.fastest].ahead.time() {
			a.fastest = i
		}
		if area(o) < area(&a.options[a.leanest]) {
			a.leanest = i
		}
		if o.GPUs == a.row.Requested(o.GPUType) && (a.alone < 0 || o.ahead.time() < a.options[a.alone].ahead.time()) {
			a.alone = i
		}
	}
	if a.alone < 0 {
		a.alone = a.leanest
	}
	a.past = min(a.pastTime(&a.options[a.alone]), endless)
}

// list returns the options of a job: its gang on each type, or, if its GPU count may be chosen, each valid
// configuration that is faster than all smaller ones.
func (p *Policy) list(s *policy.Snapshot, r *grant.Round, a *account) []option {
	var all []option
	for t, info := range s.Cluster.Types() {
		least, most, step := r.Range(a.index, t)
		fastest := 0.0
		for _, n := range p.amounts(s, info.Type, least, most) {
			o := option{typeIndex: t, Configuration: r.Amount(a.index, t, n).Configuration}
			if n > p.free[t] || (n-least)%max(1, step) != 0 {
				continue
			}
			if rate := a.rate(&o, a.batch); n == least || rate > fastest {
				fastest = rate
				all = append(all, o)
			}
		}
	}
	return all
}

// amounts returns least, and the larger valid GPU counts of a type up to most, ascending. Source: Sia §3.3.3.
func (p *Policy) amounts(s *policy.Snapshot, t cluster.GPUType, least, most int) []int {
	if least == 0 {
		return nil
	}
	all := []int{least}
	if least == most {
		return all
	}
	if p.configurations == nil {
		p.configurations = s.Cluster.Configurations()
	}
	for _, c := range p.configurations {
		if c.GPUType == t && c.GPUs > all[len(all)-1] && c.GPUs <= most {
			all = append(all, c.GPUs)
		}
	}
	return all
}

func (a *account) rate(o *option, batch int) float64 {
	j := a.row
	if j.Perf == nil {
		return 0
	}
	on, n := cluster.Allocation{Configuration: o.Configuration}, o.GPUs/j.ReplicaGPUs(o.GPUType)
	var rate float64
	if l := j.BatchLimits(); batch == 0 || l.Max <= 0 {
		rate, _ = j.Speed(on)
	} else {
		rate = perf.Goodput(j.Perf, on, n, perf.FixedBatch(batch, n, o.GPUType, l))
	}
	if !(rate > 0) || math.IsInf(rate, 1) {
		return 0
	}
	return rate / a.skew
}

func (a *account) forecast(o *option) forecast {
	left := max(0, a.total-a.done)
	if a.predictor == nil {
		return forecast(nil).add(left, a.rate(o, a.batch))
	}
	f, each := forecast(nil), a.total/float64(a.predictor.epochs)
	begun := max(0, a.done-each*float64(a.epochs)) // progress in the current epoch
	for _, r := range a.predictor.Regimes()[a.predictor.Present():] {
		epochs := max(0, r.Expected-float64(r.Seen))
		progress := min(left, max(0, epochs*each-begun))
		begun = max(0, begun-epochs*each)
		if progress == 0 {
			continue
		}
		rate := a.rate(o, r.BatchSize)
		if rate == 0 {
			return nil
		}
		f, left = f.add(progress, rate), left-progress
	}
	if left > 0 || f == nil { // its last epoch, or later than expected
		f = f.add(left, a.rate(o, a.batch))
	}
	return f
}

func (f forecast) add(progress, rate float64) forecast {
	if rate == 0 {
		return nil
	}
	return append(f, stretch{progress, rate})
}

func (a *account) pastTime(o *option) float64 {
	if a.predictor == nil || a.guessed {
		return a.done / o.ahead[0].rate
	}
	time, each := 0.0, a.total/float64(a.predictor.epochs)
	for _, r := range a.predictor.Regimes() {
		if rate := a.rate(o, r.BatchSize); rate > 0 {
			time += float64(r.Seen) * each / rate
		}
	}
	return time
}

type stretch struct {
	progress float64 // samples at initial-batch efficiency
	rate     float64 // per second, above 0
}

// A forecast is the remaining work of a job on some GPUs, one or more stretches in order. Source: Shockwave
// App. G, "Decomposing job schedules to regime schedules".
type forecast []stretch

const endless = 1e9

func (f forecast) time() float64 {
	total := 0.0
	for _, s := range f {
		total += s.progress / s.rate
	}
	return min(total, endless)
}

func (f forecast) run(seconds float64) float64 {
	made := 0.0
	for _, s := range f {
		if seconds <= 0 {
			break
		}
		made += min(s.progress, s.rate*seconds)
		seconds -= s.progress / s.rate
	}
	return made
}

// extended returns the progress in some seconds as if the last stretch never ended, so that the round in
// which a job ends counts fully. Source: Shockwave App. G.1, Eq. 7.
func (f forecast) extended(seconds float64) float64 {
	return f.run(seconds) + max(0, seconds-f.time())*f[len(f)-1].rate
}

func (f forecast) after(progress float64) forecast {
	for i, s := range f {
		if s.progress > progress {
			return append(forecast{{s.progress - progress, s.rate}}, f[i+1:]...)
		}
		progress -= s.progress
	}
	return forecast{{0, f[len(f)-1].rate}}
}
