package multimode

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// MaxRounds is the largest number of rounds that can be planned at once (the window).
const MaxRounds = 64

const largest = 1e40

// A Point is the state of a job at the end of the window, if it runs for a certain number of its rounds.
type Point struct {
	Value float64
	Left  float64 // remaining running time
	Load  float64 // job's summand in a lower bound on the remaining time of all jobs: see the package doc
}

// A Mode is one way to run a job: an amount of one resource, and the progress after each number of rounds.
type Mode struct {
	Resource int // index into Problem.Capacity
	Amount   int // in each round; at least 1
	// After has the job's state at the end of the window if it runs for 1, 2, … rounds; more rounds than listed change
	// nothing.
	After []Point
}

// A Job runs in at most one of its modes in a window.
type Job struct {
	Idle  Point   // if it does not run
	Modes []Mode  // possible modes; if empty, it waits
	Held  int     // index of the mode in which it runs now; its After includes no start
	Again float64 // value lost by each start after the first in the window
}

// A Problem asks which jobs run in each round of a window, and in which mode, within the capacities of each round.
type Problem struct {
	Rounds   int     // 1 to MaxRounds
	Capacity []int   // in each round
	Jobs     []Job   // among equal jobs the first is served first
	Lambda   float64 // λ: value lost per unit of remaining time of all jobs
}

// A Run is the plan for one job: its mode, and the rounds in which it runs. Bit t of Rounds is round t. Mode is -1 if
// it does not run.
type Run struct {
	Mode   int
	Rounds uint64
}

// In reports whether the job runs in a round; the first round is 0.
func (r Run) In(round int) bool { return r.Rounds>>round&1 == 1 }

// Count returns the number of rounds in which the job runs.
func (r Run) Count() int { return bits.OnesCount64(r.Rounds) }

func (p *Problem) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("multimode: "+format, args...)) }
	if p.Rounds < 1 || p.Rounds > MaxRounds {
		bad("%d rounds, want 1 to %d", p.Rounds, MaxRounds)
	}
	if !amount(p.Lambda) {
		bad("lambda %v, want 0 to %v", p.Lambda, largest)
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
	if err := j.Idle.check(); err != nil {
		return fmt.Errorf("idle: %w", err)
	}
	if !amount(j.Again) {
		return fmt.Errorf("again %v, want 0 to %v", j.Again, largest)
	}
	if j.Held < -1 || j.Held >= len(j.Modes) {
		return fmt.Errorf("held mode %d, want -1 or one of %d", j.Held, len(j.Modes))
	}
	for m := range j.Modes {
		if err := p.checkMode(&j.Modes[m]); err != nil {
			return fmt.Errorf("mode %d: %w", m, err)
		}
	}
	return nil
}

func (p *Problem) checkMode(m *Mode) error {
	switch {
	case m.Resource < 0 || m.Resource >= len(p.Capacity):
		return fmt.Errorf("resource %d, want one of %d", m.Resource, len(p.Capacity))
	case m.Amount < 1:
		return fmt.Errorf("amount %d, want at least 1", m.Amount)
	case len(m.After) == 0 || len(m.After) > p.Rounds:
		return fmt.Errorf("%d points, want 1 to %d", len(m.After), p.Rounds)
	}
	for n := range m.After {
		if err := m.After[n].check(); err != nil {
			return fmt.Errorf("after %d rounds: %w", n+1, err)
		}
	}
	return nil
}

func (a *Point) check() error {
	switch {
	case !amount(math.Abs(a.Value)):
		return fmt.Errorf("value %v, want -%v to %v", a.Value, largest, largest)
	case !amount(a.Left):
		return fmt.Errorf("%v left, want 0 to %v", a.Left, largest)
	case !amount(a.Load):
		return fmt.Errorf("load %v, want 0 to %v", a.Load, largest)
	}
	return nil
}

func amount(x float64) bool { return x >= 0 && x <= largest }

func (j *Job) at(r Run) Point {
	if r.Rounds == 0 {
		return j.Idle
	}
	after := j.Modes[r.Mode].After
	return after[min(r.Count(), len(after))-1]
}

// further counts the starts that the points do not include: all but the first, unless the job pauses in round 0
// before its held mode.
func (j *Job) further(r Run) int {
	starts := bits.OnesCount64(r.Rounds &^ (r.Rounds << 1))
	if starts > 0 && (r.Mode != j.Held || r.In(0)) {
		starts--
	}
	return starts
}

func (p *Problem) points(j *Job) iter.Seq2[count, *Point] {
	return func(yield func(count, *Point) bool) {
		for m := range j.Modes {
			mode := &j.Modes[m]
			if mode.Amount > p.Capacity[mode.Resource] {
				continue
			}
			for n := range mode.After {
				if !yield(count{m, n + 1}, &mode.After[n]) {
					return
				}
			}
		}
	}
}

// Worth returns the value of a plan for all jobs, without checking capacities.
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
