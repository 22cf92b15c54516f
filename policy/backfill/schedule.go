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

// A Schedule simulates EASY backfilling for copies of the jobs of a real cluster. The code calls these copies twins.
// The zero value is empty and ready to use.
type Schedule struct {
	now     time.Time
	length  time.Duration      // of a round
	types   []cluster.TypeInfo // of the last snapshot
	pools   []pool             // virtually free GPUs, by type
	jobs    map[job.ID]*virtualJob
	waiting []*virtualJob // by priority, submission and ID
	running []*virtualJob // in the order of their starts
	round   int           // calls of Advance so far

	ahead *lookahead // nil: not needed since Advance
}

// Work is a policy's estimate of a job's progress.
type Work struct {
	Done, Total float64 // progress so far, and in all
	Stated      bool    // the job states its total; otherwise it is an estimate
}

// Advance continues the simulation to the time of the snapshot. It calls work once for each index in snapshot.Jobs,
// possibly in parallel; work returns the progress of that job.
func (s *Schedule) Advance(snapshot *policy.Snapshot, work func(int) Work) {
	if s.jobs == nil {
		s.jobs, s.now = make(map[job.ID]*virtualJob), snapshot.Now
	}
	s.resize(snapshot.Cluster.Types(), snapshot.Now)
	s.compare(snapshot, work)
	s.length, s.ahead = snapshot.Length, nil
	s.turn(snapshot.Now)
	s.forget()
	s.fill()
}

func (s *Schedule) turn(to time.Time) {
	for next := s.nextEnd(); next != nil && !next.end().After(to); next = s.nextEnd() {
		s.finish(next)
	}
	s.now = to
}

// resize adopts the GPU types of the cluster. Twins that no longer fit return to the queue, the latest starts first.
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
			if at := s.pools[k].place([]int{t.options[t.on].GPUs})[0]; at != nil {
				t.at = at
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

func (s *Schedule) compare(snapshot *policy.Snapshot, work func(int) Work) {
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
	options := evaluate(all, snapshot.Jobs, s.types)
	goodput.Each(len(all), func(i int) { all[i].update(snapshot.Jobs[i], options[i], work(i), s.now, snapshot.Now) })
	for i, t := range all {
		if t.seen == 0 && !s.resume(t, snapshot.Jobs[i], snapshot.Now) {
			s.enqueue(t)
		}
		t.seen = s.round
	}
	for _, t := range s.jobs {
		if t.gone = t.seen != s.round; t.gone && !t.stated {
			t.total = t.reached
		}
	}
}

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
		if at := s.pools[k].place([]int{o.GPUs})[0]; at != nil {
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

func (s *Schedule) place(granted []start) {
	for k := range s.pools {
		var own []start
		var gangs []int
		for _, g := range granted {
			if o := &g.options[g.option]; s.typeOf(o.GPUType) == k {
				own, gangs = append(own, g), append(gangs, o.GPUs)
			}
		}
		for i, at := range s.pools[k].place(gangs) {
			if at != nil {
				s.start(own[i].virtualJob, own[i].option, at)
			}
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, (*virtualJob).runs)
}

func (s *Schedule) start(t *virtualJob, i int, at []share) {
	t.on, t.at, t.since = i, at, s.now
	if t.started.IsZero() {
		t.started = s.now
	}
	place, _ := slices.BinarySearchFunc(s.running, t, startedBefore)
	s.running = slices.Insert(s.running, place, t)
}

func (s *Schedule) finish(t *virtualJob) {
	s.pools[s.typeOf(t.options[t.on].GPUType)].add(t.at, 1)
	s.running = slices.DeleteFunc(s.running, func(r *virtualJob) bool { return r == t })
	t.ended, t.at = t.end(), nil
}

func (s *Schedule) forget() {
	for id, t := range s.jobs {
		if t.gone && (!t.ended.IsZero() || len(t.options) == 0) {
			delete(s.jobs, id)
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(t *virtualJob) bool { return s.jobs[t.id] != t })
}
