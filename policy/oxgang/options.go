package oxgang

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/policy/boa"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Sources of job sizes.
const (
	Stated   = "stated"   // work that the job states; if it states none, like Class
	Class    = "class"    // mean work of ended jobs of the same class; if there are none, like Attained
	Attained = "attained" // the GPU time already received; the same amount is assumed to remain
)

// Options configure the policy oxgang.
type Options struct {
	goodput.Options         // P -0.5, Growth 8, Start 8, Solver price and Cells by default
	Lambda          float64 // worth of running a job at all, whatever its speed (λ of the package doc); default 1.1
	Makespan        float64 // weight of the makespan next to the mean completion time, 0 to 1; default 1
	Sizes           string  // Stated, Class or Attained; default Stated
	Margin          float64 // fraction of its time under EASY backfilling by which a job may take longer (deadlines.go); 0: no limit; default 0.5
	Guarantee       string  // shares of users (shares.go); default NoGuarantee
	Caps            []Cap   // of GPU-hours a month (caps.go)
	// CapsFrom is the time until which Cap.Used counts; zero: the first round.
	CapsFrom time.Time
	// Rent configures rented nodes (package boa). Nil, the default: none.
	Rent *boa.Options
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{
		Options: goodput.Options{P: -0.5, Growth: 8, Start: 8, Cells: true, Solver: "price"},
		Lambda:  1.1, Makespan: 1, Sizes: Stated, Margin: 0.5, Guarantee: NoGuarantee,
	}
}

// Validate returns an error that joins all invalid settings.
func (o *Options) Validate() error {
	errs := []error{o.Options.Validate()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(o.Lambda > 0) || math.IsInf(o.Lambda, 0) {
		bad("lambda %v, want more than 0", o.Lambda)
	}
	if !(o.Makespan >= 0 && o.Makespan <= 1) {
		bad("makespan %v, want 0 to 1", o.Makespan)
	}
	if !(o.Margin >= 0 && o.Margin <= 100) {
		bad("margin %v, want 0 to 100", o.Margin)
	}
	if !slices.Contains([]string{Stated, Class, Attained}, o.Sizes) {
		bad("sizes %q, want %s, %s or %s", o.Sizes, Stated, Class, Attained)
	}
	if all := []string{NoGuarantee, UserGuarantee, EqualGuarantee}; !slices.Contains(all, o.Guarantee) {
		bad("guarantee %q, want one of %s", o.Guarantee, strings.Join(all, ", "))
	}
	return errors.Join(errs...)
}
