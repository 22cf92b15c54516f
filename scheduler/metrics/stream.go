package metrics

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Stream receives what a Recorder measures as soon as it is complete, so that a run of any length can
// be written in bounded memory. Nil functions are not called. What they are given is theirs only during
// the call.
type Stream struct {
	// Job is told of each measured job that has ended and holds nothing more; of those that are active,
	// by Recorder.Finish. Its Intervals are those that Options.MaxIntervals keeps.
	Job func(*JobResult)
	// Held is told of each time in which a measured job held the same GPUs of the named type in one state:
	// of all of them, in the order of their ends.
	Held func(job.ID, cluster.GPUType, Interval)
	// Round is told of each round, when it begins.
	Round func(*RoundState)
}

// A RoundState is the cluster at the beginning of a round. Slices are aligned with Types.
type RoundState struct {
	Time     float64 // seconds since Result.Start
	Running  int     // jobs that hold GPUs
	Waiting  int     // active jobs that do not
	Types    []cluster.GPUType
	Busy     []int // GPUs held
	Capacity []int // GPUs there
}

// Finish returns the Result, and tells Options.Stream of jobs that are active and of GPUs that are held.
// It is called once, last.
func (r *Recorder) Finish() *Result {
	c := r.clone()
	c.opts.Stream = r.opts.Stream
	return c.close()
}

// streamHeld takes note of an interval: it is told when the next one is not more of the same.
func (r *Recorder) streamHeld(a *account, next Interval) {
	if r.opts.Stream.Held == nil || !r.measures(a) {
		return
	}
	if a.untold && a.pending.continues(next) {
		a.pending.End = next.End
		return
	}
	r.flushHeld(a)
	a.pending, a.untold = next, true
}

func (r *Recorder) flushHeld(a *account) {
	if a.untold && r.opts.Stream.Held != nil {
		r.opts.Stream.Held(a.spec.ID, r.types[a.pending.Type], a.pending)
		a.untold = false
	}
}

func (r *Recorder) streamJob(a *account, res *JobResult) {
	r.flushHeld(a)
	if r.opts.Stream.Job != nil {
		r.opts.Stream.Job(res)
	}
}

func (r *Recorder) streamRound() {
	if r.opts.Stream.Round == nil {
		return
	}
	r.opts.Stream.Round(&RoundState{
		Time: r.now.Sub(r.start).Seconds(), Running: r.running, Waiting: len(r.active) - r.running,
		Types: r.types, Busy: r.busy, Capacity: r.capacity,
	})
}
