package profiles

import (
	"fmt"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"

	"github.com/oxgang/oxgang/simulate/workload"
)

type fittedModel struct {
	name   string
	locals []int // initial samples per GPU; none: one application, whose samples are steps
	types  []fittedType
}

func (f *fittedModel) applications() []*workload.Application {
	if len(f.locals) == 0 {
		return []*workload.Application{f.application(f.name, 1)}
	}
	var all []*workload.Application
	for _, local := range f.locals {
		all = append(all, f.application(fmt.Sprintf("%s (batch size %d)", f.name, local), local))
	}
	return all
}

func (f *fittedModel) application(name string, local int) *workload.Application {
	app := &workload.Application{
		Name: name, Model: f.name,
		Batch:        job.BatchLimits{Init: local, LocalMin: local, LocalMax: map[cluster.GPUType]int{}},
		RestartDelay: workload.DefaultRestartDelay, StatedDelay: workload.DefaultRestartDelay, Slowdown: 1,
	}
	if len(f.locals) > 0 {
		app.Batch.LocalMin = f.locals[0]
	}
	for _, t := range f.types {
		app.Batch.LocalMax[t.gpuType] = t.localMax
		app.Batch.Max = max(app.Batch.Max, t.localMax)
	}
	app.Speed = &fitted{localMin: app.Batch.LocalMin, types: f.types}
	app.Epoch = workload.EpochSamples(f.name)
	return app
}
