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

// A state is the policy's knowledge of a job. Work is progress, in samples at the efficiency of the initial batch
// size. It differs between jobs, so jobs are compared by length.
type state struct {
	class      job.Class
	done, left float64
	length     float64 // left, by the unit of the row: seconds on the GPU where it is slowest
	path       float64 // seconds that the rest takes at its fastest; 0: not known
	unsaved    float64 // seconds of work that a preemption loses
	stated     float64 // work in all; 0: not stated
	soon       float64 // work that it may do until the next round
	guessed    bool
	basis      basis
	gone       cluster.Configuration // held on nodes that have vanished; zero: none
	counted    bool
	contention float64   // integral of the number of active jobs over its life, in job seconds
	upto       time.Time // end of that integral

	rank, slack, rho, share float64 // factors of its weight
	weight                  float64
	last                    float64 // bonus for running, if the end of all depends on it
	cost, move              float64 // of a move: seconds, and its factor; 0: it holds nothing
	factors                 []float64

	granted  cluster.Configuration // by the last plan, to a job that held nothing; zero: nothing
	refused  cluster.Configuration // granted without a placement; zero: none
	refusals int
	until    int // first round in which the refused one may be granted again

	ordered time.Time // when nodes for it were ordered while it held nothing; zero: none
	expects bool      // such nodes are on their way, and it can wait for them

	claims bool // it claims the speed of its twin under backfilling until it has caught up

	seen int // last round in which it was active
}

type ended struct {
	jobs, work   float64
	sum, squares float64
	stated       track
}

// add counts an ended job. Numbers are rounded, so that sums do not depend on the order of the map of jobs.
func (e *ended) add(done float64) {
	log := math.Round(math.Log(max(1, done))*(1<<10)) / (1 << 10)
	e.jobs++
	e.work += math.Round(done)
	e.sum += log
	e.squares += log * log
}

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

const few = 600

var anonymous job.Spec

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

// firstSeen returns the start of the contention integral of a new job. A job older than a round was there before the
// policy.
func firstSeen(s *policy.Snapshot, j *policy.Job) time.Time {
	if age := j.Age(s.Now); age > s.Length {
		return s.Now.Add(-age)
	}
	return s.Now
}

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

// estimate sets the work done and left. A job without any information is assumed to need the GPU time that it already
// had once more. The scheduler measures that itself, so a job cannot influence it.
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
