package run

import (
	"math"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
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
