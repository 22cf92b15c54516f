package backfill

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
	"github.com/oxgang/oxgang/policy/grant"
)

// An Option is a GPU type on which a job can run, and its speed with the GPUs that it requests.
type Option struct {
	cluster.Configuration
	Rate  float64 // current progress per second on this type, above 0
	spent float64 // seconds that the job's progress so far would have taken on this type
}

// A virtualJob is the virtual counterpart of a job.
//
// How long a twin runs. The progress that the real job has made takes as long on an option as the job trained for it,
// times the ratio of the estimated speeds of the two configurations. On the same configuration the ratio is 1, so the
// time is measured. The rest of the work is counted at the present rate.
type virtualJob struct {
	id        job.ID
	submitted time.Time
	priority  float64
	restart   float64 // seconds from a start until the job makes progress
	options   []Option
	total     float64
	stated    bool
	reached   float64

	on        int       // index of the option that it runs or ran on; -1: it waits
	at        []share   // its GPUs while it runs
	started   time.Time // first start; zero: never
	since     time.Time // start of the current run
	before    float64   // part of its work done in earlier runs, 0 to 1
	ended     time.Time // zero: not yet
	profiling bool      // its speed is measured, so it cannot start yet
	gone      bool
	seen      int // last Schedule.round in which the job was active

	model *policy.Job // the job at the time when its rates were computed; nil: compute them again
}

func before(a, b *virtualJob) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), a.submitted.Compare(b.submitted), cmp.Compare(a.id, b.id))
}

func startedBefore(a, b *virtualJob) int {
	return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
}

func (t *virtualJob) update(j *policy.Job, options []Option, w Work, from, now time.Time) {
	did := max(0, w.Done-t.reached)
	if t.stale(j) {
		t.model = &policy.Job{Spec: j.Spec, Perf: j.Perf, Limits: j.Limits}
		t.restart = max(0, j.RestartOverhead.Seconds())
		t.adopt(options)
	}
	t.spend(j, did, t.trained(j, from, now))
	t.stated, t.reached, t.total, t.profiling = w.Stated, max(t.reached, w.Done), w.Total, j.Phase == job.Profiling
	if !t.stated && t.runs() && !t.end().After(now) { // it outlives its estimate
		t.total = t.reached + (now.Sub(t.since).Seconds()+1)*t.options[t.on].Rate
	}
}

// trained returns the seconds for which job j has trained since the last round; 0: unknown.
func (t *virtualJob) trained(j *policy.Job, from, now time.Time) float64 {
	if t.seen == 0 || !j.Holding() || j.Phase != job.Running {
		return 0
	}
	if first := j.Since.Add(max(0, j.RestartOverhead)); first.After(from) {
		from = first
	}
	return now.Sub(from).Seconds()
}

func (t *virtualJob) stale(j *policy.Job) bool {
	m := t.model
	return m == nil || m.Spec != j.Spec || m.Perf != j.Perf || m.Limits != j.Limits
}

// spend adds the time that progress did takes on each option. The real job made it within the given seconds; 0: unknown.
func (t *virtualJob) spend(j *policy.Job, did, seconds float64) {
	if !(did > 0) {
		return
	}
	if seconds > 0 {
		if x := t.rate(j); x > 0 && !math.IsInf(x, 0) {
			did = x * seconds
		}
	}
	for i := range t.options {
		t.options[i].spent += did / t.options[i].Rate
	}
}

// rate returns the estimated progress per second on the GPUs that job j holds.
func (t *virtualJob) rate(j *policy.Job) float64 {
	for i := range t.options {
		if o := &t.options[i]; o.Configuration == j.Allocation.Configuration {
			return o.Rate
		}
	}
	return rate(j, j.Allocation.Configuration)
}

func (t *virtualJob) adopt(all []Option) {
	on := -1
	for i := range all {
		o := &all[i]
		o.spent = t.reached / o.Rate
		for k := range t.options {
			if t.options[k].Configuration == o.Configuration {
				o.spent = t.options[k].spent
				if k == t.on {
					on = i
				}
			}
		}
	}
	if on < 0 && t.on >= 0 {
		t.model = nil // until what it runs or ran on is an option again
		return
	}
	t.options, t.on = all, on
}

func (t *virtualJob) runs() bool { return t.on >= 0 && t.ended.IsZero() }

func (t *virtualJob) stop(now time.Time) {
	need := t.needs(&t.options[t.on])
	if did := now.Sub(t.since).Seconds() - t.restart; did > 0 && need > 0 {
		t.before = min(1, t.before+did/need)
	}
	t.on, t.at = -1, nil
}

func (t *virtualJob) needs(o *Option) float64 { return o.spent + max(0, t.total-t.reached)/o.Rate }

func (t *virtualJob) lasts(o *Option) time.Duration {
	return perf.Seconds(t.restart + (1-t.before)*t.needs(o))
}

func (t *virtualJob) end() time.Time { return t.since.Add(t.lasts(&t.options[t.on])) }

// rate returns the goodput with the submitted batch size, or with the best one if the job adapts it.
func rate(j *policy.Job, c cluster.Configuration) (x float64) {
	switch {
	case j.Perf == nil:
		return 1
	case j.Adaptivity.Has(job.BatchSizes):
		x, _ = goodput.Goodput(j, c)
		return x
	}
	return grant.Goodput(j, cluster.Allocation{Configuration: c})
}

// optionsOf returns where a job could run alone. A job without a model counts as equally fast on all types.
func optionsOf(j *policy.Job, types []cluster.TypeInfo) (all []Option) {
	for k := range types {
		t := &types[k]
		n := grant.Size(j, t.Type)
		if n > t.GPUs || !j.Eligible(t.Type) || !j.Allows(cluster.Configuration{GPUs: n, GPUType: t.Type}) {
			continue
		}
		a := grant.Gang(j, t)
		if x := rate(j, a.Configuration); x > 0 && !math.IsInf(x, 0) {
			all = append(all, Option{Configuration: a.Configuration, Rate: x})
		}
	}
	return all
}

// evaluate returns the options of the jobs whose twins are stale, by index in jobs. Jobs with equal goodputs are
// evaluated once.
func evaluate(twins []*virtualJob, jobs []*policy.Job, types []cluster.TypeInfo) [][]Option {
	all := make([][]Option, len(jobs))
	like := make(map[int]int)
	var first []int
	var alike goodput.Alike[struct{}, int]
	for i, j := range jobs {
		if !twins[i].stale(j) {
			continue
		}
		if of, ok := alike.First(j, struct{}{}, i); ok {
			like[i] = of
			continue
		}
		first = append(first, i)
	}
	goodput.Each(len(first), func(k int) { all[first[k]] = optionsOf(jobs[first[k]], types) })
	for i, of := range like {
		all[i] = slices.Clone(all[of])
	}
	return all
}

// Remember saves and restores the schedule (memory.Rememberer), except data that can be computed from its jobs.
func (s *Schedule) Remember(m *memory.Codec) {
	m.Fields(&s.now, &s.round, &s.length)
	memory.Slice(m, &s.types, func(t *cluster.TypeInfo, m *memory.Codec) {
		m.Fields((*string)(&t.Type), &t.GPUs, &t.Nodes, &t.PerNode)
	})
	memory.Map(m, &s.jobs, memory.To((*virtualJob).Remember))
	if m.Decoding() && m.Err() == nil {
		s.rebuild(m)
	}
}

func (t *virtualJob) Remember(m *memory.Codec) {
	m.Fields((*string)(&t.id), &t.submitted, &t.priority, &t.restart, &t.total, &t.stated, &t.reached, &t.on, &t.started,
		&t.since, &t.before, &t.ended, &t.gone, &t.seen)
	memory.Slice(m, &t.options, func(o *Option, m *memory.Codec) {
		m.Fields(&o.Nodes, &o.GPUs, (*string)(&o.GPUType), &o.Rate, &o.spent)
	})
	memory.Slice(m, &t.at, func(a *share, m *memory.Codec) {
		memory.Number(&a.node, m)
		memory.Number(&a.gpus, m)
	})
}

func (s *Schedule) rebuild(m *memory.Codec) {
	s.pools = pools(s.types)
	s.waiting, s.running = nil, nil
	for _, t := range s.jobs {
		switch {
		case !t.ended.IsZero():
		case t.on < 0:
			s.waiting = append(s.waiting, t)
		case t.on >= len(t.options) || !s.holds(t):
			m.Fail("backfill: job %s runs where it cannot", t.id)
			return
		default:
			s.running = append(s.running, t)
			s.pools[s.typeOf(t.options[t.on].GPUType)].add(t.at, -1)
		}
	}
	slices.SortFunc(s.waiting, before)
	slices.SortFunc(s.running, startedBefore)
}

func (s *Schedule) holds(t *virtualJob) bool {
	k := s.typeOf(t.options[t.on].GPUType)
	return k >= 0 && !slices.ContainsFunc(t.at, func(a share) bool { return a.node < 0 || a.node >= len(s.pools[k].free) })
}
