package shards

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/oxgang/oxgang/internal/rng"
)

// A Drift names how unevenly requests hit the shards, and how that changes from round to round. Unevenness is a Zipf
// exponent.
type Drift string

// The drifts. Source: thesis §5.2.1, "Load distributions".
const (
	Stateless Drift = "stateless" // zₖ uniform in [ZipfMin, ZipfMax]
	Stateful  Drift = "stateful"  // zₖ = zₖ₋₁ (1 ± Step)
)

// Drifts returns all drifts.
func Drifts() []Drift { return []Drift{Stateless, Stateful} }

// A Spec describes a workload of shards and servers.
type Spec struct {
	Shards, Servers  int
	Drift            Drift
	ZipfMin, ZipfMax float64 // range of the Zipf exponent
	Step             float64 // relative change of the exponent in a round, if Stateful
	Epsilon          float64 // see Instance
	// Headroom is the servers' memory divided by the memory of one replica of each shard.
	Headroom   float64
	SizeSpread float64 // sizes of shards are 1 ± SizeSpread
	Seed       uint64
}

// DefaultSpec returns the thesis' smaller case: 1,024 shards of one size on 128 servers, room for 16 replicas
// each, exponents 0.25 to 0.75, ε = 5 %. Sizes, memory and exponents are as in POP's published benchmark. Source:
// thesis §5.2.1.
func DefaultSpec() Spec {
	return Spec{
		Shards: 1024, Servers: 128, Drift: Stateless,
		ZipfMin: 0.25, ZipfMax: 0.75, Step: 0.1, Epsilon: 0.05, Headroom: 2, Seed: 1,
	}
}

// Validate returns all errors, joined.
func (s *Spec) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(s.Servers >= 1 && s.Servers <= s.Shards, "servers %d, want 1 to %d, the number of shards", s.Servers, s.Shards)
	check(s.Drift == Stateless || s.Drift == Stateful, "load %q, want one of %v", s.Drift, Drifts())
	check(s.ZipfMin > 0 && s.ZipfMin < s.ZipfMax && s.ZipfMax <= 2,
		"zipf exponents %v to %v, want an ascending range in 0 to 2", s.ZipfMin, s.ZipfMax)
	check(s.Step > 0 && s.Step < 1 && s.ZipfMin*(1+s.Step)*(1+s.Step) <= s.ZipfMax,
		"step %v, want more than 0 and small against the range of exponents", s.Step)
	check(s.Epsilon > 0 && s.Epsilon <= 1, "epsilon %v, want more than 0 and at most 1", s.Epsilon)
	check(s.Headroom > 1 && s.Headroom <= 1e6, "headroom %v, want more than 1", s.Headroom)
	check(s.SizeSpread >= 0 && s.SizeSpread < 1, "size spread %v, want at least 0 and below 1", s.SizeSpread)
	return errors.Join(errs...)
}

// A Workload generates the loads of the shards, round after round.
type Workload struct {
	spec   Spec
	sizes  []float64
	memory []float64
	random *rand.Rand
	zipf   float64
}

// NewWorkload returns a Workload; the spec must be valid.
func NewWorkload(spec Spec) (*Workload, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	w := &Workload{
		spec:   spec,
		sizes:  make([]float64, spec.Shards),
		memory: make([]float64, spec.Servers),
		random: rng.Stream(spec.Seed, "shards/zipf/"+string(spec.Drift)),
		zipf:   (spec.ZipfMin + spec.ZipfMax) / 2,
	}
	spread, total := rng.Stream(spec.Seed, "shards/sizes"), 0.0
	for j := range w.sizes {
		w.sizes[j] = 1 + spec.SizeSpread*(2*spread.Float64()-1)
		total += w.sizes[j]
	}
	for i := range w.memory {
		w.memory[i] = spec.Headroom * total / float64(spec.Servers)
	}
	return w, nil
}

// Zipf returns the Zipf exponent of the last round.
func (w *Workload) Zipf() float64 { return w.zipf }

// Next returns the Instance of the next round, without Instance.Now. Shard j has load (j+1)^−z, where z is the Zipf
// exponent of the round. The instances share sizes and memory.
//
// Deviation: if a step of a Stateful exponent would leave [ZipfMin, ZipfMax], it goes the other way, because the
// thesis' unbounded walk drifts to exponents at which a few shards dominate.
func (w *Workload) Next() *Instance {
	s := &w.spec
	switch s.Drift {
	case Stateless:
		w.zipf = s.ZipfMin + w.random.Float64()*(s.ZipfMax-s.ZipfMin)
	case Stateful:
		factor := 1 + s.Step
		if w.random.Uint64()&1 == 0 {
			factor = 1 - s.Step
		}
		if z := w.zipf * factor; z < s.ZipfMin || z > s.ZipfMax {
			factor = 2 - factor
		}
		w.zipf *= factor
	}
	in := &Instance{Loads: make([]float64, s.Shards), Sizes: w.sizes, Memory: w.memory, Epsilon: s.Epsilon}
	for j := range in.Loads {
		in.Loads[j] = math.Pow(float64(j+1), -w.zipf)
	}
	return in
}

// Start returns the first assignment: shard j is on server j mod N, where N is the number of servers.
func (w *Workload) Start() Assignment {
	a := make(Assignment, w.spec.Shards)
	for j := range a {
		a[j] = []Share{{Server: j % w.spec.Servers, Part: 1}}
	}
	return a
}

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
