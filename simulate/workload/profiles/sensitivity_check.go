package profiles

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

const (
	mostOnAxis     = 1e6  // cores, GB
	leastStep      = 1e-3 // on an axis
	leastRunning   = 1e-6 // throughput
	mostThroughput = 1e6
	leastIteration = 1e-6 // seconds
	mostIteration  = 1e6
)

const stopped = 0.1

func (f *sensitivityFile) check() error {
	if err := checkAxis("cpu_axis", f.CPUs); err != nil {
		return err
	}
	if err := checkAxis("mem_axis_gb", f.Memory); err != nil {
		return err
	}
	if share := f.share(); !slices.Contains(f.Memory, share) {
		return fmt.Errorf("share_mem_gb: %g is not in mem_axis_gb, want the memory per GPU of the server that was measured", share)
	}
	if len(f.Profiles) == 0 {
		return errors.New("profiles: none, want at least one")
	}
	return nil
}

func checkAxis(name string, values []float64) error {
	if len(values) == 0 {
		return fmt.Errorf("%s: missing or empty, want the values of an axis of tput", name)
	}
	for i, v := range values {
		if !(v > 0 && v <= mostOnAxis) {
			return fmt.Errorf("%s[%d]: %g, want more than 0 and at most %g", name, i, v, float64(mostOnAxis))
		}
		if i > 0 && v < values[i-1]+leastStep {
			return fmt.Errorf("%s[%d]: %g after %g, want ascending values, at least %g apart", name, i, v, values[i-1], leastStep)
		}
	}
	return nil
}

func (f *sensitivityFile) checkProfile(p *sensitivityProfile) (first int, err error) {
	switch {
	case p.Model == "":
		return 0, errors.New("model: missing or empty, want a name")
	case p.GPUs != 1:
		return 0, fmt.Errorf("profiled_gpus: %d or missing, want at least 1", p.GPUs)
	case !(p.Iteration >= leastIteration && p.Iteration <= mostIteration):
		return 0, fmt.Errorf("iter_time_s: %g or missing, want %g to %g", p.Iteration, leastIteration, float64(mostIteration))
	case !(p.Demand >= 0 && p.Demand <= mostOnAxis):
		return 0, fmt.Errorf("mem_gb_per_gpu: %g, want 0 to %g", p.Demand, float64(mostOnAxis))
	case !slices.Contains(f.CPUs, p.Ratio):
		return 0, fmt.Errorf("cpu_gpu_ratio: %g or missing, want one of cpu_axis %v", p.Ratio, f.CPUs)
	case len(p.Throughput) != len(f.CPUs):
		return 0, fmt.Errorf("tput: %d rows, want %d, one for each of cpu_axis", len(p.Throughput), len(f.CPUs))
	}
	for i, row := range p.Throughput {
		if len(row) != len(f.Memory) {
			return 0, fmt.Errorf("tput[%d]: %d cells, want %d, one for each of mem_axis_gb", i, len(row), len(f.Memory))
		}
	}
	if first = firstRunning(p.Throughput); first == len(f.Memory) {
		return 0, fmt.Errorf("tput: at most %g everywhere, which stands for a job that does not run", stopped)
	}
	return first, checkCells(p.Throughput, first)
}

func firstRunning(cells [][]float64) int {
	for j := range cells[0] {
		if slices.ContainsFunc(cells, func(row []float64) bool { return !(row[j] <= stopped) }) {
			return j
		}
	}
	return len(cells[0])
}

// checkCells rejects cells that are out of range, or slower than one with less. Columns before first are
// stopped jobs.
func checkCells(cells [][]float64, first int) error {
	for i, row := range cells {
		for j, x := range row {
			switch {
			case j < first && !(x >= 0):
				return fmt.Errorf("tput[%d][%d]: %g, want at least 0", i, j, x)
			case j < first:
			case !(x >= leastRunning && x <= mostThroughput):
				return fmt.Errorf("tput[%d][%d]: %g or missing, want %g to %g", i, j, x, leastRunning, float64(mostThroughput))
			case i > 0 && x < cells[i-1][j]:
				return fmt.Errorf("tput[%d][%d]: %g with more CPUs, after %g, want no less", i, j, x, cells[i-1][j])
			case j > first && x < row[j-1]:
				return fmt.Errorf("tput[%d][%d]: %g with more memory, after %g, want no less", i, j, x, row[j-1])
			}
		}
	}
	return nil
}

// CheckSensitivity returns an error that names all applications that were measured with more CPUs per GPU than the
// largest node has, or that need more memory per GPU. Nodes that do not count CPUs and memory suit every application.
func CheckSensitivity(c workload.Catalog, largest cluster.Resources) error {
	if largest.CPUs == 0 || largest.Memory == 0 {
		return nil
	}
	var errs []error
	for _, name := range c.Names() {
		s := c[name].Sensitivity
		if s == nil {
			continue
		}
		if n := len(s.CPUs); n > 0 && s.CPUs[n-1].CPUs > largest.CPUs {
			errs = append(errs, fmt.Errorf("application %s: cpu_axis: measured with %g CPUs, the largest node has %g: leave out the rows beyond, or is it another server's file?", name, s.CPUs[n-1].CPUs, largest.CPUs))
		}
		if s.Working > largest.Memory {
			errs = append(errs, fmt.Errorf("application %s: mem_axis_gb: it runs with %g GB or more, the largest node has %g", name, float64(s.Working)/gigabyte, float64(largest.Memory)/gigabyte))
		}
	}
	return errors.Join(errs...)
}
