package run

import (
	"math"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

func drawn(c *config.Config, name string, id job.ID, share float64) bool {
	return share > 0 && rng.Stream(c.Sim.Seed, name+"/"+string(id)).Float64() < share
}

func misstate(c *config.Config, spec *job.Spec, app *workload.Application) {
	if c.Jobs.WrongSize > 0 && app != nil && app.Curve != nil {
		spec.Target *= math.Exp(c.Jobs.WrongSize * rng.Stream(c.Sim.Seed, "size error/"+string(spec.ID)).NormFloat64())
	}
}

func adapt(c *config.Config, spec *job.Spec) {
	scale(c, spec)
	if drawn(c, "static", spec.ID, c.Jobs.Static) {
		keepBatch(spec)
	}
	if c.Public && spec.Adaptivity.Has(job.BatchSizes) && spec.BatchSize > 0 {
		spec.Batch.Max = max(spec.BatchSize, spec.Batch.Init)
	}
	if c.Sim.Restart != nil {
		spec.RestartOverhead = *c.Sim.Restart
	}
	if c.Jobs.Checkpoints != config.AsTraced {
		spec.NoCheckpoint = !drawn(c, "checkpoint", spec.ID, c.Jobs.Checkpoints)
	}
}

func scale(c *config.Config, spec *job.Spec) {
	switch rigid := c.Jobs.Rigid; {
	case spec.Adaptivity != job.Adaptive && spec.Adaptivity != job.StrongScaling:
	case drawn(c, "adaptivity", spec.ID, rigid):
		spec.Adaptivity, spec.Resizes = job.Rigid, false
	case spec.Adaptivity == job.Adaptive && drawn(c, "adaptivity", spec.ID, rigid+c.Jobs.StrongScaling):
		spec.Adaptivity = job.StrongScaling
	}
}

func limit(spec *job.Spec, most int) {
	if most > 0 && spec.Adaptivity.Has(job.GPUCount) && (spec.MaxGPUs == 0 || spec.MaxGPUs > most) {
		spec.MaxGPUs = most
	}
}

func keepBatch(spec *job.Spec) {
	s := &spec.Schedule
	switch s.Mode {
	case job.Unscheduled:
		return
	case job.Given: // has its own count of epochs
		s.Regimes = []job.Regime{{BatchSize: s.Regimes[0].BatchSize, Epochs: s.Epochs}}
		s.Sizes = []int{s.Regimes[0].BatchSize}
	case job.Static, job.Accordion, job.GNS:
		s.Mode, s.Sizes = job.Static, []int{spec.BatchSize}
	}
}

// profiledShare is one GPU with the GPU-proportional share of Synergy's traces. Source: Synergy
// §5.1.
var profiledShare = cluster.Allocation{
	Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, CPUs: 3, Memory: 62_500_000_000,
}

// stretches returns a factor on the samples of each application that may wait for input. It makes jobs last as
// long with the GPU-proportional share here as with the trace's. The speed with the trace's share is from the
// embedded catalog, or else from catalog. Source: public Synergy simulator, which draws durations and has
// iteration times for each ratio of CPUs to GPUs.
func stretches(catalog workload.Catalog, cl *cluster.Cluster) map[string]float64 {
	factors, embedded := make(map[string]float64), profiles.Default()
	for name, app := range catalog {
		if app.Sensitivity == nil {
			continue
		}
		here, share := proportional(app, cl)
		written := share
		if base := embedded[name]; base != nil && base.Sensitivity != nil {
			app, written = base, profiledShare.Configuration
		}
		there := profiledShare
		there.Configuration = written
		if then := speed(app, there); here > 0 && then > 0 {
			factors[name] = here / then
		}
	}
	return factors
}

// proportional returns the speed of one GPU of the first suitable type with its proportional share; 0 if
// none.
func proportional(app *workload.Application, cl *cluster.Cluster) (float64, cluster.Configuration) {
	for _, t := range cl.Types() {
		one := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: t.Type}
		if x := speed(app, t.Proportional(one)); x > 0 {
			return x, one
		}
	}
	return 0, cluster.Configuration{}
}

func speed(app *workload.Application, a cluster.Allocation) float64 {
	return app.Fed(a, job.BatchSize{Local: 1})
}
