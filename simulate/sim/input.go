package sim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

type input struct {
	o       *Options
	catalog workload.Catalog
	steady  workload.Steadies // of arrivals known by their duration
	full    *cluster.Cluster
}

func (in *input) validate(arrivals []*workload.Arrival) error {
	errs := []error{in.o.Validate(), in.setInitial(arrivals)}
	for i, win := range in.o.Faults.Maintenance {
		for _, id := range win.Nodes {
			if _, ok := in.full.Index(id); !ok {
				errs = append(errs, fmt.Errorf("maintenance window %d: no node %q", i, id))
			}
		}
	}
	seen := make(map[job.ID]bool, len(arrivals))
	for _, a := range arrivals {
		if seen[a.Spec.ID] {
			errs = append(errs, fmt.Errorf("job %s: ID is used twice", a.Spec.ID))
		}
		seen[a.Spec.ID] = true
		if _, ok := in.catalog[a.Application]; !ok && a.Application != "" {
			errs = append(errs, fmt.Errorf("job %s: unknown application %q", a.Spec.ID, a.Application))
		} else if err := in.countable(a); err != nil {
			errs = append(errs, err)
		}
		if err := Fits(in.full, &a.Spec); err != nil {
			errs = append(errs, err)
		}
		if len(errs) > 20 {
			return errors.Join(append(errs, errors.New("and more"))...)
		}
	}
	return errors.Join(errs...)
}

func (in *input) countable(a *workload.Arrival) error {
	app := in.application(a)
	if in.o.Public.WholeRounds && app.Curve != nil {
		return fmt.Errorf("job %s: application %s has a training curve, want jobs that count steps with whole rounds", a.Spec.ID, a.Application)
	}
	_, err := app.Regimes(&a.Spec)
	return err
}

func (in *input) application(a *workload.Arrival) *workload.Application {
	if a.Application != "" {
		return in.catalog[a.Application]
	}
	return in.steady.Of(&a.Spec, a.ScalingLoss)
}

func (in *input) biases(spec *job.Spec) map[cluster.GPUType]float64 {
	stream := rng.Stream(in.o.Seed, "bias/"+string(spec.ID))
	b := make(map[cluster.GPUType]float64)
	for _, t := range in.full.Types() {
		b[t.Type] = math.Exp(in.o.Noise.Bias * stream.NormFloat64())
	}
	return b
}

func (in *input) apart(p cluster.Placement) float64 {
	if in.o.CrossRack > 1 && in.full.Racks(p) > 1 {
		return in.o.CrossRack
	}
	return 1
}

func (in *input) delay(g *agent) time.Duration {
	if in.o.FreeStart && !g.started {
		return 0
	}
	if n := len(g.app.Delays); n > 0 && in.o.Restart == nil && !in.o.Public.WholeRounds {
		return g.app.Delays[min(g.starts, n-1)]
	}
	return in.restartDelay(g.app)
}

func (in *input) restartDelay(a *workload.Application) time.Duration {
	if in.o.Public.WholeRounds {
		return 0
	}
	if in.o.Restart != nil {
		return *in.o.Restart
	}
	return a.RestartDelay
}
