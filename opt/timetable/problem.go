package timetable

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// MaxRounds bounds the rounds of a window.
const MaxRounds = 64

// A Point is what has become of a job at the end of the window.
type Point struct {
	Value float64
	Left  float64 // time that it has still to run
	Load  float64 // its part of the mean time that the cluster has still to run
}

// A Mode is one way to run.
type Mode struct {
	Resource int
	Amount   int // of the resource, in each round in which it runs; at least 1
	// After holds what has become of the job after 1, 2, … rounds, in one piece, and
	// as many as there are. More rounds are of no use to it if they are not there.
	After []Point
}

// A Job has at most one mode in a window.
type Job struct {
	Idle  Point // without a round
	Modes []Mode
	Held  int     // the mode it runs in now; -1: none
	Again float64 // value lost by each start that After does not count: after a pause
}

// A Problem is a window to be planned.
type Problem struct {
	Rounds   int
	Capacity []int // by resource, in each round
	Jobs     []Job
	Lambda   float64 // value lost per unit of the time that all jobs take
}

// A Run is what a job gets: the rounds in which it runs, as bits, in a mode. No
// rounds: mode -1.
type Run struct {
	Mode   int
	Rounds uint64
}

// In reports whether the job runs in a round, counted from 0.
func (r Run) In(round int) bool { return r.Rounds>>round&1 == 1 }

// Count returns the number of rounds.
func (r Run) Count() int { return bits.OnesCount64(r.Rounds) }

// A Timetable is a plan. Bound >= optimum >= Value.
type Timetable struct {
	Runs   []Run // by job
	Value  float64
	Bound  float64
	Prices []float64 // value of one unit of each resource in one round
	Solves int       // knapsacks
	// Interrupted: the context ended before Options were met.
	Interrupted bool
}

// Gap returns (Bound − Value) / |Bound|; 0 if both are 0.
func (t *Timetable) Gap() float64 {
	if t.Bound <= t.Value {
		return 0
	}
	return (t.Bound - t.Value) / math.Abs(t.Bound)
}

// Validate joins all complaints about p.
func (p *Problem) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("timetable: "+format, args...)) }
	if p.Rounds < 1 || p.Rounds > MaxRounds {
		bad("%d rounds, want 1 to %d", p.Rounds, MaxRounds)
	}
	if !(p.Lambda >= 0 && p.Lambda < math.Inf(1)) {
		bad("lambda %v, want at least 0", p.Lambda)
	}
	for k, c := range p.Capacity {
		if c < 0 {
			bad("resource %d: capacity %d, want at least 0", k, c)
		}
	}
	for i := range p.Jobs {
		if err := p.check(&p.Jobs[i]); err != nil {
			bad("job %d: %w", i, err)
		}
	}
	return errors.Join(errs...)
}

func (p *Problem) check(j *Job) error {
	if !j.Idle.plain() || !(j.Again >= 0 && j.Again < math.Inf(1)) {
		return fmt.Errorf("idle %+v, again %v, want finite and the last three at least 0", j.Idle, j.Again)
	}
	if j.Held < -1 || j.Held >= len(j.Modes) {
		return fmt.Errorf("held mode %d, want -1 or one of %d", j.Held, len(j.Modes))
	}
	for m := range j.Modes {
		mode := &j.Modes[m]
		switch {
		case mode.Resource < 0 || mode.Resource >= len(p.Capacity):
			return fmt.Errorf("mode %d: resource %d, want one of %d", m, mode.Resource, len(p.Capacity))
		case mode.Amount < 1:
			return fmt.Errorf("mode %d: amount %d, want at least 1", m, mode.Amount)
		case len(mode.After) == 0 || len(mode.After) > p.Rounds:
			return fmt.Errorf("mode %d: %d points, want 1 to %d", m, len(mode.After), p.Rounds)
		}
		for n, at := range mode.After {
			if !at.plain() {
				return fmt.Errorf("mode %d: after %d rounds %+v, want finite and the last two at least 0", m, n+1, at)
			}
		}
	}
	return nil
}

func (a *Point) plain() bool {
	return math.Abs(a.Value) < 1e100 && a.Left >= 0 && a.Left < 1e100 && a.Load >= 0 && a.Load < 1e100
}

// at returns what has become of j after a run.
func (j *Job) at(r Run) Point {
	if r.Rounds == 0 {
		return j.Idle
	}
	after := j.Modes[r.Mode].After
	return after[min(r.Count(), len(after))-1]
}

// further returns the starts of a run that its points do not count: all but the
// first, and that one too if the job could have gone on.
func (j *Job) further(r Run) int {
	starts := bits.OnesCount64(r.Rounds &^ (r.Rounds << 1))
	if starts > 0 && !(r.Mode == j.Held && !r.In(0)) {
		starts--
	}
	return starts
}

// Worth returns the value of a plan.
func (p *Problem) Worth(runs []Run) float64 {
	value, load, longest := 0.0, 0.0, 0.0
	for i := range p.Jobs {
		j := &p.Jobs[i]
		at := j.at(runs[i])
		value += at.Value - j.Again*float64(j.further(runs[i]))
		load += at.Load
		longest = max(longest, at.Left)
	}
	return value - p.Lambda*max(load, longest)
}
