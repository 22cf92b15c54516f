package shockwave

import (
	"cmp"
	"context"
	"math"
	"os"
	"strconv"
	"strings"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/timetable"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// A window is a plan for rounds ahead.
type window struct {
	first  int // round
	rounds int
	runs   map[job.ID]entry
	types  []cluster.GPUType
	found  *timetable.Timetable
}

// An entry is what a job gets in a window.
type entry struct {
	cluster.Configuration
	timetable.Run
}

// elapsed reports whether a round is after the window.
func (w *window) elapsed(round int) bool { return round >= w.first+w.rounds }

// column returns the place of a round in the window; -1 if it is not in it.
func (w *window) column(round int) int {
	if w == nil || round < w.first || w.elapsed(round) {
		return -1
	}
	return round - w.first
}

// take takes in what was planned. If that failed, what was planned before stands.
func (p *Policy) take(s *policy.Snapshot) {
	switch found := s.Computed.(type) {
	case *window:
		p.window, p.failed = found, ""
	case error:
		p.failed = found.Error()
	}
}

// serve runs the jobs whose round it is, and on GPUs that are left whoever gains most.
func (p *Policy) serve(s *policy.Snapshot, r *queue.Round) {
	if at := p.window.column(s.Round); at >= 0 {
		for _, a := range p.active {
			if e, ok := p.window.runs[a.row.ID]; ok && e.In(at) {
				a.grant(r, e.Configuration)
			}
		}
	}
	var line []*account
	for _, a := range p.active {
		if !r.Decided(a.index) && len(a.options) > 0 {
			line = append(line, a)
		}
	}
	gains := p.gains(s, line)
	slices.SortStableFunc(line, func(a, b *account) int { return cmp.Compare(gains[b.index], gains[a.index]) })
	for _, a := range line {
		a.grantAny(r)
	}
}

// grant gives the job a configuration, if it is one of its options.
func (a *account) grant(r *queue.Round, c cluster.Configuration) {
	for i := range a.options {
		if o := &a.options[i]; o.Configuration == c {
			r.GrantAs(a.index, o.kind, c)
		}
	}
}

// grantAny gives the job what it holds, or the fastest option that there is room for.
func (a *account) grantAny(r *queue.Round) {
	best := -1
	for i := range a.options {
		o := &a.options[i]
		if r.Free(o.kind) < o.GPUs {
			continue
		}
		if o.Configuration == a.row.Allocation.Configuration {
			best = i
			break
		}
		if best < 0 || o.ahead.time() < a.options[best].ahead.time() {
			best = i
		}
	}
	if best >= 0 {
		r.GrantAs(a.index, a.options[best].kind, a.options[best].Configuration)
	}
}

// gains returns by index what a round is worth to each job, for each of its GPUs.
func (p *Policy) gains(s *policy.Snapshot, line []*account) map[int]float64 {
	gains := make(map[int]float64, len(line))
	for _, a := range line {
		o := &a.options[a.leanest]
		gains[a.index] = a.gain(s, p.o.K, o)
	}
	return gains
}

// gain returns what a round on an option is worth to the job, for each GPU.
func (a *account) gain(s *policy.Snapshot, k float64, o *option) float64 {
	u := a.utility(s.Length.Seconds())
	made := o.ahead.whole(s.Length.Seconds() - a.lost(o.Configuration))
	return a.weight(k, a.rho(s.Now, s.Length.Seconds()*20*look, 0)) * (u(made) - u(0)) / float64(o.GPUs)
}

// lost returns the seconds lost by starting on a configuration.
func (a *account) lost(c cluster.Configuration) float64 {
	if a.row.Allocation.Configuration == c {
		return 0
	}
	return a.row.RestartOverhead.Seconds()
}

// weight returns the job's budget. Source: Shockwave §6.1, Eq. 2.
func (a *account) weight(k, rho float64) float64 {
	w := a.row.Weight
	if w <= 0 {
		w = 1
	}
	return w * math.Pow(rho, k)
}

// utility returns the logarithm of the part of the job that is done, for progress made
// beyond what is. Source: Shockwave App. G.1, Eq. 7, 8.
//
// Deviation: the progress of one round is added to what is done, because the logarithm
// of nothing has no value.
func (a *account) utility(round float64) func(made float64) float64 {
	base := a.done + a.options[a.fastest].ahead.run(round)
	if v := os.Getenv("U"); v != "" {
		if e, ok := strings.CutPrefix(v, "shift"); ok {
			f, _ := strconv.ParseFloat(e, 64)
			return func(made float64) float64 { return math.Log((a.done+made)/a.total + f) }
		}
		e, _ := strings.CutPrefix(v, "lin")
		f, _ := strconv.ParseFloat(e, 64)
		return func(made float64) float64 {
			x := (a.done + made) / a.total
			if x < f {
				return math.Log(f) - (f-x)*(math.Log(f)-math.Log(1e-6))/f
			}
			return math.Log(x)
		}
	}
	return func(made float64) float64 { return math.Log((base + made) / a.total) }
}

// ahead returns the work of planning from the next round on, as things will stand if
// this round goes as planned.
func (p *Policy) ahead(s *policy.Snapshot, plan *policy.Plan) policy.Work {
	w := &window{first: s.Round + 1, rounds: p.o.Window, runs: map[job.ID]entry{}}
	for _, t := range s.Cluster.Types() {
		w.types = append(w.types, t.Type)
	}
	b := p.builder(s)
	for _, a := range p.active {
		b.add(a, plan.Jobs[a.index].Allocation.Configuration)
	}
	b.problem.Lambda = p.o.Lambda / max(b.times, 1)
	problem, ids, options, o := b.problem, b.ids, b.options, p.o.Solve
	return func(ctx context.Context) any {
		found, err := timetable.Solve(ctx, problem, o)
		if err != nil {
			return err
		}
		for i, run := range found.Runs {
			if run.Rounds != 0 {
				w.runs[ids[i]] = entry{options[i][run.Mode], run}
			}
		}
		w.found = found
		return w
	}
}

// A builder makes the program of a window. Source: Shockwave App. G.3, Eq. 11.
type builder struct {
	p       *Policy
	s       *policy.Snapshot
	round   float64 // seconds
	scale   float64 // 1/(NM)
	gpus    float64
	problem *timetable.Problem
	ids     []job.ID
	options [][]cluster.Configuration
	times   float64 // Z0
}

func (p *Policy) builder(s *policy.Snapshot) *builder {
	gpus := 0
	for _, n := range p.free {
		gpus += n
	}
	b := &builder{p: p, s: s, round: s.Length.Seconds(), gpus: float64(max(1, gpus))}
	b.scale = 1 / (float64(max(1, len(p.active))) * b.gpus)
	if os.Getenv("NORM") != "" {
		sum := 0.0
		for _, a := range p.active {
			if len(a.options) > 0 {
				sum += a.weight(p.o.K, a.rho(s.Now, b.round*(1+look*float64(b.p.o.Window)), 0))
			}
		}
		b.scale = 1 / (max(1e-300, sum) * b.gpus)
	}
	b.problem = &timetable.Problem{Rounds: p.o.Window, Capacity: slices.Clone(p.free)}
	return b
}

// add adds a job that has a configuration in this round.
func (b *builder) add(a *account, now cluster.Configuration) {
	if len(a.options) == 0 {
		return
	}
	made, ran := 0.0, 0.0
	for i := range a.options {
		if a.options[i].Configuration == now {
			ran = max(0, b.round-a.lost(now))
			made = a.options[i].ahead.run(ran)
		}
	}
	if a.total-a.done-made <= 1e-9*a.total {
		return // it will be done
	}
	rho := a.rho(b.s.Now, b.round*(1+look*float64(b.p.o.Window)), ran)
	weight := a.weight(b.p.o.K, rho) * b.scale
	u := a.utility(b.round)
	at := func(counts, more float64) timetable.Point {
		return timetable.Point{
			Value: weight * u(made+counts),
			Left:  a.options[a.fastest].ahead.after(made + more).time(),
			Load:  a.options[a.leanest].ahead.after(made+more).time() * float64(a.options[a.leanest].GPUs) / b.gpus * hload,
		}
	}
	j := timetable.Job{Idle: at(0, 0), Held: -1}
	var list []cluster.Configuration
	for i := range a.options {
		o := &a.options[i]
		m := timetable.Mode{Resource: o.kind, Amount: o.GPUs}
		lost := a.row.RestartOverhead.Seconds()
		if o.Configuration == now {
			lost, j.Held = 0, i
		}
		rest := o.ahead.after(made)
		for n := 1; n <= b.p.o.Window; n++ {
			time := float64(n)*b.round - lost
			point := at(rest.whole(time), rest.run(time))
			m.After = append(m.After, point)
			if point.Left <= 0 {
				break
			}
		}
		j.Modes = append(j.Modes, m)
		list = append(list, o.Configuration)
		if share := min(1, a.row.RestartOverhead.Seconds()/b.round); i == 0 || share > 0 {
			j.Again = max(j.Again, share*(at(rest.whole(b.round), 0).Value-j.Idle.Value))
		}
	}
	b.times += a.past + a.options[a.alone].ahead.time()
	b.problem.Jobs = append(b.problem.Jobs, j)
	b.ids, b.options = append(b.ids, a.row.ID), append(b.options, list)
}

var look, _ = strconv.ParseFloat(os.Getenv("LOOK"), 64)

var hload = func() float64 {
	if os.Getenv("HMAX") != "" {
		return 0
	}
	return 1
}()
