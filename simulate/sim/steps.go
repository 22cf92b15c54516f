package sim

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// steps counts the progress of a job under the rule WholeRounds. A step is a pass of one GPU over
// its samples. Source: Gavel and Shockwave simulators.
type steps struct {
	total, made float64 // steps in all and so far, at the present batch size
	local       int     // samples per GPU
	asked       int     // samples per GPU to change to at the end of the next round, of LateRegimes
	now         float64 // steps of the present round
	round       int     // number of the last round in which the job ran
	empty       int     // rounds in a row in which there was no step left to make
	done        bool
}

// newSteps returns the steps of a job that has made none.
func newSteps(g *agent) *steps {
	local := max(1, g.spec.BatchSize/max(1, g.spec.GPUs))
	if g.app.Batch.Max <= 1 {
		local = 1
	}
	return &steps{total: g.target() / float64(local), local: local, asked: local}
}

// rate returns steps per second on the GPUs held.
func rate(g *agent) float64 { return float64(g.replicas) / g.step }

// begin plans the whole steps of a round of the given length, and returns how long they take. It
// returns false if a single step takes longer than the round.
func (s *steps) begin(g *agent, length time.Duration) (took time.Duration, ok bool) {
	most := math.Floor(rate(g) * length.Seconds())
	s.now = min(most, max(0, s.total-s.made))
	return seconds(s.now / rate(g)), most >= 1
}

// patience is the number of rounds in a row without a step to make after which a job is done. A
// change of batch size can leave a job without steps. Source: Shockwave simulator, which takes
// such a round for a failure.
const patience = 5

// margin is how much earlier than the deadline a job may end a round that still counts as full.
// Source: Shockwave simulator.
const margin = 5 * time.Second

// end counts the steps of the round, which ends now for the job.
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

// adapt changes the batch size. If late, it changes to the one that the job asked for at the end
// of the last round in which it ran; otherwise to the one of the epoch that the job has reached.
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

// change goes on with another number of samples per GPU. The job keeps its number of epochs, and
// an epoch that has begun counts as complete.
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

// progress returns the progress in samples: the target less the samples of the steps left.
func (s *steps) progress(g *agent) float64 {
	return max(0, g.target()-max(0, s.total-s.made)*float64(s.local))
}

// epoch returns how many epochs are complete.
func (s *steps) epoch(g *agent) int {
	if g.regimes == nil {
		return 0
	}
	return int(s.made / float64(g.app.StepsPerEpoch(s.local)))
}
