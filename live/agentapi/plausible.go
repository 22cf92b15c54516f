package agentapi

import "time"

// Bounds of what a report may say beyond the one before.
const (
	slack    = 10               // times the samples of a step, or the steps of a time, that were measured
	leastGap = time.Minute      // that reports are taken to be apart: they come late, and in bursts
	fastest  = time.Microsecond // a step of a job of which nothing was measured yet
)

// A pace is how fast a generation has been seen to train.
type pace struct {
	workers int           // that it said it has; 0: not known
	samples float64       // most of a step, of all workers; 0: nothing was measured
	step    time.Duration // least of a step; 0: nothing was measured
	at      time.Time     // of the last report that was taken, or of its start; zero: not known
}

// measure takes in a report that was taken at a time.
func (p *pace) measure(r *Report, now time.Time) {
	p.samples = max(p.samples, r.samples(p.workers))
	if took := r.step(); took > 0 && (p.step == 0 || took < p.step) {
		p.step = took
	}
	p.at = now
}

// samples returns those of a step of all workers; 0 if it is not said how many there are.
func (r *Report) samples(workers int) float64 {
	return float64(r.Batch.Local) * float64(r.Batch.Accumulation+1) * float64(workers)
}

// step returns the time of a step; 0 if it was not measured.
func (r *Report) step() time.Duration { return time.Duration(r.StepTime * float64(time.Second)) }

// implausible returns an ErrInvalid if a report says that more steps were done since the last one,
// or more progress made in them, than what was measured leaves room for. A first report is held
// to the batch size that it states itself.
func (t *record) implausible(r *Report, now time.Time) error {
	var b boundary
	p, steps := &t.pace, max(0, float64(r.Step-t.step))
	if most := slack * steps * max(p.samples, r.samples(p.workers)); p.workers > 0 && r.Step >= t.step && r.Progress-t.progress > most {
		b.bad("progress %v, want at most %v more than before in %v steps", r.Progress, most, steps)
	}
	if most := p.steps(now); !p.at.IsZero() && steps > most {
		b.bad("step %d, want at most %v more than before in that time", r.Step, most)
	}
	return b.err()
}

// steps returns how many there is room for since the last report.
func (p *pace) steps(now time.Time) float64 {
	took := p.step
	if took == 0 {
		took = fastest
	}
	return slack * max(now.Sub(p.at), leastGap).Seconds() / took.Seconds()
}
