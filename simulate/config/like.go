package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/simulate/workload"

	"github.com/oxgang/oxgang/model/cluster"
)

// Likenesses returns the GPU types that have no profiles, each with the profiled type that it resembles (key gpu-like).
func (c *Config) Likenesses() ([]workload.Likeness, error) {
	var all []workload.Likeness
	for _, text := range c.Like {
		name, rest, ok := strings.Cut(text, "=")
		cut := strings.LastIndex(rest, "x")
		if !ok || name == "" || cut < 1 {
			return nil, notLike(text)
		}
		speed, err := strconv.ParseFloat(rest[cut+1:], 64)
		if err != nil || !(speed > 0) || math.IsInf(speed, 0) {
			return nil, notLike(text)
		}
		all = append(all, workload.Likeness{Type: cluster.GPUType(name), Like: cluster.GPUType(rest[:cut]), Speed: speed})
	}
	return all, nil
}

func notLike(text string) error {
	return fmt.Errorf("gpu-like %q, want type=profiled type x speed, as h100=a100x2.2", text)
}
