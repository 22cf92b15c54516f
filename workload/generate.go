package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/job"
)

// A GenerateKind is a kind of workload that Generate makes.
type GenerateKind struct {
	Name, Doc string
	Jobs      int           // by default
	Span      time.Duration // of submissions, by default; 0: follows from the load

	pace pace       // how submissions spread over time
	mix  []template // what is submitted; nil: jobs known by their duration
}

// generateKinds lists every kind. The Sia traces are sampled from production
// logs: 160 jobs of the busiest 8 hours (Philly, Helios), 960 jobs of 48 hours
// (newTrace). Source: Sia §3.4.1, §3.5.6.
var generateKinds = []GenerateKind{
	{"philly-like", "Philly as Sia samples it: 20 jobs/h, mostly small", 160, 8 * time.Hour, phillyPace, phillyMix},
	{"helios-like", "Helios as Sia samples it: 20 jobs/h, mostly small", 160, 8 * time.Hour, heliosPace, heliosMix},
	{"newtrace-like", "newTrace as Sia samples it: 5 to 100 jobs/h with bursts, a third medium", 960, 48 * time.Hour, newTracePace, newTraceMix},
	{"spike", "Spike-240: newTrace's jobs at 20 jobs/h, and 130 more in 30 minutes from hour 2.5", 240, 6 * time.Hour, spikePace, newTraceMix},
	{"fixed-duration", "jobs known by their running time, at a load of a cluster; for tests of scale", 50_000, 0, pace{}, nil},
}

// GenerateKinds returns all kinds.
func GenerateKinds() []GenerateKind { return slices.Clone(generateKinds) }

// GenerateOptions says which workload to generate.
type GenerateOptions struct {
	Kind string
	Seed uint64
	Jobs int           // 0: the kind's
	Span time.Duration // of submissions; 0: the kind's. The kind's pace repeats, or is cut
	GPUs int           // of the cluster that fixed-duration jobs load; 0 for other kinds
	Load float64       // that they offer: GPU time over what GPUs give in the span; 0 for other kinds
}

// DefaultGenerateOptions returns the options of a kind with seed 1. Sizes of an
// unknown kind are 0, which Validate complains about. The defaults of
// fixed-duration are the scale of Lyra's cluster: 50,000 jobs in about 12 days
// on 3,500 GPUs at load 0.72 (Lyra §7).
func DefaultGenerateOptions(kind string) GenerateOptions {
	o := GenerateOptions{Kind: kind, Seed: 1}
	if k, err := findKind(kind); err == nil {
		o.Jobs, o.Span = k.Jobs, k.Span
		if k.mix == nil {
			o.GPUs, o.Load = 3500, 0.72
		}
	}
	return o
}

const (
	maxGeneratedJobs = 100_000_000
	maxGeneratedSpan = 10 * 365 * 24 * time.Hour
)

// Validate returns an error that joins all complaints.
func (o GenerateOptions) Validate() error {
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
	return errors.Join(append(errs, o.validateLoad(k)...)...)
}

// validateLoad complains about the options that only jobs known by their
// duration have.
func (o GenerateOptions) validateLoad(k GenerateKind) (errs []error) {
	if k.mix != nil {
		if o.GPUs != 0 || o.Load != 0 {
			errs = append(errs, fmt.Errorf("gpus %d and load %g, want neither for kind %s: its jobs decide", o.GPUs, o.Load, k.Name))
		}
		return errs
	}
	if o.GPUs < 1 {
		errs = append(errs, fmt.Errorf("gpus %d, want at least 1 for kind %s", o.GPUs, k.Name))
	}
	if !(o.Load > 0) || math.IsInf(o.Load, 0) { // not a number fails too
		errs = append(errs, fmt.Errorf("load %g, want more than 0 for kind %s", o.Load, k.Name))
	}
	if o.Span != 0 {
		errs = append(errs, fmt.Errorf("span %v, want 0 for kind %s: it follows from the load", o.Span, k.Name))
	}
	return errs
}

// findKind returns the kind called name, or an error that lists the names.
func findKind(name string) (GenerateKind, error) {
	var names []string
	for _, k := range generateKinds {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return GenerateKind{}, fmt.Errorf("workload kind %q, want one of %s", name, strings.Join(names, ", "))
}

// Generate returns a workload, sorted by time, the same for the same options.
// Jobs of the kinds that follow Sia's traces are adaptive, name their
// application and are called "<application>-<index>"; what they are does not
// depend on when they come, so that a sweep over spans keeps its jobs. Jobs
// known by their duration are rigid.
func Generate(o GenerateOptions) ([]Arrival, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("generate workload: %w", err)
	}
	k, _ := findKind(o.Kind) // validated
	o.Jobs = cmp.Or(o.Jobs, k.Jobs)
	o.Span = cmp.Or(o.Span, k.Span)
	if k.mix == nil {
		return fixedDurations(o)
	}
	at := k.pace.times(rng.Stream(o.Seed, "workload/"+k.Name+"/times"), o.Jobs, o.Span)
	jobs := rng.Stream(o.Seed, "workload/"+k.Name+"/jobs")
	all := make([]Arrival, o.Jobs)
	for i := range all {
		t := draw(jobs, k.mix)
		all[i] = Arrival{At: at[i], Application: t.application, Spec: job.Spec{
			ID:         job.ID(fmt.Sprintf("%s-%d", t.application, i)),
			GPUs:       t.gpus,
			BatchSize:  t.batch,
			Adaptivity: job.Adaptive,
		}}
	}
	return all, nil
}

// fixedDurations returns rigid jobs, submitted evenly at random over the span in
// which they offer the load.
func fixedDurations(o GenerateOptions) ([]Arrival, error) {
	jobs := rng.Stream(o.Seed, "workload/fixed-duration/jobs")
	all := make([]Arrival, o.Jobs)
	work := 0.0 // GPU-seconds
	for i := range all {
		gpus, seconds := fixedSize(jobs, o.GPUs), math.Round(fixedSeconds(jobs.Float64()))
		work += float64(gpus) * seconds
		all[i] = Arrival{Duration: time.Duration(seconds) * time.Second, Spec: job.Spec{
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
