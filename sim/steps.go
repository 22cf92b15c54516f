package sim

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/job"
)

// steps is how far a job is under the rule WholeRounds, in passes of one GPU over
// its samples. Source: Gavel and Shockwave simulators.
type steps struct {
	total, made float64 // at the present batch size
	local       int     // samples per GPU
	asked       int     // the same, of the batch size to change to after the next round
	now         float64 // steps of the present round
	round       int     // the last in which it ran
	empty       int     // rounds in a row with no step left to make
	done        bool
}

func newSteps(g *agent) *steps {
	local := max(1, g.spec.BatchSize/max(1, g.spec.GPUs))
	if g.app.Batch.Max <= 1 {
		local = 1
	}
	return &steps{total: g.target() / float64(local), local: local, asked: local}
}

// rate returns steps per second on the GPUs held.
func rate(g *agent) float64 { return float64(g.replicas) / g.step }

// begin plans the whole steps of a round of some length, and returns how long
// they take; ok is false if not one fits.
func (s *steps) begin(g *agent, length time.Duration) (took time.Duration, ok bool) {
	most := math.Floor(rate(g) * length.Seconds())
	s.now = min(most, max(0, s.total-s.made))
	return seconds(s.now / rate(g)), most >= 1
}

// patience is the rounds in a row with no step to make after which a job is done:
// a change of batch size can leave it none. Source: Shockwave simulator, which
// takes such a round for a failure.
const patience = 5

// margin is by how much a job may leave a round empty and still fill it. Source:
// Shockwave simulator.
const margin = 5 * time.Second

// end counts the steps of the round that ends for the job now.
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

// adapt changes the batch size: if late, to what the job asked for at the end of
// its last round; otherwise to that of the epoch it has reached.
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

// change goes on with local samples per GPU: with as many epochs as before, those
// that were begun taken for made.
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

// progress returns the samples made: the target less what is left.
func (s *steps) progress(g *agent) float64 {
	return max(0, g.target()-max(0, s.total-s.made)*float64(s.local))
}

// epoch returns the epochs that are over.
func (s *steps) epoch(g *agent) int {
	if g.regimes == nil {
		return 0
	}
	return int(s.made / float64(g.app.StepsPerEpoch(s.local)))
}
