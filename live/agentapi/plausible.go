package agentapi

import "time"

const (
	slack    = 10
	leastGap = time.Minute      // assumed between reports, since they may arrive late and in bursts
	fastest  = time.Microsecond // before one was measured
)

type pace struct {
	workers int           // 0 if not known
	samples float64       // per step, of all workers; 0 if not measured
	most    float64       // samples per step that the hello allows; 0 if not known
	step    time.Duration // shortest; 0 if not measured
	at      time.Time     // of the last accepted report or the start; zero if not known
}

// A claim is the work that a message claims to be done since the job began.
type claim struct {
	step     int64
	progress float64 // samples
}

func (h *Hello) pace(now time.Time) pace {
	most := h.Batch.Max
	for _, r := range h.Schedule {
		most = max(most, r.BatchSize)
	}
	return pace{workers: h.WorldSize, most: float64(most), at: now}
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

// implausible returns an ErrInvalid if a message claims more steps or more progress since the last report than the
// measured speed allows. samples is the message's own number of samples per step, 0 if it has none.
func (t *record) implausible(c claim, samples float64, now time.Time) error {
	var b boundary
	p, steps := &t.pace, max(0, float64(c.step-t.step))
	if samples = max(samples, p.samples); samples == 0 {
		samples = p.most
	}
	if most := slack * max(steps, 1) * samples; p.workers > 0 && samples > 0 && c.progress-t.progress > most {
		b.bad("progress %v, want an increase of at most %v in %v steps", c.progress, most, steps)
	}
	if t.tooFar(c.step, now) {
		b.bad("step %d, want an increase of at most %v since the last report", c.step, p.steps(now))
	}
	return b.err()
}

func (t *record) tooFar(step int64, now time.Time) bool {
	return !t.pace.at.IsZero() && float64(step-t.step) > t.pace.steps(now)
}

// mostReports is how many reports a second a program may number, also those that are lost.
const mostReports = 100

// renumbered returns an ErrInvalid if the number of a report is so high that it would hide all later reports.
func (t *record) renumbered(r *Report, now time.Time) error {
	gap := max(now.Sub(t.pace.at), leastGap).Seconds()
	if most := mostReports * gap; !t.pace.at.IsZero() && float64(r.Sequence-t.sequence) > most {
		var b boundary
		b.bad("sequence %d, want an increase of at most %.0f since the last report", r.Sequence, most)
		return b.err()
	}
	return nil
}

func (p *pace) steps(now time.Time) float64 {
	took := p.step
	if took == 0 {
		took = fastest
	}
	return slack * max(now.Sub(p.at), leastGap).Seconds() / took.Seconds()
}
