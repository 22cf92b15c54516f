// This file has the rules public-code of policy/synergy: the public Synergy simulator.

package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/synergy"
)

// public replays the public Synergy simulator. Every round it packs all jobs into an empty cluster in the order of
// a policy. It needs GPUs of one type on nodes with known CPUs and memory, and no reserved or non-preemptible
// jobs. Source: Synergy simulator.
//
// Deviation: each of these differs from the paper, because the simulator does.
//   - A job has two cells, its full demand and its GPU-proportional share; the
//     sensitivity matrix between them is not used (§3.2).
//   - Jobs are placed first fit by node and GPU, without consolidation; the paper
//     sorts runnable jobs by demand and takes the best fit (§4.2).
//   - Jobs behind one whose GPUs do not fit are tried too, whatever the order (§4).
//   - FTF runs the best treated job first, DRF looks at demands and not at what was
//     received, Tetris has no alignment (§5.7).
//   - A demand above one node is cut to the node, and the job's expected gain is
//     then in proportion to its CPUs; jobs of more than a node get their
//     GPU-proportional share (§4.2).
type public struct {
	o     synergy.Options
	nodes *placement.Nodes
}

// NewSynergy returns a policy that decides like Synergy's public simulator. o.Rules must be PublicCode.
func NewSynergy(o synergy.Options) policy.Policy { return &public{o: o} }

func (*public) Traits() policy.Traits {
	return policy.Traits{Models: true}
}

func (p *public) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := errors.Join(ctx.Err(), p.replayable(s)); err != nil {
		return nil, fmt.Errorf("synergy: public rules: round %d: %w", s.Round, err)
	}
	if p.nodes == nil || p.nodes.Cluster() != s.Cluster {
		p.nodes = placement.NewNodes(s.Cluster)
	}
	p.nodes.Reset()
	r := &publicRound{o: &p.o, s: s, t: &s.Cluster.Types()[0], nodes: p.nodes}
	for _, c := range r.line() {
		r.serve(c)
	}
	return r.plan(), nil
}

func (p *public) replayable(s *policy.Snapshot) error {
	if t := s.Cluster.Types(); len(t) != 1 || !t[0].Counts() {
		return fmt.Errorf("%d GPU types, want one, on nodes with known CPUs and memory", len(t))
	}
	for _, j := range s.Jobs {
		if j.NonPreemptive || !j.Reservation.IsZero() {
			return fmt.Errorf("job %s: non-preemptive or reserved, want neither", j.ID)
		}
	}
	return nil
}

type candidate struct {
	*policy.Job
	index int // in the snapshot
	gpus  int
	full  cluster.Resources // demand
	fair  cluster.Resources // within the GPU-proportional share
	rate  float64           // expected at fair
	gain  float64           // full over fair
	key   float64           // less comes first
	got   cluster.Resources // nothing without GPUs
	slots []placement.Slot
}

type publicRound struct {
	o     *synergy.Options
	s     *policy.Snapshot
	t     *cluster.TypeInfo
	nodes *placement.Nodes
	jobs  []*candidate // by submission
	on    []*candidate // in the order served
}

func (r *publicRound) line() []*candidate {
	key := publicKeys[r.o.Order]
	for i, j := range r.s.Jobs {
		if j.Phase == job.Profiling {
			continue
		}
		c := r.candidate(j, i)
		if c.key = key(r, c); math.IsNaN(c.key) {
			c.key = math.Inf(1) // remaining time is not a number
		}
		r.jobs = append(r.jobs, c)
	}
	line := slices.Clone(r.jobs)
	slices.SortStableFunc(line, func(a, b *candidate) int { return cmp.Compare(a.key, b.key) })
	if r.o.Order != "las" {
		return line
	}
	line = r.prefix(line)
	if r.o.Mechanism == synergy.Tune {
		slices.SortStableFunc(line, func(a, b *candidate) int { return cmp.Compare(b.gpus, a.gpus) })
	}
	return line
}

func (r *publicRound) prefix(line []*candidate) []*candidate {
	free := r.t.GPUs
	return slices.DeleteFunc(line, func(c *candidate) bool {
		if c.gpus > free {
			return true
		}
		free -= c.gpus
		return false
	})
}

func (r *publicRound) candidate(j *policy.Job, index int) *candidate {
	c := &candidate{Job: j, index: index, gpus: j.Requested(r.t.Type), gain: 1}
	share := r.t.Proportional(cluster.Configuration{GPUs: c.gpus})
	fair := cluster.Resources{GPUs: c.gpus, CPUs: share.CPUs, Memory: share.Memory}
	c.full, c.fair = fair, fair
	one := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: r.t.Type}
	cells := j.Cells(grant.Intake(j, one), r.t, 1)
	if len(cells) == 0 {
		return c
	}
	best, alone := cells[len(cells)-1], cells[0].Rate
	c.rate = float64(c.gpus) * alone
	if c.gpus > r.t.PerNode {
		return c
	}
	c.full.CPUs, c.full.Memory = float64(c.gpus)*max(best.CPUs, leastCPUs), int64(c.gpus)*demandedMemory(best.Memory)
	if alone > 0 {
		c.gain = best.Rate / alone
	}
	c.cap(r.t)
	c.fair.CPUs, c.fair.Memory = min(fair.CPUs, c.full.CPUs), min(fair.Memory, c.full.Memory)
	return c
}

func (c *candidate) cap(t *cluster.TypeInfo) {
	most := cluster.Resources{CPUs: float64(t.PerNode) * t.Share.CPUs, Memory: int64(t.PerNode) * t.Share.Memory}
	if more := c.full.CPUs - c.fair.CPUs; c.full.CPUs > most.CPUs && more > 0 {
		c.gain = 1 + (c.gain-1)*(most.CPUs-c.fair.CPUs)/more
	}
	c.full.CPUs, c.full.Memory = min(c.full.CPUs, most.CPUs), min(c.full.Memory, most.Memory)
}

const leastCPUs = 1

// demands is the simulator's bytes per GPU: language models, then measured. Source: Synergy simulator.
var demands = [...]int64{20e9, 62.5e9, 125e9, 187.5e9, 250e9}

func demandedMemory(m int64) int64 {
	for _, x := range demands {
		if m <= x {
			return x
		}
	}
	return m
}

func (c *candidate) sensitive() bool { return above(c.full, c.fair) }

func above(a, b cluster.Resources) bool { return a.CPUs > b.CPUs || a.Memory > b.Memory }

func (r *publicRound) plan() *policy.Plan {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(r.s.Jobs))}
	for i, j := range r.s.Jobs {
		if j.Phase == job.Profiling {
			p.Jobs[i].Why.Kind = policy.WaitProfile
		}
	}
	for _, c := range r.jobs {
		d := &p.Jobs[c.index]
		if c.got.GPUs > 0 {
			d.Allocation = cluster.Allocation{
				Configuration: cluster.Configuration{Nodes: len(c.slots), GPUs: c.gpus, GPUType: r.t.Type},
				CPUs:          c.got.CPUs, Memory: c.got.Memory,
			}
			d.Placement = r.nodes.Placement(c.slots, perGPU(c.got))
		}
		d.Why = r.why(c, d)
	}
	return p
}

func (r *publicRound) why(c *candidate, d *policy.Decision) policy.Reason {
	now, before := d.Allocation.Configuration, c.Allocation.Configuration
	switch {
	case now.IsZero() && r.o.Mechanism == synergy.Greedy:
		return policy.Reason{Kind: policy.WaitHost, Config: cluster.Configuration{Nodes: 1, GPUs: c.gpus, GPUType: r.t.Type}, Value: c.full.CPUs, Limit: float64(c.full.Memory)}
	case now.IsZero():
		return policy.Reason{Kind: policy.WaitNoCapacity, Config: cluster.Configuration{Nodes: 1, GPUs: c.gpus, GPUType: r.t.Type}, Value: float64(r.freeGPUs()), Limit: float64(c.gpus)}
	case !c.Holding():
		return policy.Reason{Kind: policy.Started, Config: now}
	case now != before:
		return policy.Reason{Kind: policy.Moved, Config: before}
	}
	return policy.Reason{Kind: policy.AsPlanned, Config: now}
}

// publicKeys are the simulator's sort keys: least first, ties by submission. Source: Synergy simulator.
var publicKeys = map[string]func(*publicRound, *candidate) float64{
	"fifo": func(*publicRound, *candidate) float64 { return 0 },
	"srtf": (*publicRound).left,
	"las": func(r *publicRound, c *candidate) float64 {
		return c.AttainedGPUService(r.s.Now).Seconds()
	},
	"ftf": func(r *publicRound, c *candidate) float64 {
		return (c.Age(r.s.Now).Seconds() + r.left(c)) / (c.Target / c.rate)
	},
	"drf": func(r *publicRound, c *candidate) float64 {
		gpus, cpus, memory := r.demanded(c)
		return max(gpus, cpus, memory)
	},
	"tetris": func(r *publicRound, c *candidate) float64 {
		gpus, cpus, memory := r.demanded(c)
		return (gpus + cpus + memory) * r.left(c)
	},
}

func (r *publicRound) left(c *candidate) float64 {
	left := (c.Target - c.Progress) / c.rate
	cut := c.Holding() && (c.Allocation.CPUs < c.full.CPUs*(1-1e-9) || c.Allocation.Memory < c.full.Memory)
	if r.o.Mechanism == synergy.Proportional || cut {
		return left
	}
	return left / c.gain
}

func (r *publicRound) demanded(c *candidate) (gpus, cpus, memory float64) {
	return float64(c.gpus) / float64(r.t.GPUs), c.full.CPUs / r.t.CPUs, float64(c.full.Memory) / float64(r.t.Memory)
}
