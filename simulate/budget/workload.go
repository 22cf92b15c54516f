package budget

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Workload is a stream of jobs, grouped into classes.
type Workload struct {
	Jobs    int
	Span    time.Duration      // until the last arrival
	Classes []*perf.ClassStats // sorted by name
}

// NewWorkload groups the jobs of a trace into classes of one application and, if these are fixed, equal GPUs, types and
// batch sizes. The arrival rate of a class is its number of jobs divided by Span. restart, if not nil, replaces the
// restart times of applications.
func NewWorkload(arrivals []workload.Arrival, catalog workload.Catalog, restart *time.Duration) (*Workload, error) {
	w := &Workload{Jobs: len(arrivals)}
	groups := map[job.Class][]*workload.Arrival{}
	for i := range arrivals {
		a := &arrivals[i]
		w.Span = max(w.Span, a.At)
		name := className(a, catalog[a.Application])
		groups[name] = append(groups[name], a)
	}
	if w.Span <= 0 {
		return nil, fmt.Errorf("workload: all %d jobs arrive at once, want a trace over some time to derive the arrival rate", w.Jobs)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		jobs := groups[name]
		c, err := classOf(jobs, catalog)
		if err != nil {
			errs = append(errs, fmt.Errorf("workload: class %s: %w", name, err))
			continue
		}
		c.Class, c.Arrivals, c.Rate = name, len(jobs), float64(len(jobs))/w.Span.Seconds()
		if restart != nil {
			c.Restart = *restart
		}
		w.Classes = append(w.Classes, c)
	}
	return w, errors.Join(errs...)
}

func className(a *workload.Arrival, app *workload.Application) job.Class {
	s := &a.Spec
	name := []string{cmp.Or(a.Application, "jobs known by duration")}
	if !s.Adaptivity.Has(job.GPUCount) || app == nil || app.Curve == nil {
		name = append(name, counted(s.GPUs))
	}
	if !s.Adaptivity.Has(job.BatchSizes) && app != nil {
		name = append(name, fmt.Sprintf("batch size %d", s.BatchSize))
	}
	if s.MinGPUs > 1 || s.MaxGPUs > 0 && s.Adaptivity.Has(job.GPUCount) {
		name = append(name, fmt.Sprintf("%d to %d GPUs", s.MinGPUs, s.MaxGPUs))
	}
	if len(s.GPUTypes) > 0 {
		name = append(name, fmt.Sprintf("on %v", s.GPUTypes))
	}
	return job.Class(strings.Join(name, ", "))
}

func counted(gpus int) string {
	if gpus == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", gpus)
}

func classOf(jobs []*workload.Arrival, catalog workload.Catalog) (*perf.ClassStats, error) {
	first := jobs[0]
	app := catalog[first.Application]
	switch {
	case app == nil && first.Application != "":
		return nil, fmt.Errorf("no application %q in the profiles", first.Application)
	case app == nil:
		app = first.Steady()
	}
	specs := make([]*job.Spec, len(jobs))
	for i, a := range jobs {
		specs[i] = &a.Spec
	}
	c := app.ClassStats(specs...)
	if first.Application == "" {
		c.Guessed = "speed: in proportion to GPUs, equal on all types"
	}
	return c, nil
}

func (w *Workload) checkOffers(l *PriceList, widest int) error {
	var errs []error
	for i := range l.Offers {
		o := &l.Offers[i]
		if !slices.ContainsFunc(w.Classes, func(c *perf.ClassStats) bool { return runsOn(c, o, widest) }) {
			errs = append(errs, fmt.Errorf("price list %s: offer %s: no class of the workload has a speed on GPU type %q, want a type of the profiles", l.Name, o.Name, o.Type))
		}
	}
	return errors.Join(errs...)
}
