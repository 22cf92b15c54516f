package oxgang

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// A state is what is known of a job in a round. Work is progress, in samples at the
// efficiency of the initial batch size; it is compared between jobs as a length only.
type state struct {
	class      job.Class
	done, left float64               // work
	length     float64               // left by the unit of the row: seconds on the GPU where it is slowest
	path       float64               // seconds that the rest takes at its fastest; 0: not known
	unsaved    float64               // seconds of work that a preemption loses
	stated     float64               // work, in all; 0: it states none
	soon       float64               // work that it may do until the next round
	guessed    bool                  // nobody stated how much it has left
	basis      basis                 // what its length and its weight rest on
	gone       cluster.Configuration // that it had on nodes that are not there any more; zero: nothing
	counted    bool                  // its work is in the influx
	contention float64               // active jobs over its life, times seconds
	upto       time.Time             // of that

	rank, slack, rho, share float64 // what its weight is made of
	weight                  float64
	last                    float64   // what it counts more that it runs, because the end of all waits for it
	cost, move              float64   // of a move: seconds, and what it leaves; 0: it holds nothing
	factors                 []float64 // by column: what a move leaves there

	granted  cluster.Configuration // by the last plan, to a job that held nothing; zero: nothing
	refused  cluster.Configuration // had no placement when it was granted; zero: none
	refusals int                   // in turn
	until    int                   // round; before it the refused one is not granted again

	ordered time.Time // since when nodes for it were on their way, while it held nothing; zero: never
	expects bool      // they are, and it can wait for them

	claims bool // the speed of its twin under backfilling, until it has caught up

	seen int // round
}

// An ended sums up the jobs of a class that are gone.
type ended struct {
	jobs, work   float64
	sum, squares float64 // of the logs of their work
	stated       track
}

// add counts a job that is gone. What is summed up is so round that it adds up to the same in any
// order of the map of jobs.
func (e *ended) add(done float64) {
	log := math.Round(math.Log(max(1, done))*(1<<10)) / (1 << 10)
	e.jobs++
	e.work += math.Round(done)
	e.sum += log
	e.squares += log * log
}

// logs returns mean and variance of the log of the work of the class's jobs.
func (e *ended) logs() (mean, variance float64) {
	mean = e.sum / e.jobs
	return mean, (trusted*spread*spread + max(0, e.squares-e.jobs*mean*mean)) / (trusted + e.jobs)
}

func (e *ended) mean() float64 {
	if e == nil || e.jobs == 0 {
		return 0
	}
	return e.work / e.jobs
}

// few is the least work that a job of unknown size is believed to have left, in
// seconds on its unit: it would otherwise begin as the smallest of all.
const few = 600

// anonymous is a job that states nothing.
var anonymous job.Spec

// measure learns from the jobs that are gone, and finds what each of the others has
// left.
func (p *Policy) measure(s *policy.Snapshot, rows []*goodput.Row) {
	p.active, p.round = p.active[:0], s.Round
	for _, r := range rows {
		j := r.Job()
		st := p.jobs[j.ID]
		if st == nil {
			st = &state{class: j.Class, upto: firstSeen(s, j)}
			p.jobs[j.ID] = st
			p.influx.submitted(s.Now.Add(-j.Age(s.Now)))
		}
		st.seen = s.Round
		st.placed(s, j)
		p.active = append(p.active, st)
	}
	if len(p.jobs) > len(rows) {
		p.learn(s.Round)
	}
	goodput.Each(len(rows), func(i int) { p.estimate(s, rows[i], p.active[i]) })
}

// firstSeen returns since when a job that was not there before has been among others. One that is older than a
// round was there before the policy: it is taken to have been among as many all along.
func firstSeen(s *policy.Snapshot, j *policy.Job) time.Time {
	if age := j.Age(s.Now); age > s.Length {
		return s.Now.Add(-age)
	}
	return s.Now
}

// learn counts the jobs that are gone, and forgets them.
func (p *Policy) learn(round int) {
	for id, st := range p.jobs {
		if st.seen == round {
			continue
		}
		delete(p.jobs, id)
		if st.class == "" || !(st.done > 0) {
			continue
		}
		c := p.classes[st.class]
		if c == nil {
			c = &ended{}
			p.classes[st.class] = c
		}
		c.add(st.done)
		if st.stated > 0 {
			wrong := st.wrong()
			c.stated.add(wrong)
			p.stated.add(wrong)
		}
	}
}

// estimate finds what a job has done and has left. One of which nothing is known is believed to
// need as much GPU time again as it had: that is what the scheduler has counted itself, and no
// report of the job changes it.
func (p *Policy) estimate(s *policy.Snapshot, r *goodput.Row, st *state) {
	j := r.Job()
	b := perf.Remaining{Spec: j.Spec, Status: &j.Status, Now: s.Now}
	if p.o.Sizes != Stated {
		b.Spec = &anonymous
	}
	if p.o.Sizes != Attained {
		b.Mean = p.classes[j.Class].mean()
	}
	if k := r.Holds(); k >= 0 && j.Phase == job.Running {
		b.Held = r.Goodput(k)
	}
	st.done = b.Progress()
	left, from := b.Work()
	told := left
	st.stated, st.soon, st.guessed = b.Spec.Target, b.Held*s.Length.Seconds(), from != perf.FromStated
	unit := r.Unit()
	if !(unit > 0) || math.IsInf(unit, 0) {
		unit = 1
	}
	switch from {
	case perf.FromStated:
		left = max(p.believed(st, left), 0.02*j.Target)
	case perf.FromClass:
		left = max(left, 0.05*(left+st.done))
	default:
		left = max(few, j.AttainedGPUService(s.Now).Seconds()) * unit
	}
	st.left, st.length, st.unsaved = left, left/unit, st.losing(s, r)
	st.basis = basis{from: from, told: told / unit, modelled: j.Perf != nil, weight: j.Weight}
}

// losing returns the seconds of work that a job loses if it is preempted: all that it has
// done, if it has no checkpoints.
func (st *state) losing(s *policy.Snapshot, r *goodput.Row) float64 {
	j := r.Job()
	if !j.NoCheckpoint || !j.Holding() {
		return 0
	}
	most := max(0, j.AttainedService(s.Now).Seconds())
	if k := r.Holds(); k >= 0 && r.Goodput(k) > 0 {
		return min(most, st.done/r.Goodput(k))
	}
	return most
}
