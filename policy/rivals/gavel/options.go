package gavel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Objective determines the time fractions.
type Objective string

const (
	MaxMin   Objective = "maxmin"   // maximise the least normalised throughput per weight (§4.1)
	Sum      Objective = "sum"      // maximise the sum of throughputs, in steps per second
	FTF      Objective = "ftf"      // minimise the worst finish-time fairness (§4.2)
	Makespan Objective = "makespan" // minimise the end of the last job (§4.2)
	AlloX    Objective = "allox"    // minimise the mean completion time, by matching
	Stride   Objective = "stride"   // equal time for all jobs, whatever their size
)

// Objectives returns the objectives.
func Objectives() []Objective { return []Objective{MaxMin, Sum, FTF, Makespan, AlloX, Stride} }

// Rules select the paper or a public code that differs from it.
type Rules string

const (
	Paper      Rules = "paper"
	PublicCode Rules = "public-code" // Gavel's simulator: see public.go
	SiaCode    Rules = "sia-code"    // the copy in Sia's simulator: see siacode.go
)

// Options configure the policy. DefaultOptions has the defaults.
type Options struct {
	Objective Objective // default MaxMin
	// Perf uses throughput by GPU type. Without it all types count as equally fast. Default true
	// (§4.1, "heterogeneity-aware").
	Perf bool
	// Alpha of AlloX is the fraction of waiting jobs that are matched, first come first. Default
	// 0.2 (Gavel's public code).
	Alpha float64
	Rules Rules // default Paper
	// Turn is, under Paper, the least time for which a job keeps its GPUs, to the nearest round. 0:
	// a round. Default 6 min (Gavel §5, "6-minute rounds"). Jobs that take turns in rounds shorter
	// than a restart would make no progress.
	Turn time.Duration
	// Reset is the least time between two solutions under PublicCode. Default 1920 s (Gavel's
	// public code; Shockwave's has 1000 s).
	Reset time.Duration
	// Loss is, under PublicCode, the uncharged time that a job loses if it did not run in the round
	// before. Default 0 (Gavel's public code; Shockwave's has 20 s).
	Loss time.Duration
	// Public solves programs like the public code (package lab/rules). PublicCode requires it.
	Public Solver
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Objective: MaxMin, Perf: true, Alpha: 0.2, Rules: Paper, Turn: 6 * time.Minute, Reset: 1920 * time.Second}
}

// Validate returns all errors of o, joined.
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
		errs = append(errs, fmt.Errorf("reset %v and loss %v with rules %s, but both need rules public-code", o.Reset, o.Loss, o.Rules))
	}
	return errors.Join(errs...)
}
