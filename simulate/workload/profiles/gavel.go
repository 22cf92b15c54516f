package profiles

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

var rateColumns = []string{"file", "worker_type", "job_type", "batch_size", "scale_factor", "steps_per_s"}

const spreadSuffix = "_unconsolidated"

// ReadSteps reads the applications of Gavel and Shockwave from CSV with the columns
//
//	file,worker_type,job_type,batch_size,scale_factor,steps_per_s
//
// Column file names the table; table "" selects the only one. A job type is a model and the initial samples per
// GPU: "ResNet-18 (batch size 32)". scale_factor is the number of GPUs. A step is a pass of one GPU over its
// batch, and steps_per_s counts the steps of all GPUs of a job that runs alone. So the job processes steps_per_s
// times the batch size in samples per second; 0 if it does not run. Worker types that end in _unconsolidated are
// GPUs of several nodes; without them, rows of one node are used.
//
// Every application runs with all batch sizes of its model, because its jobs may change theirs. Source: public
// Gavel and Shockwave throughputs.
//
// Deviation: measurements of two jobs that share a GPU are ignored, because no policy here shares GPUs.
func ReadSteps(r io.Reader, name, table string) (workload.Catalog, error) {
	s := stepsFile{table: table, families: map[string]*family{}}
	if err := eachRow(r, name, rateColumns, s.row); err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	if s.chosen == "" {
		return nil, fmt.Errorf("profiles: %s: table %q is not in it, want one of %s", name, table, strings.Join(s.tables, ", "))
	}
	if len(s.tables) > 1 && table == "" {
		return nil, fmt.Errorf("profiles: %s: several tables and none named, want one of %s", name, strings.Join(s.tables, ", "))
	}
	c := workload.Catalog{}
	for _, f := range s.families {
		for _, jobType := range f.jobTypes {
			if app := f.application(jobType); app != nil {
				c[jobType] = app
			}
		}
	}
	return c, nil
}

type stepsFile struct {
	table    string   // requested
	chosen   string   // selected
	tables   []string // all
	families map[string]*family
}

type family struct {
	model    string
	jobTypes []string
	rates    stepRates
}

func (s *stepsFile) row(r row) error {
	table := r.text("file")
	if !slices.Contains(s.tables, table) {
		s.tables = append(s.tables, table)
	}
	if s.table == "" && len(s.tables) == 1 || s.table == table {
		s.chosen = table
	}
	if table != s.chosen {
		return nil
	}
	jobType := r.text("job_type")
	model, local, err := typeOfJob(r)
	if err != nil {
		return err
	}
	f := s.families[model]
	if f == nil {
		f = &family{model: model}
		s.families[model] = f
	}
	if !slices.Contains(f.jobTypes, jobType) {
		f.jobTypes = append(f.jobTypes, jobType)
	}
	return f.add(r, local)
}

func typeOfJob(r row) (model string, local int, err error) {
	model, rest, named := strings.Cut(r.text("job_type"), workload.BatchMark)
	if model == "" {
		return "", 0, r.bad("job_type", "a model, or one as ResNet-18 (batch size 32)")
	}
	if !named {
		if r.text("batch_size") != "" {
			return "", 0, r.bad("batch_size", "no value, because the job type has none")
		}
		return model, 1, nil
	}
	if local, err = r.count("batch_size"); err != nil {
		return "", 0, err
	}
	if rest != strconv.Itoa(local)+")" {
		return "", 0, r.bad("batch_size", "the batch size of job type "+strconv.Quote(r.text("job_type")))
	}
	return model, local, nil
}

func (f *family) add(r row, local int) error {
	gpus, err := r.count("scale_factor")
	if err != nil {
		return err
	}
	rate, err := r.notNegative("steps_per_s")
	if err != nil {
		return err
	}
	name, spread := strings.CutSuffix(r.text("worker_type"), spreadSuffix)
	if name == "" {
		return r.bad("worker_type", "a GPU type")
	}
	if !f.rates.add(stepShape{cluster.GPUType(name), gpus, spread}, local, rate) {
		return r.bad("scale_factor", "each job type on so many GPUs of a type once")
	}
	return nil
}

func (f *family) application(jobType string) *workload.Application {
	app := &workload.Application{
		Name: jobType, Model: f.model, Speed: &f.rates,
		RestartDelay: workload.DefaultRestartDelay, StatedDelay: workload.DefaultRestartDelay, Slowdown: 1,
	}
	app.Epoch = workload.EpochSamples(f.model)
	app.Batch = f.limits()
	if len(app.Batch.LocalMax) == 0 {
		return nil
	}
	app.Batch.Init = 1
	if _, rest, named := strings.Cut(jobType, workload.BatchMark); named {
		app.Batch.Init, _ = strconv.Atoi(strings.TrimSuffix(rest, ")")) // read before
	}
	return app
}

func (f *family) limits() job.BatchLimits {
	l := job.BatchLimits{LocalMax: map[cluster.GPUType]int{}}
	for shape, s := range f.rates.shapes {
		least, most := s.bounds()
		if l.LocalMin == 0 || least < l.LocalMin {
			l.LocalMin = least
		}
		l.LocalMax[shape.gpuType] = max(l.LocalMax[shape.gpuType], most)
		l.Max = max(l.Max, most)
	}
	return l
}

type stepShape struct {
	gpuType cluster.GPUType
	gpus    int
	spread  bool // on several nodes
}

// stepRates are measured steps per second: the Speed of Gavel's applications. Batch sizes and numbers of
// GPUs without measurement do not run.
type stepRates struct {
	shapes map[stepShape]series
	zeros  map[stepShape][]int
}

func (s *stepRates) add(shape stepShape, local int, rate float64) bool {
	if s.shapes == nil {
		s.shapes, s.zeros = map[stepShape]series{}, map[stepShape][]int{}
	}
	all := s.shapes[shape]
	i, found := slices.BinarySearchFunc(all, float64(local), func(p point, b float64) int { return cmp.Compare(p.local, b) })
	if found || slices.Contains(s.zeros[shape], local) {
		return false
	}
	if rate == 0 {
		s.zeros[shape] = append(s.zeros[shape], local)
		return true
	}
	s.shapes[shape] = slices.Insert(all, i, point{local: float64(local), step: float64(shape.gpus) / rate})
	return true
}

func (s *stepRates) on(t cluster.GPUType, shape []int) series {
	nodes, gpus := 0, 0
	for _, n := range shape {
		if n > 0 {
			nodes, gpus = nodes+1, gpus+n
		}
	}
	if nodes > 1 {
		if all, ok := s.shapes[stepShape{t, gpus, true}]; ok {
			return all
		}
	}
	return s.shapes[stepShape{t, gpus, false}]
}

func (s *stepRates) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	all := s.on(t, shape)
	i, found := slices.BinarySearchFunc(all, float64(local), func(p point, b float64) int { return cmp.Compare(p.local, b) })
	if !found {
		return 0, 0, false
	}
	return all[i].step, 0, true
}

func (s *stepRates) LocalRange(t cluster.GPUType, shape []int) (least, most int) {
	all := s.on(t, shape)
	if len(all) == 0 {
		return 0, 0
	}
	return all.bounds()
}

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
