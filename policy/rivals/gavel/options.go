package gavel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Objective selects what Gavel optimises when it chooses the fractions of time that jobs get on each GPU type.
type Objective string

// The objectives.
const (
	MaxMin   Objective = "maxmin"   // maximises the smallest normalised throughput (§4.1)
	Sum      Objective = "sum"      // maximises the sum of throughputs, in steps per second
	FTF      Objective = "ftf"      // minimises the worst finish-time fairness (§4.2)
	Makespan Objective = "makespan" // minimises the end of the last job (§4.2)
	AlloX    Objective = "allox"    // minimises the mean completion time, by matching
	Stride   Objective = "stride"   // gives all jobs equal time
)

// Objectives returns the objectives.
func Objectives() []Objective { return []Objective{MaxMin, Sum, FTF, Makespan, AlloX, Stride} }

// Rules select the algorithm of the paper or of Gavel's public code.
type Rules string

// The rules.
const (
	Paper      Rules = "paper"
	PublicCode Rules = "public-code" // Gavel's simulator (public.go)
	SiaCode    Rules = "sia-code"    // Gavel in Sia's simulator (public.go)
)

// Options configure Gavel.
type Options struct {
	Objective Objective // default MaxMin
	// Perf makes decisions use throughput by GPU type. Default true (§4.1, "heterogeneity-aware").
	Perf bool
	// Alpha is the fraction of waiting jobs that AlloX matches. Default 0.2 (Gavel's public code).
	Alpha float64
	Rules Rules // default Paper
	// Turn, under Paper, is the minimum time for which a job keeps its GPUs; 0: a round. Default 6 min (Gavel §5).
	Turn time.Duration
	// Reset, under PublicCode, is the minimum time between two solutions. Default 1920 s (Gavel's public code;
	// Shockwave's has 1000 s).
	Reset time.Duration
	// Loss, under PublicCode, is the uncharged restart time of a job that did not run in the round before. Default
	// 0 (Gavel's public code; Shockwave's has 20 s).
	Loss time.Duration
	// Public solves the programs of PublicCode. Package lab/rules sets it.
	Public Solver
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{Objective: MaxMin, Perf: true, Alpha: 0.2, Rules: Paper, Turn: 6 * time.Minute, Reset: 1920 * time.Second}
}

// Validate returns all errors of o.
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
