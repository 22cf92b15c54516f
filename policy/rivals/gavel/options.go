package gavel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Objective says which time fractions are best.
type Objective string

// The objectives.
const (
	MaxMin   Objective = "maxmin"   // the least normalised throughput per weight is greatest (§4.1)
	Sum      Objective = "sum"      // the sum of throughputs, in steps per second, is greatest
	FTF      Objective = "ftf"      // the worst finish-time fairness is least (§4.2)
	Makespan Objective = "makespan" // the last job ends earliest (§4.2)
	AlloX    Objective = "allox"    // the mean completion time is least, by matching
	Stride   Objective = "stride"   // every job has as much time as every other, whatever its size
)

// Objectives returns the objectives.
func Objectives() []Objective { return []Objective{MaxMin, Sum, FTF, Makespan, AlloX, Stride} }

// Rules say whose rules are followed where the paper and the public code differ.
type Rules string

// The rules.
const (
	Paper      Rules = "paper"
	PublicCode Rules = "public-code" // of the public simulator: see public.go
	SiaCode    Rules = "sia-code"    // of the copy in Sia's public simulator: see siacode.go
)

// Options configure the policy. DefaultOptions has the defaults.
type Options struct {
	Objective Objective // default MaxMin
	// Perf: throughput on a GPU type counts. Without it a job is taken to be as
	// fast on any. Default true (§4.1, "heterogeneity-aware").
	Perf bool
	// Alpha of AlloX: the part of the waiting jobs, first come first, that are matched.
	// Default 0.2 (Gavel's public code).
	Alpha float64
	Rules Rules // default Paper
	// Turn is the least time between two choices of who runs, to the nearest round, under
	// Paper: a job that was chosen keeps its GPUs for so long, however often plans are made.
	// GPUs that come free are given to others at once. 0: every round. Default 6 min (Gavel
	// §5, "6-minute rounds"): with rounds that are shorter than a restart, jobs that take
	// turns would never get anything done.
	Turn time.Duration
	// Reset is the least time between two solutions under PublicCode. Default
	// 1920 s (Gavel's public code; Shockwave's has 1000 s).
	Reset time.Duration
	// Loss is the time of a round in which a job that did not run in the round
	// before does nothing, and for which it is not charged, under PublicCode.
	// Default 0 (Gavel's public code; Shockwave's has 20 s).
	Loss time.Duration
	// Public solves programs under PublicCode, as the solver of the public code does:
	// package lab/rules. Default nil: these rules cannot be had.
	Public Solver
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Objective: MaxMin, Perf: true, Alpha: 0.2, Rules: Paper, Turn: 6 * time.Minute, Reset: 1920 * time.Second}
}

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	var errs []error
	if !slices.Contains(Objectives(), o.Objective) {
		names := make([]string, 0, len(Objectives()))
		for _, known := range Objectives() {
			names = append(names, string(known))
		}
		errs = append(errs, fmt.Errorf("objective %q, want one of %s", o.Objective, strings.Join(names, ", ")))
	}
	if !(o.Alpha >= 0 && o.Alpha <= 1) {
		errs = append(errs, fmt.Errorf("alpha %v, want 0 to 1", o.Alpha))
	}
	if o.Rules != Paper && o.Rules != PublicCode && o.Rules != SiaCode {
		errs = append(errs, fmt.Errorf("rules %q, want paper, public-code or sia-code", o.Rules))
	}
	if o.Reset < 0 || o.Loss < 0 || o.Turn < 0 {
		errs = append(errs, fmt.Errorf("reset %v, loss %v and turn %v, want at least 0s", o.Reset, o.Loss, o.Turn))
	}
	if unset := o.Reset == 0 || o.Reset == DefaultOptions().Reset; o.Rules != PublicCode && (!unset || o.Loss > 0) {
		errs = append(errs, fmt.Errorf("reset %v and loss %v with rules %s, want them with rules public-code only", o.Reset, o.Loss, o.Rules))
	}
	return errors.Join(errs...)
}
