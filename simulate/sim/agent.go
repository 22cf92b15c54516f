package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/workload"
)

// An agent is one live job: its ground truth, the estimates of its training agent, and its progress, in samples at
// the efficiency of the initial batch size.
//
// Invariant: the agenda has at most the agent's next turn, and none without GPUs.
type agent struct {
	spec   *job.Spec
	app    *workload.Application
	belief *estimate.Job // the agent's estimates; nil if it never reports

	ends    []float64    // progress at the end of each epoch
	regimes []job.Regime // of a job with a schedule
	steps   *steps       // only under WholeRounds

	turn      int
	restoring bool
	over      bool // complete; it exits at the end of the round
	started   bool
	starts    int
	alloc     cluster.Allocation
	placement cluster.Placement
	shape     []int
	replicas  int
	slow      float64 // straggler factor, at least 1
	apart     float64 // factor on gradient exchange between racks, at least 1
	limits    job.BatchLimits
	fixed     job.BatchSize // set by the plan; zero: the agent chooses
	batch     job.BatchSize
	asked     *estimate.Model // the model that chose batch on these GPUs; nil: none
	step      float64         // true seconds of a pass with gradient exchange
	sync      float64         // true seconds of the exchange
	rate      float64         // true goodput, progress per second

	at       time.Time // time of progress; while restoring: when training begins
	measured time.Time // start of the next report's interval
	tick     time.Time // when the next report is due
	epochEnd time.Time // end of the epoch; zero if after tick
	progress float64
	repeats  bool    // its reports are omitted: see report
	begun    float64 // progress from which whole iterations are counted
	epoch    int
	saved    float64   // progress at the last checkpoint
	savedAt  time.Time // time of the last checkpoint of Options.Checkpoint
	epochs   int

	noise *rand.Rand // nil: reports are exact
	bias  map[cluster.GPUType]float64
	luck  *rand.Rand // nil: no stragglers
}

func newAgent(w *World, a *workload.Arrival) *agent {
	spec := &a.Spec
	g := &agent{spec: spec, app: w.in.application(a), slow: 1, apart: 1, limits: spec.Batch}
	if w.o.Public.WideBatchRange {
		g.limits.Max = max(g.limits.Max, g.app.Batch.Max)
	}
	g.count(w, a)
	if g.app.Curve != nil || g.app.Sensitivity != nil || g.app.Model != "" {
		g.belief = w.beliefs.New(g.spec)
	}
	if n := w.o.Noise; n.Report > 0 || n.Bias > 0 {
		g.noise = rng.Stream(w.o.Seed, "noise/"+string(spec.ID))
		g.bias = w.in.biases(spec)
	}
	if w.o.Noise.Straggler > 0 {
		g.luck = rng.Stream(w.o.Seed, "straggler/"+string(spec.ID))
	}
	return g
}

func (g *agent) holding() bool { return g.alloc.GPUs > 0 }

func (g *agent) halt() {
	g.turn++
	g.alloc, g.placement, g.shape, g.restoring, g.over = cluster.Allocation{}, nil, nil, false, false
}

func (g *agent) target() float64 {
	if len(g.ends) == 0 {
		return g.spec.Target
	}
	return g.ends[len(g.ends)-1]
}

// count computes the progress at the end of each epoch. A job known by its duration has the arrival's work as
// its true target.
func (g *agent) count(w *World, a *workload.Arrival) {
	g.regimes, _ = g.app.Regimes(g.spec)
	if work := a.Work(); work > 0 && work != g.spec.Target {
		g.ends = []float64{work}
	}
	switch {
	case w.o.Public.WholeRounds:
		g.steps = newSteps(g)
	case g.regimes != nil:
		g.ends = g.app.EpochEnds(g.spec, g.regimes)
	case g.app.Curve != nil:
		g.ends = g.app.Curve.Ends
	}
}

func (g *agent) run(w *World, a scheduler.Run) {
	g.fixed, g.asked, g.repeats = a.Batch, nil, false
	g.apart = w.in.apart(a.Placement)
	switch {
	case a.InPlace(g.alloc, g.placement) || a.Free && a.Allocation.Configuration == g.alloc.Configuration:
		if !g.restoring && g.steps == nil {
			g.measure(w) // before its batch size or CPUs change
		}
		g.alloc, g.placement, g.shape = a.Allocation, a.Placement, a.Placement.Shape()
		if g.restoring || g.steps != nil {
			return
		}
		g.tune()
		if g.fail(w) {
			return
		}
	case a.Resized && g.steps == nil:
		g.hold(a)
		g.fit()
		if g.restoring {
			return
		}
		g.measured, g.begun = w.now, g.progress
		g.tune()
		g.announce(w)
		if g.fail(w) {
			return
		}
	default:
		g.lose() // drops progress of a job without checkpoints
		g.hold(a)
		g.restoring, g.at = true, w.now.Add(w.in.delay(g))
		g.started, g.savedAt = true, g.at
		g.starts++
		g.slow = g.drawSlow(w)
		g.fit()
	}
	g.next(w)
}

func (g *agent) hold(a scheduler.Run) {
	g.alloc, g.placement, g.shape = a.Allocation, a.Placement, a.Placement.Shape()
	g.replicas = max(1, a.Allocation.AllGPUs()/g.spec.ReplicaGPUs(a.Allocation.GPUType))
}

func (g *agent) drawSlow(w *World) float64 {
	if g.luck != nil && g.luck.Float64() < w.o.Noise.Straggler {
		return w.o.Noise.Slow
	}
	return 1
}

func (g *agent) fit() {
	if g.app.Batch.Max <= 1 {
		return
	}
	t := g.alloc.GPUType
	_, most := g.app.Speed.LocalRange(t, g.shape)
	if own, ok := g.spec.Batch.LocalMax[t]; ok && g.limits.Max == g.spec.Batch.Max {
		most = min(most, own)
	}
	g.limits.LocalMax = map[cluster.GPUType]int{t: most}
}

func (g *agent) act(w *World) {
	if g.restoring {
		g.checkIn(w)
		return
	}
	if g.steps != nil {
		g.endSteps(w)
		return
	}
	g.settle(w)
	if w.now.Equal(g.epochEnd) && g.endEpoch(w) {
		return
	}
	if w.now.Equal(g.tick) {
		g.report(w)
	}
	if !g.fail(w) {
		g.next(w)
	}
}

func (g *agent) checkIn(w *World) {
	g.restoring, g.at, g.measured, g.begun = false, w.now, w.now, g.progress
	g.tune()
	g.announce(w)
	if !g.fail(w) {
		g.next(w)
	}
}

func (g *agent) announce(w *World) {
	w.emit(scheduler.Reported{Report: job.Report{Job: g.spec.ID, Configuration: g.alloc.Configuration, Batch: g.batch, Progress: g.progress, Epoch: g.epoch}})
}

func (g *agent) fail(w *World) bool {
	if g.rate > 0 {
		return false
	}
	w.exit(g, scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Failed, Detail: fmt.Sprintf("%s does not run on %v with %d samples per GPU", g.app.Name, g.alloc, g.batch.Local)})
	return true
}

func (g *agent) settle(w *World) {
	if !g.holding() || g.restoring || g.over || g.steps != nil || !w.now.After(g.at) {
		return
	}
	g.catchUp(w)
	g.advance(w, w.now)
}

func (g *agent) advance(w *World, at time.Time) {
	g.progress += g.rate * at.Sub(g.at).Seconds()
	g.at = at
	if c := w.o.Checkpoint; c > 0 && !g.spec.NoCheckpoint {
		for !g.savedAt.Add(c).After(at) {
			g.savedAt = g.savedAt.Add(c)
			g.saved, g.epochs = g.progress-g.rate*at.Sub(g.savedAt).Seconds(), g.epoch
		}
	}
}

func (g *agent) checkpoint() {
	if !g.spec.NoCheckpoint {
		g.saved, g.epochs = g.progress, g.epoch
	}
}

// lose returns to the last checkpoint, or to the beginning without checkpoints. Each round of whole
// steps ends with a checkpoint, so only jobs without checkpoints lose whole steps.
func (g *agent) lose() {
	g.progress, g.epoch = g.saved, g.epochs
	if g.steps != nil && g.spec.NoCheckpoint {
		g.steps = newSteps(g)
	}
}

func (g *agent) endEpoch(w *World) bool {
	g.repeats = false
	if g.epoch >= len(g.ends)-1 {
		g.progress = g.target()
		if w.o.Public.ExitOnRound {
			g.over = true
			g.checkpoint()
			return true
		}
		w.exit(g, scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Done})
		return true
	}
	g.progress, g.begun = g.ends[g.epoch], g.ends[g.epoch]
	retune := w.o.Public.RetuneOnEpoch || job.BatchAt(g.regimes, g.epoch+1) != job.BatchAt(g.regimes, g.epoch)
	if retune {
		g.measure(w)
	}
	g.epoch++
	if w.o.Checkpoint == 0 {
		g.checkpoint()
	}
	if retune {
		g.tune()
	} else {
		g.rate = g.goodput()
	}
	if w.o.ReportEpochs || g.regimes != nil && retune {
		g.announce(w)
	}
	return false
}

func (g *agent) next(w *World) {
	if g.steps != nil && !g.restoring {
		return // beginSteps pushes the entry when the round begins
	}
	g.turn++
	at := g.at
	if !g.restoring {
		at = g.plan(w)
	}
	w.agenda.push(entry{at: at, agent: g, turn: g.turn})
}

func (g *agent) plan(w *World) time.Time {
	end := g.target()
	if g.ends != nil {
		end = g.ends[g.epoch]
	}
	at, progress := w.now, g.progress
	g.tick = time.Time{}
	if g.belief != nil && !w.o.Public.ExitOnRound {
		if g.repeats {
			at, progress = g.skip(w, end)
		}
		g.tick = w.due(at)
	}
	left := max(0, end-progress) / g.rate
	if !g.tick.IsZero() && left > g.tick.Sub(at).Seconds() {
		g.epochEnd = time.Time{}
		return g.tick
	}
	if w.o.Public.RoundEpochs {
		left = math.RoundToEven(left)
	}
	g.epochEnd = at.Add(seconds(left))
	return g.epochEnd
}

func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}
