package agentapi

import "time"

// Limits of a report relative to the last one.
const (
	slack    = 10
	leastGap = time.Minute      // assumed between reports, since they may arrive late and in bursts
	fastest  = time.Microsecond // before one was measured
)

type pace struct {
	workers int           // 0 if not known
	samples float64       // per step, of all workers; 0 if not measured
	step    time.Duration // shortest; 0 if not measured
	at      time.Time     // of the last accepted report or the start; zero if not known
}

func (p *pace) measure(r *Report, now time.Time) {
	p.samples = max(p.samples, r.samples(p.workers))
	if took := r.step(); took > 0 && (p.step == 0 || took < p.step) {
		p.step = took
	}
	p.at = now
}

func (r *Report) samples(workers int) float64 {
	return float64(r.Batch.Local) * float64(r.Batch.Accumulation+1) * float64(workers)
}

func (r *Report) step() time.Duration { return time.Duration(r.StepTime * float64(time.Second)) }

// implausible returns an ErrInvalid if a report has more steps or more progress since the last one than the
// measured speed allows.
func (t *record) implausible(r *Report, now time.Time) error {
	var b boundary
	p, steps := &t.pace, max(0, float64(r.Step-t.step))
	if most := slack * steps * max(p.samples, r.samples(p.workers)); p.workers > 0 && r.Step >= t.step && r.Progress-t.progress > most {
		b.bad("progress %v, want an increase of at most %v in %v steps", r.Progress, most, steps)
	}
	if most := p.steps(now); !p.at.IsZero() && steps > most {
		b.bad("step %d, want an increase of at most %v since the last report", r.Step, most)
	}
	return b.err()
}

// steps returns the number of steps that are possible since the last report.
func (p *pace) steps(now time.Time) float64 {
	took := p.step
	if took == 0 {
		took = fastest
	}
	return slack * max(now.Sub(p.at), leastGap).Seconds() / took.Seconds()
}
