// Package run loads what a configuration describes, and simulates one policy on it.
package run

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/forecast"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// Files opens the files that a run reads.
type Files struct {
	Open func(name string) (io.ReadCloser, error)
	Dir  func(name string) fs.FS
}

// Inputs are the cluster, the jobs and their true speeds. They are immutable, so runs may share them.
type Inputs struct {
	Cluster  *cluster.Cluster
	Catalog  workload.Catalog
	Arrivals []workload.Arrival // complete jobs, by time, then ID
	Read     *parse.Summary     // dropped or invented rows of the trace; nil if generated
	Skipped  []error            // generated jobs that can never run, if bad rows are skipped

	busy        *workload.Load                   // load of the owner of nodes on loan; nil: no such nodes
	byJob       map[job.ID]*workload.Application // applications of jobs whose class has another name
	asSubmitted bool                             // some policy runs jobs as submitted, so they must fit
	restart     *time.Duration                   // cost of every start; nil: set by the application
	stretch     map[string]float64               // factor on samples, by application
	equivalents map[cluster.GPUType]int          // of GPUs on loan: job.Spec.Equivalents
	untrue      map[job.ID]*workload.Arrival     // jobs known by their duration, with the true values where the specification is wrong
	alone       *isolatedTimes                   // for finish-time fairness
}

// Load reads the cluster, profiles and trace of a configuration.
func Load(c *config.Config, files Files) (*Inputs, error) {
	in := &Inputs{restart: c.Sim.Restart, asSubmitted: someAsSubmitted(c), equivalents: c.Equivalents(), alone: &isolatedTimes{known: make(map[isolatedKey]float64)}}
	var err error
	if in.Cluster, err = c.BuildCluster(); err != nil {
		return nil, err
	}
	if in.Catalog, err = LoadCatalog(c, files); err != nil {
		return nil, err
	}
	if err := in.Catalog.Check(c.Jobs.Applications); err != nil {
		return nil, fmt.Errorf("jobs.applications: %w", err)
	}
	if c.Jobs.SameDurations {
		in.stretch = stretches(in.Catalog, in.Cluster)
	}
	if c.Trace == "" {
		in.Arrivals, err = in.generate(c)
	} else {
		in.Arrivals, err = in.read(c, files)
	}
	if err != nil {
		return nil, err
	}
	if err := in.choose(c); err != nil {
		return nil, err
	}
	in.note()
	if err := in.readBusy(c, files); err != nil {
		return nil, err
	}
	return in, nil
}

func keeps(c *config.Config, application string) bool {
	return len(c.Jobs.Applications) == 0 || slices.Contains(c.Jobs.Applications, application)
}

func (in *Inputs) choose(c *config.Config) error {
	in.Arrivals = slices.DeleteFunc(in.Arrivals, func(a workload.Arrival) bool { return !keeps(c, a.Application) })
	if len(in.Arrivals) == 0 && len(c.Jobs.Applications) > 0 {
		return fmt.Errorf("jobs.applications: the trace has no job of %s", strings.Join(c.Jobs.Applications, ", "))
	}
	if c.Jobs.Burstiness == 0 {
		return nil
	}
	if err := generate.Bursty(in.Arrivals, c.Jobs.Burstiness, c.Sim.Seed); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

func (in *Inputs) specs() map[job.ID]*job.Spec {
	if in == nil {
		return nil
	}
	all := make(map[job.ID]*job.Spec, len(in.Arrivals))
	for i := range in.Arrivals {
		all[in.Arrivals[i].Spec.ID] = &in.Arrivals[i].Spec
	}
	return all
}

func (in *Inputs) read(c *config.Config, files Files) ([]workload.Arrival, error) {
	format, file := trace.Named(c.Trace, c.Format)
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	onBad, err := parse.BadRowOf(c.OnBadRow)
	if err != nil {
		return nil, err
	}
	zone, err := config.Location(c.Zone)
	if err != nil {
		return nil, err
	}
	mapping, err := readMapping(c.Mapping, files)
	if err != nil {
		return nil, err
	}
	in.Read = new(parse.Summary)
	seq, err := trace.Open(f, format, parse.Options{
		File: file, OnBadRow: onBad, Limit: c.Limit, Zone: zone, Mapping: mapping, Summary: in.Read,
		Check: func(a *workload.Arrival) error { return in.complete(c, a) },
	})
	if err != nil {
		return nil, err
	}
	return parse.Sorted(seq)
}

func readMapping(name string, files Files) (*parse.Mapping, error) {
	if name == "" {
		return nil, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse.ReadMapping(f, name)
}

func (in *Inputs) generate(c *config.Config) ([]workload.Arrival, error) {
	o := generate.DefaultOptions(c.Generate.Kind)
	o.Seed = c.Sim.Seed
	o.Jobs = cmp.Or(c.Generate.Jobs, o.Jobs)
	o.Span = cmp.Or(c.Generate.Span, o.Span)
	o.Load = cmp.Or(c.Generate.Load, o.Load)
	o.Split, o.MultiGPU = cmp.Or(c.Generate.Split, o.Split), c.Generate.MultiGPU
	if o.GPUs > 0 {
		o.GPUs = in.Cluster.GPUs()
	}
	all, err := generate.Arrivals(o)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for i := range all {
		switch err := in.complete(c, &all[i]); {
		case err == nil:
			kept = append(kept, all[i])
		case c.OnBadRow == parse.Skip.String():
			in.Skipped = append(in.Skipped, err)
		default:
			return nil, fmt.Errorf("generated trace: %w", err)
		}
	}
	return kept, nil
}

func (in *Inputs) complete(c *config.Config, a *workload.Arrival) error {
	if !keeps(c, a.Application) {
		return nil
	}
	if err := in.Catalog.Complete(a); err != nil {
		return &parse.FieldError{Field: parse.Application, Err: err}
	}
	if factor, ok := in.stretch[a.Application]; ok {
		a.Spec.Target *= factor
	}
	misstate(c, &a.Spec, in.Catalog[a.Application])
	if string(a.Spec.Class) != a.Application {
		if in.byJob == nil {
			in.byJob = make(map[job.ID]*workload.Application)
		}
		in.byJob[a.Spec.ID] = in.Catalog[a.Application] // nil: known by its duration
	}
	adapt(c, &a.Spec)
	if a.Application == "" {
		in.adaptSteady(c, a)
	}
	limit(&a.Spec, c.Jobs.MaxGPUs)
	if err := in.lend(c, a); err != nil {
		return &parse.FieldError{Field: parse.GPUTypes, Err: err}
	}
	if err := in.knowsType(&a.Spec); err != nil {
		return &parse.FieldError{Field: parse.GPUTypes, Err: err}
	}
	spec := a.Spec
	if in.asSubmitted {
		spec.Adaptivity &^= job.GPUCount
	}
	if err := sim.Fits(in.Cluster, &spec); err != nil {
		return &parse.FieldError{Field: parse.GPUs, Err: err}
	}
	return nil
}

func (in *Inputs) knowsType(spec *job.Spec) error {
	var names []string
	for _, t := range in.Cluster.Types() {
		if spec.Eligible(t.Type) {
			return nil
		}
		names = append(names, string(t.Type))
	}
	return fmt.Errorf("job %s: GPU types %q, want one that the cluster has: %s", spec.ID, spec.GPUTypes, strings.Join(names, ", "))
}

func someAsSubmitted(c *config.Config) bool {
	return slices.ContainsFunc(c.Policies, func(name string) bool {
		p, err := NewPolicy(c, name)
		return err == nil && !p.Traits().Sizes
	})
}

const day = 24 * time.Hour

// readBusy reads or generates the load of the owner of loaned nodes. Naming a curve without such nodes is an
// error.
func (in *Inputs) readBusy(c *config.Config, files Files) error {
	file := c.Lender.Load
	if len(in.Cluster.Loans()) == 0 {
		if file != "" {
			return fmt.Errorf("lender.load %s: no nodes on loan in the cluster, want some that end in /loan", file)
		}
		return nil
	}
	low, high, err := c.Lender.Range()
	if err != nil {
		return err
	}
	if in.busy, err = in.curve(c, files); err != nil {
		return err
	}
	if high > 0 {
		in.busy = in.busy.Between(low, high)
	}
	return in.busy.Validate()
}

// leastDays is the minimum length of a generated curve, as in Lyra's trace (§7.1).
const leastDays = 15

func (in *Inputs) curve(c *config.Config, files Files) (*workload.Load, error) {
	file := c.Lender.Load
	if file == "" {
		days := leastDays
		if n := len(in.Arrivals); n > 0 {
			days = max(days, int(in.Arrivals[n-1].At/day)+1)
		}
		return workload.Diurnal(c.Sim.Seed, days), nil
	}
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse.ReadLoad(f, file)
}

func (in *Inputs) lender(c *config.Config, o *sim.Lender) {
	if in.busy == nil {
		return
	}
	o.Busy = in.busy.At
	perDay := max(1, int(day/o.Interval))
	if model := forecasts[c.Lender.Forecast]; model != nil {
		o.Forecast = func() sim.Forecaster { return forecaster{model(perDay)} }
	}
}

var forecasts = map[string]func(perDay int) forecast.Model{
	config.Seasonal:  func(perDay int) forecast.Model { return forecast.NewSeasonal(perDay) },
	config.LastValue: func(perDay int) forecast.Model { return forecast.NewLast(perDay) },
	config.DayBefore: func(perDay int) forecast.Model { return forecast.NewSeasonalNaive(perDay) },
}

type forecaster struct{ forecast.Model }

func (f forecaster) Predict(ahead int) (mean, sd []float64) {
	p := f.Model.Predict(ahead)
	return p.Mean, p.SD
}
