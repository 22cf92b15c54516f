package shards

import (
	"errors"
	"fmt"
	"math"
)

// An Instance is the problem of one round: loads, sizes and memory. It is read-only.
type Instance struct {
	Loads   []float64  // by shard, at least 0
	Sizes   []float64  // of a replica, by shard; more than 0
	Memory  []float64  // by server, in the unit of Sizes
	Epsilon float64    // allowed deviation of a server's load from the mean load, relative
	Now     Assignment // replicas before the round
}

// Shards returns the number of shards, D.
func (in *Instance) Shards() int { return len(in.Loads) }

// Servers returns the number of servers, N.
func (in *Instance) Servers() int { return len(in.Memory) }

// Mean returns 𝓛, the mean load of a server.
func (in *Instance) Mean() float64 {
	total := 0.0
	for _, l := range in.Loads {
		total += l
	}
	return total / float64(in.Servers())
}

// Validate returns all errors.
func (in *Instance) Validate() error {
	var errs []error
	if len(in.Sizes) != len(in.Loads) || len(in.Now) != len(in.Loads) {
		return fmt.Errorf("shards: %d loads, %d sizes, %d placements, want equal numbers", len(in.Loads), len(in.Sizes), len(in.Now))
	}
	if len(in.Loads) == 0 || len(in.Memory) == 0 {
		return fmt.Errorf("shards: %d shards on %d servers, want at least one of each", len(in.Loads), len(in.Memory))
	}
	for j := range in.Loads {
		errs = append(errs, in.validateShard(j)...)
	}
	for i, m := range in.Memory {
		if !(m > 0) || math.IsInf(m, 0) {
			errs = append(errs, fmt.Errorf("server %d: memory %v, want finite and more than 0", i, m))
		}
	}
	if !(in.Epsilon > 0) || in.Epsilon > 1 {
		errs = append(errs, fmt.Errorf("epsilon %v, want more than 0 and at most 1", in.Epsilon))
	}
	if len(errs) == 0 && (in.Mean() == 0 || math.IsInf(in.Mean(), 0)) {
		errs = append(errs, fmt.Errorf("mean load %v, want finite and more than 0", in.Mean()))
	}
	return errors.Join(errs...)
}

func (in *Instance) validateShard(j int) (errs []error) {
	if !(in.Loads[j] >= 0) || math.IsInf(in.Loads[j], 0) {
		errs = append(errs, fmt.Errorf("shard %d: load %v, want finite and at least 0", j, in.Loads[j]))
	}
	if !(in.Sizes[j] > 0) || math.IsInf(in.Sizes[j], 0) {
		errs = append(errs, fmt.Errorf("shard %d: size %v, want finite and more than 0", j, in.Sizes[j]))
	}
	for _, s := range in.Now[j] {
		if s.Server < 0 || s.Server >= len(in.Memory) {
			errs = append(errs, fmt.Errorf("shard %d: on server %d, want one of 0 to %d", j, s.Server, len(in.Memory)-1))
		}
	}
	return errs
}
