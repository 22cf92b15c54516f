package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// DefaultRestartDelay is the duration of a restart for jobs of unknown applications. Source: Sia simulator.
const DefaultRestartDelay = 30 * time.Second

// BatchMark is the text that separates the model from the samples per GPU in the name of an application.
const BatchMark = " (batch size "

// Names returns the names of all applications, sorted.
func (c Catalog) Names() []string { return slices.Sorted(maps.Keys(c)) }

// Check returns an error that names the applications that the catalog lacks.
func (c Catalog) Check(names []string) error {
	for _, name := range names {
		if c[name] == nil {
			return fmt.Errorf("unknown application %q, want one of %s", name, strings.Join(c.known(), ", "))
		}
	}
	return nil
}

func (c Catalog) known() []string {
	var names, models []string
	for _, name := range c.Names() {
		if c[name].Model == "" {
			names = append(names, name)
			continue
		}
		if model, _, several := strings.Cut(name, BatchMark); several {
			name = model + BatchMark + "N)"
		}
		if !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return append(names, models...)
}

// Complete fills the zero values of a job's specification from its application. The number of GPUs becomes at
// least 1, and the class is the application's name. The specification shares maps with the catalog.
//
// An arrival without an application becomes a job of Steady, with one sample per second of its duration. Complete
// returns an error for an unknown application, and for an arrival whose work is not known.
func (c Catalog) Complete(a *Arrival) error {
	app, target := c[a.Application], 0.0
	switch {
	case a.Application == "" && a.Duration <= 0:
		return fmt.Errorf("job %s: no application and a duration of %v, want more than 0", a.Spec.ID, a.Duration)
	case a.Application == "" && a.Spec.GPUs <= 0:
		return fmt.Errorf("job %s: no application and %d GPUs, want at least 1", a.Spec.ID, a.Spec.GPUs)
	case a.Application == "":
		app, target, a.Spec.Timed = Steady(a.Spec.GPUs), a.Duration.Seconds(), true
	case app == nil:
		return fmt.Errorf("job %s: unknown application %q, want one of %s", a.Spec.ID, a.Application, strings.Join(c.known(), ", "))
	case app.Curve != nil:
		target = app.Curve.Target()
	case a.Spec.Target <= 0 && a.Spec.Schedule.Mode != job.Given:
		return fmt.Errorf("job %s: application %s needs a target in samples", a.Spec.ID, a.Application)
	}
	app.complete(&a.Spec, target)
	regimes, err := app.Regimes(&a.Spec)
	if err != nil || regimes == nil {
		return err
	}
	ends := app.EpochEnds(&a.Spec, regimes)
	fill(&a.Spec.Schedule.Epochs, len(ends))
	if a.Spec.Schedule.Sizes == nil {
		a.Spec.Schedule.Sizes = sizes(a.Spec.Schedule.Mode, regimes)
	}
	fill(&a.Spec.Target, ends[len(ends)-1])
	return nil
}

// sizes returns the batch sizes that the user of a job knows in advance. Under GNS they only grow: users do
// not know that published profiles return to the first size in the last epoch.
func sizes(mode job.ScheduleMode, regimes []job.Regime) []int {
	var all []int
	for _, r := range regimes {
		if last := len(all) - 1; last >= 0 && mode == job.GNS && r.BatchSize < all[last] {
			break
		}
		all = append(all, r.BatchSize)
	}
	return all
}

func (a *Application) complete(s *job.Spec, target float64) {
	fill(&s.Class, job.Class(a.Name))
	fill(&s.Target, target)
	fill(&s.RestartOverhead, a.StatedDelay)
	fill(&s.RestartOverhead, a.RestartDelay)
	fill(&s.MicroBatches, a.MicroBatches)
	fill(&s.MinGPUs, 1)
	batch := a.Batch
	if a.Model != "" { // its batch sizes are per GPU
		gpus := max(1, s.GPUs)
		fill(&s.BatchSize, batch.Init*gpus)
		batch.Init, batch.Max = s.BatchSize, batch.Max*gpus
	}
	fill(&s.BatchSize, batch.Init)
	fill(&s.Batch.Init, batch.Init)
	fill(&s.Batch.Max, batch.Max)
	fill(&s.Batch.LocalMin, a.Batch.LocalMin)
	if a.Sensitivity != nil {
		fill(&s.Input, a.Sensitivity.Input)
	}
	if s.Batch.LocalMax == nil {
		s.Batch.LocalMax = a.Batch.LocalMax
	}
	if s.GPUsPerReplica == nil {
		s.GPUsPerReplica = a.GPUsPerReplica
	}
}

func fill[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// Classes returns the true statistics of the classes of a trace, sorted by name: the perfect information of BOA's
// experiments. The rate of a class is its number of jobs divided by the time of the last arrival, or by an hour if all
// arrive at once. application returns the Application of a class, given its first job, or nil if only the Duration is
// known. Source: BOA §3.1, §6.3.
func Classes(arrivals []Arrival, application func(*job.Spec) *Application) []*perf.ClassStats {
	jobs, first := map[job.Class][]*job.Spec{}, map[job.Class]*Arrival{}
	last := time.Duration(0)
	for i := range arrivals {
		s := &arrivals[i].Spec
		last = max(last, arrivals[i].At)
		if s.Class != "" {
			if jobs[s.Class] == nil {
				first[s.Class] = &arrivals[i]
			}
			jobs[s.Class] = append(jobs[s.Class], s)
		}
	}
	var all []*perf.ClassStats
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		app := cmp.Or(application(jobs[name][0]), first[name].Steady())
		c := app.ClassStats(jobs[name]...)
		c.Arrivals, c.Rate = len(jobs[name]), float64(len(jobs[name]))/cmp.Or(last, time.Hour).Seconds()
		all = append(all, c)
	}
	return all
}
