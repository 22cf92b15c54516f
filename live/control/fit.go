package control

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
)

func (r *Request) fits(m *status.Node) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	slots := map[cluster.GPUType]int{}
	for i := range m.Slots {
		slots[m.Slots[i].Type]++
	}
	has := slices.Sorted(maps.Keys(slots))
	most := 0 // of one type, since a job uses one type
	for _, gpuType := range has {
		if len(r.GPUTypes) == 0 || slices.Contains(r.GPUTypes, gpuType) {
			most = max(most, slots[gpuType])
		}
	}
	for _, gpuType := range r.GPUTypes {
		if slots[gpuType] == 0 {
			bad("gpu type %s: %s has only %s", gpuType, m.Name, list(has))
		}
	}
	if r.GPUs.Max > most && len(errs) == 0 {
		bad("gpus %v: %s has %d slots for them, want at most %d", r.GPUs, m.Name, most, most)
	}
	if r.CPUs > m.CPUs.Total && m.CPUs.Total > 0 {
		bad("cpus %v: %s has %v cores, want at most that", r.CPUs, m.Name, m.CPUs.Total)
	}
	if float64(r.Memory) > m.Memory.Total && m.Memory.Total > 0 {
		bad("memory %d: %s has %.0f bytes, want at most that", r.Memory, m.Name, m.Memory.Total)
	}
	return errors.Join(errs...)
}

func list(types []cluster.GPUType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("dir: %w", err)
	case !info.IsDir():
		return fmt.Errorf("dir %s: not a directory", dir)
	}
	return nil
}
