package ledger

import (
	"maps"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// work is what a job did since its last start, in GPU-seconds and in samples.
type work struct {
	on    cluster.Placement
	since time.Time // held counts until then
	held  float64   // GPU-seconds since the start

	reported    bool    // since the start
	first, last float64 // samples in the first and the last report
	from, to    float64 // GPU-seconds until these reports

	stops []stop // until the next report
}

// A stop is work that a job has to repeat if its next report has fewer samples than the last one.
type stop struct {
	gained map[job.ID]int // GPUs by the job that got them
	lost   int            // GPUs that the stopped job lost
	last   float64        // samples
	each   float64        // GPU-seconds for one sample
	since  float64        // GPU-seconds from the last report to the stop
}

func (w *work) count(now time.Time) {
	w.held += float64(w.on.GPUs()) * now.Sub(w.since).Seconds()
	w.since = now
}

// place sets the nodes of a job from now on. start states that the job starts, or starts again.
func (w *work) place(now time.Time, on cluster.Placement, start bool) {
	w.count(now)
	if w.on = on; start {
		w.held, w.reported, w.from, w.to = 0, false, 0, 0
	}
}

// chargeStops books the work that jobs lose because a round stops them and gives their GPUs to other jobs. A job
// without checkpoints loses everything since its start. The losses of other jobs are booked at their next reports.
func (r *Recorder) chargeStops(actions []scheduler.Action) {
	gains := map[cluster.NodeID]map[job.ID]int{}
	for _, act := range actions {
		if run, is := act.(scheduler.Run); is && r.active[run.Job] != nil {
			addGains(gains, run.Job, run.Placement, r.active[run.Job].work.on)
		}
	}
	for _, act := range actions {
		switch act := act.(type) {
		case scheduler.Preempt:
			if a := r.active[act.Job]; a != nil {
				r.stop(a, gains)
			}
		case scheduler.Run:
			if a := r.active[act.Job]; a != nil && a.restarts(&act) {
				r.stop(a, gains)
			}
		}
	}
}

func (a *account) restarts(run *scheduler.Run) bool {
	return !run.Free && !run.Resized && !run.Placement.SameGPUs(a.work.on)
}

// addGains adds the GPUs that a job gets on each node; negative: loses.
func addGains(sum map[cluster.NodeID]map[job.ID]int, id job.ID, now, before cluster.Placement) {
	add := func(p cluster.Placement, times int) {
		for _, s := range p {
			if sum[s.Node] == nil {
				sum[s.Node] = map[job.ID]int{}
			}
			sum[s.Node][id] += times * s.GPUs
		}
	}
	add(now, 1)
	add(before, -1)
}

func (r *Recorder) stop(a *account, gains map[cluster.NodeID]map[job.ID]int) {
	w := &a.work
	w.count(r.now)
	if len(w.on) == 0 {
		return
	}
	s := stop{gained: map[job.ID]int{}, last: w.last}
	for _, share := range w.on {
		left := share.GPUs
		if n, runs := gains[share.Node][a.spec.ID]; runs {
			left = max(0, -n)
		}
		s.lost += left
		for _, id := range slices.Sorted(maps.Keys(gains[share.Node])) {
			n := min(left, max(0, gains[share.Node][id]))
			s.gained[id] += n
			left -= n
		}
	}
	switch {
	case a.spec.NoCheckpoint:
		r.charge(a, &s, w.held)
	case w.reported && w.last > w.first:
		s.each, s.since = (w.to-w.from)/(w.last-w.first), w.held-w.to
		w.stops = append(w.stops, s)
	}
}

// charge books lost GPU-seconds of a job, divided among the jobs that got its GPUs.
func (r *Recorder) charge(a *account, s *stop, lost float64) {
	if len(a.parts) == 0 || lost <= 0 || !r.period.Has(r.now) {
		return
	}
	for id, n := range s.gained { // the order does not matter
		if by := r.active[id]; n > 0 && by != nil {
			e := Entry{Job: by.spec, Pool: a.parts[0].pool.Pool}
			e.Lost = Of(1, time.Duration(lost*float64(n)/float64(s.lost)*float64(time.Second)))
			r.book(&e)
		}
	}
}

// worked takes a report of a running job.
func (r *Recorder) worked(a *account, rep *job.Report) {
	w := &a.work
	w.count(r.now)
	for i := range w.stops {
		if s := &w.stops[i]; rep.Progress < s.last {
			r.charge(a, s, s.each*(s.last-rep.Progress)+s.since+w.held)
		}
	}
	if w.stops = nil; !w.reported {
		w.reported, w.first, w.from = true, rep.Progress, w.held
	}
	w.last, w.to = rep.Progress, w.held
}
