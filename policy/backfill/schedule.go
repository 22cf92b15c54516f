package backfill

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// A Schedule simulates EASY backfilling of the same jobs, next to the real cluster. The zero value is empty and ready
// to use.
type Schedule struct {
	now     time.Time
	types   []cluster.TypeInfo // of the last snapshot
	pools   []pool             // virtually free GPUs, by type
	jobs    map[job.ID]*virtualJob
	waiting []*virtualJob // by priority, submission and ID
	running []*virtualJob // in the order of their starts
	round   int           // calls of Advance so far

	expected map[*virtualJob]expectation // of waiting twins; nil: not computed in this round
}

// Work is a policy's estimate of a job's progress.
type Work struct {
	Done, Total float64 // progress so far, and in all
	Stated      bool    // the job states its total; otherwise it is an estimate
}

// Advance continues the simulation to the time of the snapshot. It calls work once with the index of each job,
// possibly in parallel.
func (s *Schedule) Advance(snapshot *policy.Snapshot, work func(int) Work) {
	if s.jobs == nil {
		s.jobs, s.now = make(map[job.ID]*virtualJob), snapshot.Now
	}
	s.expected = nil
	s.resize(snapshot.Cluster.Types(), snapshot.Now)
	arrivals := s.compare(snapshot, work)
	for {
		next := s.nextEnd()
		switch {
		case len(arrivals) > 0 && (next == nil || next.end().After(arrivals[0].submitted)):
			s.pass(arrivals[0].submitted)
			s.enqueue(arrivals[0])
			arrivals = arrivals[1:]
		case next != nil && !next.end().After(snapshot.Now):
			s.pass(next.end())
			s.finish(next)
		default:
			s.pass(snapshot.Now)
			s.forget()
			s.fill()
			return
		}
	}
}

// pass moves the clock to the time of the next event. Before that, jobs start by all events up to now.
func (s *Schedule) pass(to time.Time) {
	if to.After(s.now) {
		s.fill()
		s.now = to
	}
}

// resize adopts the GPU types of the cluster. Running twins that no longer fit return to the queue, the latest starts
// first.
func (s *Schedule) resize(types []cluster.TypeInfo, now time.Time) {
	if slices.EqualFunc(s.types, types, sameGPUs) {
		return
	}
	s.types = slices.Clone(types)
	s.pools = pools(types)
	for _, t := range s.jobs {
		t.model = nil // its options are computed again
	}
	running := s.running
	s.running = nil
	for _, t := range running {
		if k := s.typeOf(t.options[t.on].GPUType); k >= 0 {
			if at, ok := s.pools[k].find(t.options[t.on].GPUs); ok {
				t.at = at
				s.pools[k].add(at, -1)
				s.running = append(s.running, t)
				continue
			}
		}
		t.stop(now)
		s.enqueue(t)
	}
}

func sameGPUs(a, b cluster.TypeInfo) bool {
	return a.Type == b.Type && a.GPUs == b.GPUs && a.Nodes == b.Nodes && a.PerNode == b.PerNode
}

func (s *Schedule) typeOf(t cluster.GPUType) int {
	return slices.IndexFunc(s.types, func(i cluster.TypeInfo) bool { return i.Type == t })
}

// compare updates the twins from the jobs, and returns the twins of new jobs by submission.
func (s *Schedule) compare(snapshot *policy.Snapshot, work func(int) Work) (arrivals []*virtualJob) {
	s.round++
	all := make([]*virtualJob, len(snapshot.Jobs))
	for i, j := range snapshot.Jobs {
		t := s.jobs[j.ID]
		if t == nil {
			t = &virtualJob{id: j.ID, submitted: j.Submitted, priority: j.Priority, on: -1}
			s.jobs[j.ID] = t
		}
		all[i] = t
	}
	goodput.Each(len(all), func(i int) { all[i].update(snapshot.Jobs[i], s.types, work(i), snapshot.Now) })
	for i, t := range all {
		if t.seen == 0 && !s.resume(t, snapshot.Jobs[i], snapshot.Now) {
			arrivals = append(arrivals, t)
		}
		t.seen = s.round
	}
	for _, t := range s.jobs {
		if t.gone = t.seen != s.round; t.gone && !t.stated {
			t.total = t.reached
		}
	}
	slices.SortFunc(arrivals, func(a, b *virtualJob) int {
		return a.submitted.Compare(b.submitted)
	})
	return arrivals
}

// resume starts the twin of a job that ran before the schedule began, on the GPUs that the job requests.
func (s *Schedule) resume(t *virtualJob, j *policy.Job, now time.Time) bool {
	k := s.typeOf(j.Allocation.GPUType)
	if k < 0 || now.Sub(j.Submitted) <= 0 || s.round > 1 {
		return false
	}
	for i := range t.options {
		o := &t.options[i]
		if o.GPUType != j.Allocation.GPUType {
			continue
		}
		if at, ok := s.pools[k].find(o.GPUs); ok {
			s.start(t, i, at)
			t.since = now.Add(-perf.Seconds(t.restart + o.spent))
			return true
		}
	}
	return false
}

func (s *Schedule) enqueue(t *virtualJob) {
	at, _ := slices.BinarySearchFunc(s.waiting, t, before)
	s.waiting = slices.Insert(s.waiting, at, t)
}

func (s *Schedule) nextEnd() *virtualJob {
	if len(s.running) == 0 {
		return nil
	}
	return slices.MinFunc(s.running, func(a, b *virtualJob) int { return a.end().Compare(b.end()) })
}

func (s *Schedule) start(t *virtualJob, i int, at []share) {
	t.on, t.at, t.since = i, at, s.now
	if t.started.IsZero() {
		t.started = s.now
	}
	s.pools[s.typeOf(t.options[i].GPUType)].add(at, -1)
	place, _ := slices.BinarySearchFunc(s.running, t, startedBefore)
	s.running = slices.Insert(s.running, place, t)
}

func (s *Schedule) finish(t *virtualJob) {
	s.pools[s.typeOf(t.options[t.on].GPUType)].add(t.at, 1)
	s.running = slices.DeleteFunc(s.running, func(r *virtualJob) bool { return r == t })
	t.ended, t.at = s.now, nil
}

func (s *Schedule) forget() {
	for id, t := range s.jobs {
		if t.gone && (!t.ended.IsZero() || len(t.options) == 0) {
			delete(s.jobs, id)
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(t *virtualJob) bool { return s.jobs[t.id] != t })
}

// A Comparison states when a job starts and ends in the simulated schedule, and how much work it has left.
type Comparison struct {
	Option                       // what the twin runs or ran on
	Submitted, Started time.Time // Started: first start in the simulation
	Due                time.Time // expected or actual end in the simulation
	Total              float64   // progress of the whole job
	Left               float64   // seconds that the job still needs at its speed in the simulation
}

// Compare returns how a job fares in the simulated schedule; false while it waits there.
func (s *Schedule) Compare(id job.ID) (st Comparison, ok bool) {
	t := s.jobs[id]
	if t == nil || t.on < 0 {
		return Comparison{}, false
	}
	due := t.ended
	if due.IsZero() {
		due = t.end()
	}
	return t.comparison(t.on, t.started, due), true
}

func (t *virtualJob) comparison(option int, started, due time.Time) Comparison {
	o := t.options[option]
	return Comparison{Option: o, Submitted: t.submitted, Started: started, Due: due, Total: t.total, Left: max(0, t.total-t.reached) / o.Rate}
}
