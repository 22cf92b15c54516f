package workload

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// DefaultRestartDelay is the duration of a restart for jobs of unknown applications. Source: Sia simulator.
const DefaultRestartDelay = 30 * time.Second

// BatchMark separates the model from the samples per GPU in the name of an application.
const BatchMark = " (batch size "

// Names returns the names of all applications, sorted.
func (c Catalog) Names() []string { return slices.Sorted(maps.Keys(c)) }

// Check returns an error with the names that the catalog lacks.
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

// Complete fills the zero values of a job's specification from its application, with which it shares maps. The job gets
// at least 1 GPU, and its class is the application's name.
//
// An arrival without an application becomes a job of Steady, with one sample per second of its duration. An unknown
// application, or an arrival without known work, is an error.
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

// ClassStats returns how much progress the jobs of a class truly make in each epoch, and how fast. It does not set
// their arrival rate. jobs are complete specifications of this application.
//
// Epochs follow the training curve. Without one, and for batch size schedules, there is one epoch, whose size is the
// mean target. Sizes are in samples at the efficiency of the initial batch size. The speed is the goodput at the best
// allowed batch size, on nodes with equal GPUs. If targets differ, it is the mean target divided by the mean time of
// the jobs that allow the configuration. Source: BOA §3.1.
func (a *Application) ClassStats(jobs ...*job.Spec) *perf.ClassStats {
	c := &perf.ClassStats{Class: jobs[0].Class, Restart: a.RestartDelay}
	if regimes, err := a.Regimes(jobs[0]); err == nil && regimes == nil && a.Curve != nil {
		c.Sizes, c.Speeds = a.Curve.sizes(), byEpoch{a, formsOf(jobs)}
		return c
	}
	total := 0.0
	for _, s := range jobs {
		total += s.Target
	}
	c.Sizes = []float64{total / float64(len(jobs))}
	c.Speeds = meanSpeeds{a, jobs}
	return c
}

func formsOf(jobs []*job.Spec) job.Forms {
	var forms job.Forms
	for _, s := range jobs {
		forms = forms.With(s)
	}
	return forms
}

type byEpoch struct {
	a     *Application
	forms job.Forms
}

func (b byEpoch) At(epoch int, at cluster.Configuration) float64 {
	s := b.forms.For(at)
	if s == nil {
		return 0
	}
	return finite(b.a.bestGoodput(s, cluster.Allocation{Configuration: at}, epoch) / max(1, b.a.Slowdown))
}

type meanSpeeds struct {
	a    *Application
	jobs []*job.Spec
}

func (m meanSpeeds) At(_ int, at cluster.Configuration) float64 {
	target, seconds := 0.0, 0.0
	for _, s := range m.jobs {
		if s.Allows(at) {
			target += s.Target
			seconds += m.a.Alone(s, cluster.Allocation{Configuration: at})
		}
	}
	return finite(target / seconds)
}

func (c *Curve) sizes() []float64 {
	sizes, before := make([]float64, len(c.Ends)), 0.0
	for e, end := range c.Ends {
		sizes[e], before = end-before, end
	}
	return sizes
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
