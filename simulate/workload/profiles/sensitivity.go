package profiles

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

type sensitivityFile struct {
	CPUs     []float64         `json:"cpu_axis"`
	Memory   []float64         `json:"mem_axis_gb"`
	Share    float64           `json:"share_mem_gb"`
	GPUType  cluster.GPUType   `json:"gpu_type"`
	Profiles []json.RawMessage `json:"profiles"`
}

type sensitivityProfile struct {
	Ratio      float64     `json:"cpu_gpu_ratio"`
	Model      string      `json:"model"`
	GPUs       int         `json:"profiled_gpus"`
	Demand     float64     `json:"mem_gb_per_gpu"`
	Iteration  float64     `json:"iter_time_s"`
	Throughput [][]float64 `json:"tput"`
}

// The server of the public profiles. Source: Synergy §5.1.
const (
	defaultRatio = 3    // CPUs per GPU
	defaultShare = 62.5 // GB of memory per GPU
)

// ReadSensitivity reads measured speeds by CPUs and memory (sensitivity matrices), and fits an application to
// each:
//
//	{"cpu_axis": [1, 2, ...], "mem_axis_gb": [20.83, 62.5, ...],
//	 "profiles": [{"model": "m", "profiled_gpus": 1, "cpu_gpu_ratio": 3,
//	               "iter_time_s": 0.6, "mem_gb_per_gpu": 62.5, "tput": [[...], ...]}]}
//
// Axes are CPU cores and 10^9 bytes per GPU, ascending. tput is throughput in any unit, with a row per CPU count
// and a column per amount of memory. iter_time_s is the seconds of an iteration with the GPU-proportional share of
// a server with cpu_gpu_ratio CPUs and share_mem_gb memory (default 62.5) per GPU; both must be on the axes. A
// column without values above 0.1 has too little memory to run. If mem_gb_per_gpu is between the last such column
// and the next, the job runs with that much memory. gpu_type is v100 by default. Other keys, and profiles of
// several GPUs, are ignored.
//
// It uses the profiles of servers with ratio CPUs per GPU if present, else with 3, else with the ratio of the
// first profile.
//
// It returns an error if throughput falls with more resources, or if a matrix differs by more than 3 % from a CPU
// curve with a cache. Source: Synergy §3.1.
func ReadSensitivity(r io.Reader, name string, ratio float64) (workload.Catalog, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var f sensitivityFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, placed(name, text, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	profiles, err := f.profiles()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f.catalog(profiles, ratio), nil
}

func placed(name string, text []byte, err error) error {
	at := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = e.Offset
	}
	line := 1
	for _, b := range text[:min(at, int64(len(text)))] {
		if b == '\n' {
			line++
		}
	}
	return fmt.Errorf("%s:%d: %w", name, line, typed(err))
}

func typed(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a JSON %s, want %s", e.Field, e.Value, e.Type)
	}
	return err
}

type fedProfile struct {
	model string
	ratio float64
	app   *fedApplication
}

func (f *sensitivityFile) profiles() ([]fedProfile, error) {
	var all []fedProfile
	var errs []error
	for i, text := range f.Profiles {
		var p sensitivityProfile
		if err := json.Unmarshal(text, &p); err != nil {
			errs = append(errs, fmt.Errorf("profiles[%d] (%q): %w", i, p.Model, typed(err)))
			continue
		}
		if p.GPUs > 1 {
			continue
		}
		app, err := f.application(&p)
		if err == nil && slices.ContainsFunc(all, func(o fedProfile) bool { return o.model == p.Model && o.ratio == p.Ratio }) {
			err = errors.New("second profile of one GPU, want one of each model and cpu_gpu_ratio")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("profiles[%d] (%q, cpu_gpu_ratio %g): %w", i, p.Model, p.Ratio, err))
			continue
		}
		all = append(all, fedProfile{p.Model, p.Ratio, app})
	}
	if len(all) == 0 && len(errs) == 0 {
		return nil, errors.New("profiles: none of one GPU (profiled_gpus 1), want at least one")
	}
	return all, errors.Join(errs...)
}

func (f *sensitivityFile) catalog(all []fedProfile, ratio float64) workload.Catalog {
	has := func(r float64) bool { return slices.ContainsFunc(all, func(m fedProfile) bool { return m.ratio == r }) }
	switch {
	case has(ratio):
	case has(defaultRatio):
		ratio = defaultRatio
	default:
		ratio = all[0].ratio
	}
	c := workload.Catalog{}
	for _, m := range all {
		if m.ratio == ratio {
			c[m.model] = m.app.Application(cmp.Or(f.GPUType, measuredOn))
		}
	}
	return c
}

func (f *sensitivityFile) application(p *sensitivityProfile) (*fedApplication, error) {
	first, err := f.checkProfile(p)
	if err != nil {
		return nil, err
	}
	m := matrix{cpus: f.CPUs, first: first, demand: int64(p.Demand * gigabyte)}
	for _, gb := range f.Memory {
		m.memory = append(m.memory, int64(math.Round(gb*gigabyte)))
	}
	row, column := slices.Index(f.CPUs, p.Ratio), slices.Index(f.Memory, f.share())
	share := p.Throughput[row][max(column, first)]
	for _, cells := range p.Throughput {
		rates := make([]float64, len(cells))
		for j, x := range cells {
			rates[j] = x / share / p.Iteration
		}
		m.rates = append(m.rates, rates)
	}
	return m.fed(p.Model)
}

// gigabyte is the unit of the public profiles and clusters. Source: Synergy §5.1, 500GB of a server are
// 62.5GB for each of 8 GPUs.
const gigabyte = 1e9

func (f *sensitivityFile) share() float64 { return cmp.Or(f.Share, defaultShare) }
