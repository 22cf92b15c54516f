package metrics

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Stream has functions that receive each measurement once it is complete, so that long runs need little memory. Nil
// functions are not called. Arguments are valid only during the call.
type Stream struct {
	// Job receives each job once it has ended and released its GPUs, and active jobs at Recorder.Finish.
	Job func(*JobResult)
	// Held receives each Interval of a measured job, with its GPU type, when the interval ends.
	Held func(job.ID, cluster.GPUType, Interval)
	// Round receives the state at the start of each round.
	Round func(*RoundState)
}

// A RoundState is the state of the cluster at the start of a round. Slices are in the order of Types.
type RoundState struct {
	Time     float64 // seconds since Result.Start
	Running  int     // jobs with GPUs
	Waiting  int     // active jobs without GPUs
	Types    []cluster.GPUType
	Busy     []int // held GPUs, by type
	Capacity []int // available GPUs, by type
}

// Finish passes the jobs that are still active, and their GPUs, to Options.Stream, and returns the Result. Call it
// once, after the run.
func (r *Recorder) Finish() *Result {
	c := r.clone()
	c.opts.Stream = r.opts.Stream
	return c.close()
}

func (r *Recorder) streamHeld(a *account, next Interval) {
	if r.opts.Stream.Held == nil || !r.opts.measures(a) {
		return
	}
	if a.unsent && a.pending.continues(next) {
		a.pending.End = next.End
		return
	}
	r.opts.Stream.flush(a, r.gpus.types)
	a.pending, a.unsent = next, true
}

func (s *Stream) flush(a *account, types []cluster.GPUType) {
	if a.unsent && s.Held != nil {
		s.Held(a.spec.ID, types[a.pending.Type], a.pending)
		a.unsent = false
	}
}

func (r *Recorder) streamJob(a *account, res *JobResult) {
	r.opts.Stream.flush(a, r.gpus.types)
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
		Types: r.gpus.types, Busy: r.gpus.busy, Capacity: r.gpus.capacity,
	})
}
