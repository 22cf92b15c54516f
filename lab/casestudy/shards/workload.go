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
	Stateless Drift = "stateless" // zₖ uniform in [zipfMin, zipfMax]
	Stateful  Drift = "stateful"  // zₖ = zₖ₋₁ (1 ± Step)
)

func drifts() []Drift { return []Drift{Stateless, Stateful} }

// A Spec describes a workload of shards and servers.
type Spec struct {
	Shards, Servers  int
	Drift            Drift
	zipfMin, zipfMax float64 // range of the Zipf exponent
	step             float64 // relative change of the exponent in a round, if Stateful
	Epsilon          float64 // see Instance
	// headroom is the servers' memory divided by the memory of one replica of each shard.
	headroom   float64
	sizeSpread float64 // sizes of shards are 1 ± sizeSpread
	Seed       uint64
}

// DefaultSpec returns the thesis' smaller case: 1,024 shards of one size on 128 servers, room for 16 replicas
// each, exponents 0.25 to 0.75, ε = 5 %. Sizes, memory and exponents are as in POP's published benchmark. Source:
// thesis §5.2.1.
func DefaultSpec() Spec {
	return Spec{
		Shards: 1024, Servers: 128, Drift: Stateless,
		zipfMin: 0.25, zipfMax: 0.75, step: 0.1, Epsilon: 0.05, headroom: 2, Seed: 1,
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
	check(s.Drift == Stateless || s.Drift == Stateful, "load %q, want one of %v", s.Drift, drifts())
	check(s.zipfMin > 0 && s.zipfMin < s.zipfMax && s.zipfMax <= 2,
		"zipf exponents %v to %v, want an ascending range in 0 to 2", s.zipfMin, s.zipfMax)
	check(s.step > 0 && s.step < 1 && s.zipfMin*(1+s.step)*(1+s.step) <= s.zipfMax,
		"step %v, want more than 0 and small against the range of exponents", s.step)
	check(s.Epsilon > 0 && s.Epsilon <= 1, "epsilon %v, want more than 0 and at most 1", s.Epsilon)
	check(s.headroom > 1 && s.headroom <= 1e6, "headroom %v, want more than 1", s.headroom)
	check(s.sizeSpread >= 0 && s.sizeSpread < 1, "size spread %v, want at least 0 and below 1", s.sizeSpread)
	return errors.Join(errs...)
}

// A Workload generates the loads of the shards, round after round.
type workload struct {
	spec   Spec
	sizes  []float64
	memory []float64
	random *rand.Rand
	zipf   float64
}

func newWorkload(spec Spec) (*workload, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	w := &workload{
		spec:   spec,
		sizes:  make([]float64, spec.Shards),
		memory: make([]float64, spec.Servers),
		random: rng.Stream(spec.Seed, "shards/zipf/"+string(spec.Drift)),
		zipf:   (spec.zipfMin + spec.zipfMax) / 2,
	}
	spread, total := rng.Stream(spec.Seed, "shards/sizes"), 0.0
	for j := range w.sizes {
		w.sizes[j] = 1 + spec.sizeSpread*(2*spread.Float64()-1)
		total += w.sizes[j]
	}
	for i := range w.memory {
		w.memory[i] = spec.headroom * total / float64(spec.Servers)
	}
	return w, nil
}

// Zipf returns the Zipf exponent of the last round.
func (w *workload) Zipf() float64 { return w.zipf }

// Next returns the Instance of the next round, without Instance.Now. Shard j has load (j+1)^−z, where z is the Zipf
// exponent of the round. The instances share sizes and memory.
//
// Deviation: if a step of a Stateful exponent would leave [zipfMin, zipfMax], it goes the other way, because the
// thesis' unbounded walk drifts to exponents at which a few shards dominate.
func (w *workload) Next() *Instance {
	s := &w.spec
	switch s.Drift {
	case Stateless:
		w.zipf = s.zipfMin + w.random.Float64()*(s.zipfMax-s.zipfMin)
	case Stateful:
		factor := 1 + s.step
		if w.random.Uint64()&1 == 0 {
			factor = 1 - s.step
		}
		if z := w.zipf * factor; z < s.zipfMin || z > s.zipfMax {
			factor = 2 - factor
		}
		w.zipf *= factor
	}
	in := &Instance{loads: make([]float64, s.Shards), sizes: w.sizes, memory: w.memory, epsilon: s.Epsilon}
	for j := range in.loads {
		in.loads[j] = math.Pow(float64(j+1), -w.zipf)
	}
	return in
}

// Start returns the first assignment: shard j is on server j mod N, where N is the number of servers.
func (w *workload) Start() assignment {
	a := make(assignment, w.spec.Shards)
	for j := range a {
		a[j] = []share{{Server: j % w.spec.Servers, Part: 1}}
	}
	return a
}

// An Instance is the problem of one round: loads, sizes and memory. It is read-only.
type Instance struct {
	loads   []float64  // by shard, at least 0
	sizes   []float64  // of a replica, by shard; more than 0
	memory  []float64  // by server, in the unit of sizes
	epsilon float64    // allowed deviation of a server's load from the mean load, relative
	now     assignment // replicas before the round
}

func (in *Instance) shards() int { return len(in.loads) }

func (in *Instance) servers() int { return len(in.memory) }

func (in *Instance) mean() float64 {
	total := 0.0
	for _, l := range in.loads {
		total += l
	}
	return total / float64(in.servers())
}

func (in *Instance) validate() error {
	var errs []error
	if len(in.sizes) != len(in.loads) || len(in.now) != len(in.loads) {
		return fmt.Errorf("shards: %d loads, %d sizes, %d placements, want equal numbers", len(in.loads), len(in.sizes), len(in.now))
	}
	if len(in.loads) == 0 || len(in.memory) == 0 {
		return fmt.Errorf("shards: %d shards on %d servers, want at least one of each", len(in.loads), len(in.memory))
	}
	for j := range in.loads {
		errs = append(errs, in.validateShard(j)...)
	}
	for i, m := range in.memory {
		if !(m > 0) || math.IsInf(m, 0) {
			errs = append(errs, fmt.Errorf("server %d: memory %v, want finite and more than 0", i, m))
		}
	}
	if !(in.epsilon > 0) || in.epsilon > 1 {
		errs = append(errs, fmt.Errorf("epsilon %v, want more than 0 and at most 1", in.epsilon))
	}
	if len(errs) == 0 && (in.mean() == 0 || math.IsInf(in.mean(), 0)) {
		errs = append(errs, fmt.Errorf("mean load %v, want finite and more than 0", in.mean()))
	}
	return errors.Join(errs...)
}

func (in *Instance) validateShard(j int) (errs []error) {
	if !(in.loads[j] >= 0) || math.IsInf(in.loads[j], 0) {
		errs = append(errs, fmt.Errorf("shard %d: load %v, want finite and at least 0", j, in.loads[j]))
	}
	if !(in.sizes[j] > 0) || math.IsInf(in.sizes[j], 0) {
		errs = append(errs, fmt.Errorf("shard %d: size %v, want finite and more than 0", j, in.sizes[j]))
	}
	for _, s := range in.now[j] {
		if s.Server < 0 || s.Server >= len(in.memory) {
			errs = append(errs, fmt.Errorf("shard %d: on server %d, want one of 0 to %d", j, s.Server, len(in.memory)-1))
		}
	}
	return errs
}
