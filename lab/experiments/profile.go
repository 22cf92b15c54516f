package experiments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A Matrix compares estimated with true speeds of an application on one GPU type, for different CPUs and memory. The
// estimates come from profiling one replica. Source: Synergy §3.1, Fig. 4.
type Matrix struct {
	Application string
	GPUType     cluster.GPUType
	Share       cluster.Resources // proportional share of one GPU
	CPUs        []float64         // per GPU, ascending
	Memory      []int64           // bytes per GPU, ascending, up to a whole node's
	Believed    [][]float64       // estimated samples per second and GPU, by CPUs, then memory
	True        [][]float64       // like Believed, from the simulation
	AtShare     float64           // estimated samples per second and GPU with Share
	Counts      int               // CPUs of a whole node
	Measured    []float64         // CPU counts at which speed was measured, per GPU, in order; with the largest memory
	Took        time.Duration     // time that profiling took
	// Worst is the largest relative error of an estimate, over CPU counts 1 to Counts and Memory.
	Worst float64
}

// mostRows bounds the CPU counts not measured; columns is by memory.
const (
	mostRows = 24
	columns  = 8
)

// Sensitive returns the embedded applications whose speed depends on CPUs and memory, sorted.
func Sensitive() []string { return sensitive(profiles.Default()) }

func sensitive(catalog workload.Catalog) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(catalog)) {
		if catalog[name].Sensitivity != nil {
			names = append(names, name)
		}
	}
	return names
}

// Profile profiles the named applications, each alone on the cluster; without names, all applications whose speed
// depends on CPUs and memory. It returns a matrix for each application and GPU type. It is an error if an application
// does not depend on CPUs and memory or cannot run, or if the nodes' CPUs and memory are unknown.
func Profile(ctx context.Context, c *config.Config, files run.Files, names []string) ([]Matrix, error) {
	on, err := c.BuildCluster()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(on.Types(), func(t cluster.TypeInfo) bool { return t.Counts() }) {
		return nil, fmt.Errorf("the CPUs and memory of cluster %q are not known, want for example v100:16x8/24c/500g", c.Cluster)
	}
	catalog, err := run.LoadCatalog(c, files)
	if err != nil {
		return nil, err
	}
	known := sensitive(catalog)
	var errs []error
	for _, name := range names {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("application %q is not sensitive to CPUs and memory, want one of: %s", name, strings.Join(known, ", ")))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = known
	}
	var all []Matrix
	for _, name := range names {
		m, err := profile(ctx, c, on, catalog[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, m...)
	}
	return all, nil
}

func profile(ctx context.Context, c *config.Config, on *cluster.Cluster, app *workload.Application) ([]Matrix, error) {
	types := runsOn(app, on)
	if len(types) == 0 {
		return nil, errors.New("runs on no GPU type of the cluster with known CPUs; define its speed on others with gpu-like")
	}
	a := workload.Arrival{Application: app.Name, Spec: job.Spec{ID: job.ID(app.Name), Target: 1}}
	for _, t := range types {
		a.Spec.GPUs = max(a.Spec.GPUs, app.GPUsPerReplica[t.Type], 1)
	}
	catalog := workload.Catalog{app.Name: app}
	if err := catalog.Complete(&a); err != nil {
		return nil, err
	}
	w, err := sim.New(on, catalog, []workload.Arrival{a}, c.Sim)
	if err != nil {
		return nil, err
	}
	action := scheduler.Profile{Job: a.Spec.ID}
	for _, t := range types {
		action.Types = append(action.Types, t.Type)
	}
	reports, err := profileReports(ctx, w, action)
	if err != nil {
		return nil, err
	}
	belief := estimate.New(&a.Spec, &estimate.Options{Types: on.Types()})
	for i := range reports {
		belief.Learn(&reports[i])
	}
	var all []Matrix
	for _, t := range types {
		of := slices.DeleteFunc(slices.Clone(reports), func(r job.Report) bool { return r.Configuration.GPUType != t.Type })
		if len(of) == 0 {
			return nil, fmt.Errorf("does not run on %s, not even with all the memory of a node", t.Type)
		}
		all = append(all, matrix(app, belief, t, of))
	}
	return all, nil
}

func runsOn(app *workload.Application, on *cluster.Cluster) []cluster.TypeInfo {
	var types []cluster.TypeInfo
	for _, t := range on.Types() {
		if _, most := app.Speed.LocalRange(t.Type, []int{max(1, app.GPUsPerReplica[t.Type])}); most > 0 && t.Counts() {
			types = append(types, t)
		}
	}
	return types
}

func profileReports(ctx context.Context, w *sim.World, action scheduler.Profile) ([]job.Report, error) {
	var reports []job.Report
	for {
		ev, err := w.Next(ctx, sim.Epoch.Add(math.MaxInt64))
		if err != nil {
			return nil, err
		}
		switch ev := ev.(type) {
		case scheduler.Submitted:
			err = w.Do(ctx, []scheduler.Action{action})
		case scheduler.Reported:
			reports = append(reports, ev.Report)
		case scheduler.Profiled:
			return reports, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

type view struct {
	app    *workload.Application
	model  *estimate.Model
	report *job.Report // with a whole node's CPUs and memory
}

func (v *view) at(cpus float64, memory int64) (believed, truth float64) {
	c, batch := v.report.Configuration, v.report.Batch
	gpus := float64(c.GPUs)
	a := cluster.Allocation{Configuration: c, CPUs: gpus * cpus, Memory: int64(gpus) * memory}
	return v.model.Throughput(a, batch) / gpus, min(v.app.Throughput(c, batch)/gpus, v.app.Sensitivity.Rate(cpus, memory))
}

// matrix uses profiling reports: the search over CPU counts comes last, has the largest batch, and starts with all
// CPUs.
func matrix(app *workload.Application, belief *estimate.Job, t cluster.TypeInfo, reports []job.Report) Matrix {
	m := Matrix{Application: app.Name, GPUType: t.Type, Share: t.Share}
	batch := reports[len(reports)-1].Batch
	first := slices.IndexFunc(reports, func(r job.Report) bool { return r.Batch == batch })
	v := view{app: app, report: &reports[first]}
	v.model, _ = belief.Model()
	for i := range reports {
		m.Took += reports[i].Interval
		if i >= first {
			m.Measured = append(m.Measured, reports[i].CPUs/float64(reports[i].Configuration.GPUs))
		}
	}
	m.axes(v.report)
	m.AtShare, _ = v.at(t.Share.CPUs, t.Share.Memory)
	for _, cpus := range m.CPUs {
		var b, truth []float64
		for _, memory := range m.Memory {
			x, y := v.at(cpus, memory)
			b, truth = append(b, x), append(truth, y)
		}
		m.Believed, m.True = append(m.Believed, b), append(m.True, truth)
	}
	m.Worst = v.worst(&m)
	return m
}

func (v *view) worst(m *Matrix) float64 {
	worst := 0.0
	for n := range m.Counts {
		for _, memory := range m.Memory {
			believed, truth := v.at(float64(n+1)/float64(v.report.Configuration.GPUs), memory)
			if truth > 0 {
				worst = max(worst, math.Abs(believed/truth-1))
			}
		}
	}
	return worst
}

func (m *Matrix) axes(r *job.Report) {
	gpus := r.Configuration.GPUs
	m.Counts = int(r.CPUs)
	m.CPUs = slices.Clone(m.Measured)
	step := max(1, math.Ceil(r.CPUs/mostRows))
	for cpus := step; cpus <= r.CPUs; cpus += step {
		m.CPUs = append(m.CPUs, cpus/float64(gpus))
	}
	slices.Sort(m.CPUs)
	m.CPUs = slices.Compact(m.CPUs)
	for k := range int64(columns) {
		m.Memory = append(m.Memory, (k+1)*r.Memory/int64(gpus)/columns)
	}
}
