package experiments

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
)

// A PolicyMatrix lists policies and families of workloads. Its results show which policies are good only on the
// workloads for which they were made.
type PolicyMatrix struct {
	// Defaults are settings of a policy's paper, such as the length of a round, which replace the scheduler's settings.
	Defaults []PolicyDefault `yaml:"defaults"`
	Families []Family        `yaml:"families"`
}

// A PolicyDefault has settings of some policies for all families of workloads.
type PolicyDefault struct {
	Policies []string  `yaml:"policies"`
	Config   yaml.Node `yaml:"config"`
	Why      string    `yaml:"why"`
}

// A Family is a set of workloads of one kind.
type Family struct {
	Name   string    `yaml:"name"`
	Title  string    `yaml:"title"`
	Traces []int     `yaml:"traces"`
	Seeds  int       `yaml:"seeds"` // number of seeds, from 1 on; default 1
	Config yaml.Node `yaml:"config"`
}

// A Cell has the results of one policy on one family.
type Cell struct {
	Family, Policy string
	Values         []float64 // see matrixMetrics; nil if a run did not finish
	Jobs, Ended    int       // sums over all runs
	Why            string    // why some run did not finish

	Delays *metrics.Delays    // against the policy easy; nil for easy itself
	Waits  []metrics.Waits    // of finished runs
	trials []statistics.Trial // of finished runs
}

const matrixBaseline = "easy"

func matrixMetrics() []string {
	return []string{"jct_mean_h", "jct_p99_h", "makespan_h", "rho_worst", "rho_unfair_pct", "gpu_hours_per_job", "restarts_per_job"}
}

// MatrixOptions select which policies and families to run.
type MatrixOptions struct {
	Files    run.Files
	Data     string        // of shared data
	Families []string      // empty for all
	Policies []string      // empty for all
	Limit    time.Duration // after which runs are cut short
	Each     func(*Cell)   // called concurrently; may be nil
}

// LoadMatrix returns the matrix of docs/experiments/matrix.md.
func LoadMatrix() (*PolicyMatrix, error) {
	data, err := library.ReadFile(matrixFolder + "families.yaml")
	if err != nil {
		return nil, err
	}
	m, dec := &PolicyMatrix{}, yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("families.yaml: %w", err)
	}
	return m, nil
}

// Run runs every policy on every family, and returns the cells by family, then policy. If a run fails, its cell has the
// reason in Why. It returns an error for unknown families and policies, for invalid configurations, and if ctx ends.
func (m *PolicyMatrix) Run(ctx context.Context, o MatrixOptions) ([]Cell, error) {
	families, policies, err := m.choose(&o)
	if err != nil {
		return nil, err
	}
	cells := make([]Cell, len(families)*len(policies))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range families {
		for k, name := range policies {
			cell := &cells[i*len(policies)+k]
			g.Go(func() (err error) {
				if *cell, err = m.cell(ctx, &o, f, name); err == nil && o.Each != nil {
					o.Each(cell)
				}
				return err
			})
		}
	}
	err = g.Wait()
	compare(cells)
	return cells, err
}

func compare(cells []Cell) {
	baselines := make(map[string][]statistics.Trial)
	for i := range cells {
		if cells[i].Policy == matrixBaseline {
			baselines[cells[i].Family] = cells[i].trials
		}
	}
	for i := range cells {
		c := &cells[i]
		r := report.Run{}
		r.Compare(c.trials, baselines[c.Family])
		c.Delays, c.Waits = r.Delays, r.Waits
	}
}

func (m *PolicyMatrix) choose(o *MatrixOptions) (families []*Family, policies []string, err error) {
	known := make([]string, len(m.Families))
	for i := range m.Families {
		f := &m.Families[i]
		if known[i] = f.Name; len(o.Families) == 0 || slices.Contains(o.Families, f.Name) {
			families = append(families, f)
		}
	}
	for _, name := range o.Families {
		if !slices.Contains(known, name) {
			return nil, nil, fmt.Errorf("family %q is not known, want one of %s", name, strings.Join(known, ", "))
		}
	}
	if policies = o.Policies; len(policies) == 0 {
		policies = registry.Names()
	}
	for _, name := range policies {
		if _, err := registry.Find(name); err != nil {
			return nil, nil, err
		}
	}
	return families, policies, nil
}

func (m *PolicyMatrix) cell(ctx context.Context, o *MatrixOptions, f *Family, name string) (Cell, error) {
	cell := Cell{Family: f.Name, Policy: name}
	configs, err := m.configs(f, name, o.Data)
	if err != nil {
		return cell, err
	}
	var runs []measured
	for i, c := range configs {
		in, err := run.Load(c, withLibrary(o.Files))
		if err != nil {
			return cell, fmt.Errorf("%s: %w", f.Name, err)
		}
		cell.Jobs += len(in.Arrivals)
		if cell.Why != "" {
			continue
		}
		r, err := limited(ctx, o.Limit, c, in, name)
		switch {
		case ctx.Err() != nil:
			return cell, ctx.Err()
		case err != nil:
			cell.Why = strings.SplitN(err.Error(), "\n", 2)[0]
		default:
			runs = append(runs, measure(r, in))
			cell.trials = append(cell.trials, statistics.Trial{Policy: name, Seed: uint64(i), Pool: r.Result.LargestPool(), Jobs: r.Result.JobTimes()})
			cell.Ended += r.Result.Summary.Done
			cell.Why = unfinishedReason(r, o.Limit)
		}
	}
	if cell.Why == "" {
		cell.Values = valuesOf(matrixMetrics(), runs)
	}
	return cell, nil
}

func limited(ctx context.Context, limit time.Duration, c *config.Config, in *run.Inputs, name string) (*run.Run, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return run.Simulate(ctx, c, in, name)
}

func unfinishedReason(r *run.Run, limit time.Duration) string {
	switch {
	case r.Unfinished:
		return fmt.Sprintf("stopped after %v of computing", limit)
	case len(r.Refused) > 0:
		return r.FirstRefusal()[2:]
	}
	return ""
}

func (m *PolicyMatrix) configs(f *Family, name, data string) ([]*config.Config, error) {
	e, p := &Experiment{Name: "matrix/" + f.Name, Config: f.Config}, &Plan{Policy: name, Traces: f.Traces, Seeds: f.Seeds}
	for _, d := range m.Defaults {
		if slices.Contains(d.Policies, name) {
			p.Config = d.Config
		}
	}
	return e.configs(p, data)
}
