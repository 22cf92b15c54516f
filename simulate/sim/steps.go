package sim

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// steps counts the progress of a job under WholeRounds. Source: Gavel and Shockwave simulators.
type steps struct {
	total, made float64
	local       int // samples per GPU
	asked       int // samples per GPU from the end of the next round, under LateRegimes
	now         float64
	round       int // number of the last round in which the job ran
	empty       int // rounds in a row without a step to make
	done        bool
}

func newSteps(g *agent) *steps {
	local := max(1, g.spec.BatchSize/max(1, g.spec.GPUs))
	if g.app.Batch.Max <= 1 {
		local = 1
	}
	return &steps{total: g.target() / float64(local), local: local, asked: local}
}

func rate(g *agent) float64 { return float64(g.replicas) / g.step }

func (s *steps) begin(g *agent, length time.Duration) (took time.Duration, ok bool) {
	most := math.Floor(rate(g) * length.Seconds())
	s.now = min(most, max(0, s.total-s.made))
	return seconds(s.now / rate(g)), most >= 1
}

// patience is the number of rounds in a row without a step after which a job is done: a change of batch size
// can leave none. Source: Shockwave simulator, which counts such a round as a failure.
const patience = 5

// margin is how much before the deadline a job may end a round that counts as full. Source:
// Shockwave simulator.
const margin = 5 * time.Second

func (s *steps) end(g *agent, w *World) {
	took := w.now.Sub(w.round.begin).Seconds()
	loss := w.o.Public.ResumeLoss.Seconds()
	resumed := w.round.number > 1 && s.round < w.round.number-1
	if full := w.round.full.Sub(w.round.begin) - margin; loss > 0 && resumed && took > max(loss, full.Seconds()) {
		s.now = math.Floor(s.now * (took - loss) / took)
	}
	s.made += s.now
	s.round = w.round.number
	if s.empty++; s.now > 0 || took > 0 {
		s.empty = 0
	}
	s.done = s.empty == patience || s.empty == 0 && s.made >= s.total
	if g.regimes != nil && !s.done {
		s.adapt(g, w.o.Public.LateRegimes)
	}
}

// adapt changes the batch size: if late, to the size requested in the job's previous round; otherwise to its
// epoch's.
func (s *steps) adapt(g *agent, late bool) {
	if !late {
		s.change(g, job.BatchAt(g.regimes, s.epoch(g))/g.spec.GPUs)
		s.done = s.made >= s.total
		return
	}
	s.change(g, s.asked)
	begun := math.Ceil(s.made / float64(g.app.StepsPerEpoch(s.local)))
	s.asked = g.app.Requested(g.spec, g.regimes, s.local, int(begun))
}

func (s *steps) change(g *agent, local int) {
	if local == s.local {
		return
	}
	before, after := float64(g.app.StepsPerEpoch(s.local)), float64(g.app.StepsPerEpoch(local))
	epochs, begun := math.Ceil(s.total/before), math.Ceil(s.made/before)
	s.total = math.Ceil(s.total * float64(s.local) / float64(local))
	if math.Ceil(s.total/after) != epochs {
		s.total = epochs * after
	}
	s.made, s.local = begun*after, local
}

func (s *steps) progress(g *agent) float64 {
	return max(0, g.target()-max(0, s.total-s.made)*float64(s.local))
}

func (s *steps) epoch(g *agent) int {
	if g.regimes == nil {
		return 0
	}
	return int(s.made / float64(g.app.StepsPerEpoch(s.local)))
}

// report measures, learns, reports and tunes. It omits this if it would repeat a report from which nothing
// was learned (Options.Sparse), unless gradients, noise or shared estimates could differ.
func (g *agent) report(w *World) {
	if g.repeats {
		g.measured = w.now
		return
	}
	taught := g.measure(w)
	g.tune()
	g.repeats = w.o.Sparse && !taught && g.noise == nil && g.app.Curve == nil && !w.o.Estimate.Share
}

func (w *World) due(after time.Time) time.Time {
	return Epoch.Add(after.Sub(Epoch).Truncate(w.o.ReportInterval) + w.o.ReportInterval)
}

// catchUp adds the progress of omitted reports one by one, for the same rounding.
func (g *agent) catchUp(w *World) {
	if !g.repeats || w.o.Public.ExitOnRound {
		return
	}
	due := w.due(g.at)
	if due.After(w.now) {
		return
	}
	g.advance(w, due)
	more := int(w.now.Sub(due) / w.o.ReportInterval)
	if w.o.Checkpoint > 0 {
		for ; more > 0; more-- {
			g.advance(w, g.at.Add(w.o.ReportInterval))
		}
	}
	each := g.rate * w.o.ReportInterval.Seconds()
	for range more {
		g.progress += each
	}
	g.at = g.at.Add(time.Duration(more) * w.o.ReportInterval)
	g.measured = g.at
}

func (g *agent) skip(w *World, end float64) (at time.Time, progress float64) {
	due := w.due(g.at)
	first, each := due.Sub(g.at).Seconds(), w.o.ReportInterval.Seconds()
	if !(max(0, end-g.progress)/g.rate > first) {
		return g.at, g.progress
	}
	progress = g.progress + g.rate*first
	reports := 0
	for more := g.rate * each; max(0, end-progress)/g.rate > each; reports++ {
		progress += more
	}
	return due.Add(time.Duration(reports) * w.o.ReportInterval), progress
}
