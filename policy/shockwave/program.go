package shockwave

import (
	"context"
	"math"
	"math/bits"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/multimode"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

const heaviest = 1e30

// weight returns a job's budget: its finish-time fairness to the power k, times its own weight. Source:
// Shockwave §6.1, Eq. 2.
func (p *Policy) weight(s *policy.Snapshot, a *account) float64 {
	w := a.row.Weight
	if !(w > 0) {
		w = 1
	}
	more := 0.0
	if !p.o.Paper {
		more = float64(p.o.Window) * s.Length.Seconds()
	}
	return min(heaviest, min(heaviest, w)*math.Pow(min(1e3, a.rho(s.Now, more)), p.o.K))
}

// leastProgress replaces 0 under Options.Paper. Source: public Shockwave code.
const leastProgress = 1e-6

// utility returns the utility of a job after more progress. Source: Shockwave App. G.1, Eq. 7, 8.
func (p *Policy) utility(a *account, made float64) float64 {
	u := (a.done + made) / a.total
	if p.o.Paper {
		return math.Log(max(leastProgress, u))
	}
	return math.Log1p(u)
}

// A builder makes the program of a window. Source: Shockwave App. G.3, Eq. 11.
type builder struct {
	p       *Policy
	s       *policy.Snapshot
	round   float64 // seconds
	scale   float64 // of weights: 1/(NM), with mean 1
	weight  float64 // of the current job
	gpus    float64 // M
	problem *multimode.Problem
	ids     []job.ID
	modes   [][]cluster.Configuration
	times   float64 // Z0
}

// plan returns the work that plans a window from the next round on, from the state expected after this round.
// The work reads only immutable data.
func (p *Policy) plan(s *policy.Snapshot, now *policy.Plan) policy.Work {
	w := window{first: s.Round + 1, rounds: p.o.Window, types: p.types, free: p.free, batches: map[job.ID]int{}}
	b := p.builder(s)
	for _, a := range p.active {
		if b.add(a, now.Jobs[a.index].Allocation.Configuration) {
			w.batches[a.row.ID] = a.batch
		}
	}
	b.problem.Lambda = p.o.Lambda / max(b.times, 1)
	problem, ids, modes, o := b.problem, b.ids, b.modes, p.o.Solve
	return func(ctx context.Context) any {
		found, err := multimode.Solve(ctx, problem, o)
		if err != nil {
			return err
		}
		w := w
		w.solved, w.runs = found, map[job.ID]run{}
		for i, r := range found.Runs {
			if r.Rounds != 0 {
				w.runs[ids[i]] = run{modes[i][r.Mode], r}
			}
		}
		return &w
	}
}

func (p *Policy) builder(s *policy.Snapshot) *builder {
	b := &builder{p: p, s: s, round: s.Length.Seconds()}
	for _, n := range p.free {
		b.gpus += float64(n)
	}
	b.gpus = max(1, b.gpus)
	n, sum := 0.0, 0.0
	for _, a := range p.active {
		if len(a.options) > 0 {
			n, sum = n+1, sum+p.weight(s, a)
		}
	}
	if p.o.Paper {
		sum = n
	}
	b.scale = 1 / max(sum*b.gpus, 1e-300)
	b.problem = &multimode.Problem{Rounds: p.o.Window, Capacity: p.free}
	return b
}

func (b *builder) add(a *account, now cluster.Configuration) bool {
	if len(a.options) == 0 {
		return false
	}
	made := 0.0
	for i := range a.options {
		if a.options[i].Configuration == now {
			made = a.options[i].ahead.run(b.round - a.lost(now))
		}
	}
	if made > 0 && a.total-a.done-made <= 1e-9*a.total {
		return false
	}
	b.weight = b.p.weight(b.s, a) * b.scale
	j := multimode.Job{Idle: b.point(a, made, 0, 0), Held: -1}
	var modes []cluster.Configuration
	for i := range a.options {
		o := &a.options[i]
		if o.Configuration == now {
			j.Held = i
		}
		j.Modes = append(j.Modes, b.mode(a, o, now, made))
		modes = append(modes, o.Configuration)
	}
	j.Again = b.restartCost(a, made)
	b.times += a.past + a.options[a.alone].ahead.time()
	b.problem.Jobs, b.ids, b.modes = append(b.problem.Jobs, j), append(b.ids, a.row.ID), append(b.modes, modes)
	return true
}

func (b *builder) mode(a *account, o *option, now cluster.Configuration, made float64) multimode.Mode {
	m := multimode.Mode{Resource: o.typeIndex, Amount: o.GPUs}
	lost, ahead := 0.0, o.ahead.after(made)
	if o.Configuration != now {
		lost = a.start
	}
	for n := range b.p.o.Window {
		time := float64(n+1)*b.round - lost
		at := b.point(a, made, ahead.extended(max(0, time)), ahead.run(time))
		m.After = append(m.After, at)
		if ahead.time() <= time {
			break
		}
	}
	return m
}

// point returns the result of a job after progress made in this round and more in the window. counts is more
// with the last round counted fully.
func (b *builder) point(a *account, made, counts, more float64) multimode.Point {
	lean, left := &a.options[a.leanest], 0.0
	if !a.row.Adaptivity.Has(job.GPUCount) {
		left = a.options[a.fastest].ahead.after(made + more).time()
	}
	return multimode.Point{
		Value: b.weight * b.p.utility(a, made+counts),
		Left:  left,
		Load:  lean.ahead.after(made+more).time() * float64(lean.GPUs) / b.gpus,
	}
}

// restartCost returns the cost of each further start: the utility that the job would gain meanwhile on option
// leanest. Source: Shockwave §7.
func (b *builder) restartCost(a *account, made float64) float64 {
	ahead := a.options[a.leanest].ahead.after(made)
	round := b.p.utility(a, made+ahead.extended(b.round)) - b.p.utility(a, made)
	return b.weight * round * a.start / b.round
}

func (p *Policy) explain(s *policy.Snapshot, r *grant.Round, plan *policy.Plan) {
	for _, a := range p.active {
		d := &plan.Jobs[a.index]
		if !r.Decided(a.index) {
			p.wait(s, r, a, plan)
		} else if a.unpredictable && d.Why.Kind == policy.AsPlanned {
			d.Why = policy.Reason{Kind: policy.Unpredicted, Config: d.Allocation.Configuration, Value: float64(a.batch)}
		}
	}
	plan.Stats.Failed = p.failed
	if p.window == nil {
		return
	}
	f := p.window.solved
	plan.Stats.Iterations, plan.Stats.Objective, plan.Stats.Bound = f.Solves, f.Value, f.Bound
	plan.Stats.Gap = policy.Gap(f.Value, f.Bound) // finite; f.Gap may not be
	plan.Stats.Interrupted = f.Interrupted
	for t, price := range f.Prices {
		plan.Prices = append(plan.Prices, policy.TypePrice{Type: p.window.types[t], Price: price})
	}
}

func (p *Policy) wait(s *policy.Snapshot, r *grant.Round, a *account, plan *policy.Plan) {
	if len(a.options) == 0 {
		r.Refuse(a.index)
		return
	}
	why := &plan.Jobs[a.index].Why
	*why = policy.Turn(a.row, s.Now)
	at := p.window.column(s.Round)
	if at < 0 {
		return
	}
	run := p.window.runs[a.row.ID]
	if later := run.Rounds >> at >> 1; later != 0 { // not this round, for which there may be too few GPUs
		until, rounds := 1+bits.TrailingZeros64(later), bits.OnesCount64(later)
		*why = policy.Reason{Kind: policy.WaitPlanned, Config: run.Configuration, Value: float64(until) * s.Length.Seconds(), Limit: float64(rounds) * s.Length.Seconds()}
	}
}
