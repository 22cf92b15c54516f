// Package generate makes synthetic traces: arrivals drawn from published distributions of real clusters.
// Equal options give equal traces on every machine.
package generate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Kind is a kind of synthetic workload, with its defaults.
type Kind struct {
	Name, Doc string
	Jobs      int           // default
	Span      time.Duration // default span of submissions; 0: follows from the load
	Load      float64       // default; 0: no load. See Options
	Split     string        // default; empty: no split

	pace  pace       // distribution of submissions over time
	mix   []template // of jobs; nil: fixed durations, a split or lyra
	lyra  *lyraFamily
	drift bool // the mix of applications changes over time
}

func (k *Kind) sized() bool { return !k.paced() && k.Split == "" }

func (k *Kind) paced() bool { return k.mix != nil || k.lyra != nil }

// generateKinds lists every kind. The Sia traces are sampled from production logs: 160 jobs of the
// busiest 8 hours (Philly, Helios), 960 jobs of 48 hours (newTrace). Source: Sia §3.4.1, §3.5.6.
var generateKinds = []Kind{
	{Name: "philly-like", Doc: "Philly as Sia samples it: 20 jobs/h, mostly small", Jobs: 160, Span: 8 * time.Hour, pace: phillyPace, mix: phillyMix},
	{Name: "helios-like", Doc: "Helios as Sia samples it: 20 jobs/h, mostly small", Jobs: 160, Span: 8 * time.Hour, pace: heliosPace, mix: heliosMix},
	{Name: "newtrace-like", Doc: "newTrace as Sia samples it: 5 to 100 jobs/h with bursts, a third medium", Jobs: 960, Span: 48 * time.Hour, pace: newTracePace, mix: newTraceMix},
	{Name: "spike", Doc: "Spike-240: newTrace's jobs at 20 jobs/h, and 130 more in 30 minutes from hour 2.5", Jobs: 240, Span: 6 * time.Hour, pace: spikePace, mix: newTraceMix},
	{Name: "drifting", Doc: "a month whose rate and mix change: days, weekends, a surge, larger jobs", Jobs: driftJobs, Span: driftSpan, pace: driftPace(), mix: newTraceMix, drift: true},
	{Name: "fixed-duration", Doc: "jobs known by their running time, at a load of a cluster; for tests of scale", Jobs: 50_000, Load: 0.72},
	{Name: "synergy", Doc: "Synergy's dynamic trace: jobs that wait for their input, at a rate", Jobs: 8000, Load: 9, Split: "20-70-10"},
	{Name: "synergy-static", Doc: "Synergy's static trace: the same jobs, all at the start", Jobs: 100, Split: "60-30-10"},
	{Name: "lyra", Doc: "15 days of Lyra's cluster of 3,544 GPUs: jobs known by their running time, some fungible, some elastic", Jobs: 50_390, Span: 15 * day, lyra: lyraProduction},
	{Name: "lyra-eighth", Doc: "an eighth of the same jobs, for preset lyra8", Jobs: 6299, Span: 15 * day, lyra: lyraProduction},
	{Name: "lyra-testbed", Doc: "8 hours of Lyra's testbed, for preset lyra-testbed", Jobs: 180, Span: 8 * time.Hour, lyra: lyraTestbed},
}

// Kinds returns all kinds.
func Kinds() []Kind { return slices.Clone(generateKinds) }

// Options describe the synthetic workload to generate.
type Options struct {
	Kind string
	Seed uint64
	Jobs int           // number of jobs; 0: the kind's default
	Span time.Duration // time in which jobs are submitted; 0: the kind's. A longer span repeats the kind's rates, a shorter one cuts them
	GPUs int           // GPUs of the cluster for which the load of fixed-duration jobs is computed; 0 for other kinds
	// Load is requested GPU time divided by available GPU time for fixed-duration jobs, or jobs per hour for kind
	// synergy; otherwise 0.
	Load float64
	// Split is the parts of image, language and speech of Synergy's kinds, as "20-70-10"; else empty.
	Split string
	// MultiGPU gives Synergy's jobs the GPU requests of Philly, 1 to 16, instead of 1; else false.
	MultiGPU bool
}

// DefaultOptions returns the options of a kind with seed 1. For kind fixed-duration they have the scale of Lyra's
// cluster (Lyra §7). For an unknown kind, sizes are 0, and Validate returns an error.
func DefaultOptions(kind string) Options {
	o := Options{Kind: kind, Seed: 1}
	if k, err := findKind(kind); err == nil {
		o.Jobs, o.Span, o.Load, o.Split = k.Jobs, k.Span, k.Load, k.Split
		if k.sized() {
			o.GPUs = 3500
		}
	}
	return o
}

const (
	maxGeneratedJobs = 100_000_000
	maxGeneratedSpan = 10 * 365 * 24 * time.Hour
)

// Validate returns an error that joins all errors.
func (o Options) Validate() error {
	k, err := findKind(o.Kind)
	if err != nil {
		return err
	}
	var errs []error
	if o.Jobs < 0 || o.Jobs > maxGeneratedJobs {
		errs = append(errs, fmt.Errorf("jobs %d, want at most %d, or 0 for the default of %d", o.Jobs, maxGeneratedJobs, k.Jobs))
	}
	if o.Span < 0 || o.Span > maxGeneratedSpan {
		errs = append(errs, fmt.Errorf("span %v, want at most %v, or 0 for the default", o.Span, maxGeneratedSpan))
	}
	return errors.Join(append(errs, o.validateLoad(k), o.validateSplit(k))...)
}

func (o Options) validateLoad(k Kind) error {
	var errs []error
	switch {
	case k.paced() && (o.GPUs != 0 || o.Load != 0):
		errs = append(errs, fmt.Errorf("gpus %d and load %g, want neither for kind %s: its jobs decide", o.GPUs, o.Load, k.Name))
	case k.sized() && o.GPUs < 1:
		errs = append(errs, fmt.Errorf("gpus %d, want at least 1 for kind %s", o.GPUs, k.Name))
	case !k.sized() && o.GPUs != 0:
		errs = append(errs, fmt.Errorf("gpus %d, want 0 for kind %s: its load is jobs per hour", o.GPUs, k.Name))
	}
	switch {
	case k.Load > 0 && (!(o.Load > 0) || math.IsInf(o.Load, 0)): // rejects NaN, too
		errs = append(errs, fmt.Errorf("load %g, want more than 0 for kind %s", o.Load, k.Name))
	case !k.paced() && k.Load == 0 && o.Load != 0:
		errs = append(errs, fmt.Errorf("load %g, want 0 for kind %s: all jobs come at the start", o.Load, k.Name))
	}
	if !k.paced() && o.Span != 0 {
		errs = append(errs, fmt.Errorf("span %v, want 0 for kind %s: it follows from the load", o.Span, k.Name))
	}
	return errors.Join(errs...)
}

func (o Options) validateSplit(k Kind) error {
	switch {
	case k.Split != "":
		_, err := parseSplit(o.Split)
		return err
	case o.Split != "" || o.MultiGPU:
		return fmt.Errorf("split %q and multi-GPU %v, want neither for kind %s: its jobs decide", o.Split, o.MultiGPU, k.Name)
	}
	return nil
}

func findKind(name string) (Kind, error) {
	var names []string
	for _, k := range generateKinds {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("workload kind %q, want one of %s", name, strings.Join(names, ", "))
}

// Arrivals generates the jobs of a workload, sorted by time.
//
// Jobs of Sia's kinds are adaptive and called "<application>-<index>". Except in kind drifting, they are the same for
// different spans. Synergy's jobs, and jobs with a known duration and no known speed, are rigid; some of Lyra's are
// elastic. Lyra's jobs that run at time 0 are in queue Warm, in addition to the requested number.
func Arrivals(o Options) ([]workload.Arrival, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("generate workload: %w", err)
	}
	k, _ := findKind(o.Kind) // validated
	o.Jobs = cmp.Or(o.Jobs, k.Jobs)
	o.Span = cmp.Or(o.Span, k.Span)
	switch {
	case k.Split != "":
		return derived(o)
	case k.lyra != nil:
		return generateLyra(o, k.lyra), nil
	case k.mix == nil:
		return fixedDurations(o)
	}
	at := k.pace.times(rng.Stream(o.Seed, "workload/"+k.Name+"/times"), o.Jobs, o.Span)
	jobs := rng.Stream(o.Seed, "workload/"+k.Name+"/jobs")
	all := make([]workload.Arrival, o.Jobs)
	for i := range all {
		t := k.draw(jobs, at[i])
		all[i] = workload.Arrival{At: at[i], Application: t.application, Spec: job.Spec{
			ID:         job.ID(fmt.Sprintf("%s-%d", t.application, i)),
			GPUs:       t.gpus,
			BatchSize:  t.batch,
			Adaptivity: job.Adaptive,
		}}
	}
	return all, nil
}

func (k *Kind) draw(r source, at time.Duration) template {
	if k.drift {
		return drawDrift(r, k.mix, at)
	}
	return draw(r, k.mix)
}

func fixedDurations(o Options) ([]workload.Arrival, error) {
	jobs := rng.Stream(o.Seed, "workload/fixed-duration/jobs")
	all := make([]workload.Arrival, o.Jobs)
	work := 0.0 // GPU-seconds
	for i := range all {
		gpus, seconds := fixedSize(jobs, o.GPUs), math.Round(fixedSeconds(jobs.Float64()))
		work += float64(gpus) * seconds
		all[i] = workload.Arrival{Duration: time.Duration(seconds) * time.Second, Spec: job.Spec{
			ID:         job.ID(fmt.Sprintf("job-%d", i)),
			GPUs:       gpus,
			Adaptivity: job.Rigid,
		}}
	}
	span := work / (float64(o.GPUs) * o.Load)
	if span > maxGeneratedSpan.Seconds() {
		return nil, fmt.Errorf("generate workload: %d jobs take %.0f years at load %g on %d GPUs, want at most 10", o.Jobs, span/(365*24*3600), o.Load, o.GPUs)
	}
	steady := pace{step: time.Hour, rates: []float64{1}}
	at := steady.times(rng.Stream(o.Seed, "workload/fixed-duration/times"), o.Jobs, time.Duration(span*float64(time.Second)))
	for i := range all {
		all[i].At = at[i]
	}
	return all, nil
}

const day = 24 * time.Hour
