// Package gpuuse measures how jobs use the GPUs that they hold: with nvidia-smi on one machine, and from DCGM exporters
// or Prometheus on a cluster.
package gpuuse

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/live/status"
)

// A Sample is one measurement of one GPU. Unknown values are NaN. The slices of a GPU with MIG are one Sample: its
// memory is the sum over the slices, and Busy the value of the busiest slice.
type Sample struct {
	Node    string // host name; empty for this machine
	UUID    string
	Index   int     // on the node, from 0; -1 if unknown
	Pod     string  // namespace/name; empty if unknown
	Busy    float64 // share of time in which the GPU computed, 0 to 1
	Used    float64 // memory, in bytes
	Total   float64 // memory, in bytes
	Celsius float64
	Watts   float64
	Joules  float64 // since the driver started
}

// A Read returns a Sample of each GPU.
type Read func(ctx context.Context) ([]Sample, error)

// Only returns a Read of those GPUs that r returns and whose UUID is listed.
func (r Read) Only(uuids []string) Read {
	return func(ctx context.Context) ([]Sample, error) {
		all, err := r(ctx)
		return slices.DeleteFunc(all, func(s Sample) bool { return !slices.Contains(uuids, s.UUID) }), err
	}
}

func unmeasured() Sample {
	n := math.NaN()
	return Sample{Index: -1, Busy: n, Used: n, Total: n, Celsius: n, Watts: n, Joules: n}
}

// number parses a value from 0 to most, divided by unit. Drivers report "[N/A]", "[Unknown Error]" and DCGM's huge
// blank values for what they do not measure: these become NaN.
func number(text string, unit, most float64) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return math.NaN()
	}
	return within(v/unit, most)
}

func within(v, most float64) float64 {
	if !(v >= 0 && v <= most) {
		return math.NaN()
	}
	return v
}

// Limits of plausible values.
const (
	mostBytes   = 1 << 50
	mostCelsius = 200
	mostWatts   = 1e5
	mostJoules  = 1e15
)

func (s *Sample) usage() status.Usage {
	u := status.Usage{GPU: cmp.Or(s.UUID, "?"), Celsius: known(s.Celsius), Watts: known(s.Watts), Memory: status.Amount{Used: known(s.Used), Total: known(s.Total)}}
	if s.Index >= 0 {
		u.GPU = strconv.Itoa(s.Index)
	}
	if !math.IsNaN(s.Busy) {
		busy := math.Round(100*s.Busy) / 100
		u.Busy = &busy
	}
	return u
}

func known(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return math.Round(v)
}

func sorted(all []Sample) []Sample {
	slices.SortFunc(all, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Index, b.Index), cmp.Compare(a.UUID, b.UUID))
	})
	return all
}
