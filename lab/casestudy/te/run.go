package te

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/lab/casestudy"
)

// cores is the number of processor cores that Round.Parallel assumes.
const cores = 64

// A Spec describes a run: network, demands, and how the demands change.
type Spec struct {
	Topology *Topology
	Demands  []Demand
	Rounds   [][]Demand // measured demands; nil to perturb Demands
	Paths    int        // per pair of nodes; the thesis has 4
	Move     float64    // largest relative change of a demand between rounds; the thesis has 0.1
	Seed     uint64
}

// A Round has the result of one method in one round.
type Round struct {
	Method string
	Round  int
	Demand float64 // total
	// Flow is the total flow after scaleBack, toppedUp after scaleBack and topUp.
	Flow, toppedUp float64
	violation      float64       // relative excess on the fullest link, before scaleBack
	bound          float64       // smallest proven upper bound on the flow, of all methods
	CPU            time.Duration // without the computation of bounds
	parallel       time.Duration // CPU, if the parts of pop:K run on 64 cores
	iterations     int
	limited        bool
}

// Gap returns (Bound − Flow) / Bound.
func (r *Round) Gap() float64 { return max(0, 1-r.Flow/r.bound) }

func (r *Round) toppedGap() float64 { return max(0, 1-r.toppedUp/r.bound) }

// A Method is an Allocator with a name.
type Method struct {
	name string
	Allocator
}

// Run runs all methods on the same rounds, and returns the results by round, then method. It also passes the results of
// each round to report. If a method fails, it returns the earlier rounds and the error.
func Run(ctx context.Context, s Spec, methods []Method, rounds int, clock casestudy.Clock, report func([]Round)) ([]Round, error) {
	in, err := s.start()
	if err != nil {
		return nil, err
	}
	var all []Round
	for k := range rounds {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if err := s.move(in, k); err != nil {
			return all, err
		}
		first := len(all)
		for _, m := range methods {
			r, err := in.round(ctx, m, clock)
			if err != nil {
				return all[:first], fmt.Errorf("%s: round %d: %w", m.name, k, err)
			}
			r.Round = k
			all = append(all, *r)
		}
		share(all[first:])
		if report != nil {
			report(all[first:])
		}
	}
	return all, nil
}

func (s *Spec) start() (*Instance, error) {
	if err := s.Topology.validate(); err != nil {
		return nil, fmt.Errorf("te: %w", err)
	}
	if s.Rounds != nil {
		s.Demands = everyPair(s.Rounds)
	}
	if len(s.Demands) == 0 {
		return nil, fmt.Errorf("te: %s: no demands", s.Topology.Name)
	}
	return &Instance{
		topology: s.Topology, demands: slices.Clone(s.Demands),
		paths: edgeDisjoint(s.Topology, s.Demands, s.Paths),
	}, nil
}

func (s *Spec) move(in *Instance, k int) error {
	switch {
	case s.Rounds == nil && k > 0:
		perturb(in.demands, s.Move, s.Seed, k)
	case s.Rounds != nil && k >= len(s.Rounds):
		return fmt.Errorf("te: round %d, but there are demands for %d rounds only", k, len(s.Rounds))
	case s.Rounds != nil:
		for j := range in.demands {
			in.demands[j].volume = 0
		}
		for _, d := range s.Rounds[k] {
			j, _ := slices.BinarySearchFunc(in.demands, d, bySource)
			in.demands[j].volume = d.volume
		}
	}
	return nil
}

func everyPair(rounds [][]Demand) []Demand {
	all := slices.Concat(rounds...)
	slices.SortFunc(all, bySource)
	return slices.CompactFunc(all, func(a, b Demand) bool { return bySource(a, b) == 0 })
}

func bySource(a, b Demand) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.target, b.target))
}

func (in *Instance) round(ctx context.Context, m Method, clock casestudy.Clock) (*Round, error) {
	before := clock.Read()
	a, err := m.Allocate(ctx, in)
	if err != nil {
		return nil, err
	}
	solved := clock.Read()
	r := &Round{Method: m.name, Demand: Total(in.demands), bound: math.Inf(1), iterations: a.iterations, limited: a.limited}
	if a.bound != nil {
		r.bound = a.bound()
	}
	r.violation, _, _ = in.violation(a.flow)
	checked := clock.Read()
	in.scaleBack(a.flow)
	r.Flow = sum(a.flow)
	in.topUp(a.flow)
	r.toppedUp = sum(a.flow)
	r.CPU = clock.Read() - checked + solved - before
	r.parallel = r.CPU
	if len(a.parts) > 0 {
		r.parallel += casestudy.Makespan(a.parts, cores) - casestudy.Makespan(a.parts, 1)
	}
	if math.IsNaN(r.Flow) {
		return nil, fmt.Errorf("flow %v, want a number", r.Flow)
	}
	return r, nil
}

func share(rounds []Round) {
	least := math.Inf(1)
	for i := range rounds {
		least = min(least, rounds[i].bound, rounds[i].Demand)
	}
	for i := range rounds {
		rounds[i].bound = least
	}
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// A Summary has means of one method over rounds.
type Summary struct {
	method                 string
	rounds                 int
	demand, Flow, toppedUp float64
	Served                 float64 // Flow over Demand
	Gap, toppedGap         float64
	violation              float64       // largest
	CPU, Parallel, Worst   time.Duration // Worst is the largest CPU
	limited                int           // rounds in which a solver stopped at its iteration limit
}

// Summarise returns a Summary per method, over the rounds from first on. The thesis omits the first 5 of 20 rounds.
func Summarise(rounds []Round, first int) []Summary {
	var all []Summary
	for i := range rounds {
		r := &rounds[i]
		at := slices.IndexFunc(all, func(s Summary) bool { return s.method == r.Method })
		if at < 0 {
			at = len(all)
			all = append(all, Summary{method: r.Method})
		}
		if r.Round >= first {
			all[at].add(r)
		}
	}
	for i := range all {
		all[i].divide()
	}
	return all
}

func (s *Summary) add(r *Round) {
	s.rounds++
	s.demand += r.Demand
	s.Flow += r.Flow
	s.toppedUp += r.toppedUp
	s.Gap += r.Gap()
	s.toppedGap += r.toppedGap()
	s.violation = max(s.violation, r.violation)
	s.CPU += r.CPU
	s.Parallel += r.parallel
	s.Worst = max(s.Worst, r.CPU)
	if r.limited {
		s.limited++
	}
}

func (s *Summary) divide() {
	if s.rounds == 0 {
		return
	}
	n := float64(s.rounds)
	s.Served = s.Flow / s.demand
	for _, x := range []*float64{&s.demand, &s.Flow, &s.toppedUp, &s.Gap, &s.toppedGap} {
		*x /= n
	}
	s.CPU /= time.Duration(s.rounds)
	s.Parallel /= time.Duration(s.rounds)
}
