package metrics

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A recording builds a Series. At limit points, it merges pairs, and each point stands for twice the rounds.
type recording struct {
	limit  int
	stride int // rounds per point
	time   []float64
	values [][]float64 // by column
	sums   []float64   // of the unfinished point
	first  float64     // its time
	count  int         // its rounds
}

func (r *recording) add(t float64, row []float64) {
	for len(r.values) < len(row) {
		r.values = append(r.values, make([]float64, len(r.time), max(len(r.time), 16)))
		r.sums = append(r.sums, 0)
	}
	if r.count == 0 {
		r.first = t
	}
	for i, v := range row {
		r.sums[i] += v
	}
	if r.count++; r.count < r.stride {
		return
	}
	r.flush()
	if len(r.time) >= r.limit {
		r.halve()
	}
}

func (r *recording) flush() {
	if r.count == 0 {
		return
	}
	r.time = append(r.time, r.first)
	for i, sum := range r.sums {
		r.values[i] = append(r.values[i], sum/float64(r.count))
		r.sums[i] = 0
	}
	r.count = 0
}

func (r *recording) halve() {
	n := len(r.time) / 2
	if len(r.time)%2 == 1 {
		r.first, r.count = r.time[2*n], r.stride
		for c, v := range r.values {
			r.sums[c] = v[2*n] * float64(r.stride)
		}
	}
	for i := range n {
		r.time[i] = r.time[2*i]
		for _, v := range r.values {
			v[i] = (v[2*i] + v[2*i+1]) / 2
		}
	}
	r.time = r.time[:n]
	for c := range r.values {
		r.values[c] = r.values[c][:n]
	}
	r.stride *= 2
}

func (r *recording) clone() recording {
	c := *r
	c.time, c.sums = slices.Clone(r.time), slices.Clone(r.sums)
	c.values = make([][]float64, len(r.values))
	for i, v := range r.values {
		c.values[i] = slices.Clone(v)
	}
	return c
}

// fixed counts the columns before those by GPU type.
const fixed = 10

func (r *recording) column(i int) []float64 {
	if i < len(r.values) {
		return r.values[i]
	}
	return make([]float64, len(r.time))
}

func (r *recording) series(types int, rented bool) Series {
	r.flush()
	s := Series{
		RoundsPerPoint: r.stride, Time: append([]float64{}, r.time...),
		Busy: make([][]float64, types), Capacity: make([][]float64, types),
	}
	s.Running, s.Waiting = r.column(0), r.column(1)
	if rented {
		s.Spending, s.Starting = r.column(2), make([][]float64, types)
	}
	for i := range types {
		s.Busy[i], s.Capacity[i] = r.column(fixed+3*i), r.column(fixed+1+3*i)
		if rented {
			s.Starting[i] = r.column(fixed + 2 + 3*i)
		}
	}
	return s
}

func (r *recording) loans(priced bool) *LoanSeries {
	r.flush()
	s := &LoanSeries{Lent: r.column(3), Busy: r.column(4), Wanted: r.column(5), Load: r.column(6), Pool: r.column(7)}
	if priced {
		s.TrainingPrice, s.LoanPrice = r.column(8), r.column(9)
	}
	return s
}

const mostTimes = 1 << 16

type sample struct {
	times   []time.Duration
	stride  int // 0 means 1
	skipped int
}

func (s *sample) add(d time.Duration) {
	if s.skipped++; s.skipped < s.stride {
		return
	}
	s.skipped = 0
	if len(s.times) == mostTimes {
		for i := range mostTimes / 2 {
			s.times[i] = s.times[2*i+1]
		}
		s.times, s.stride = s.times[:mostTimes/2], 2*max(1, s.stride)
		s.skipped = s.stride / 2
		return
	}
	s.times = append(s.times, d)
}

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
