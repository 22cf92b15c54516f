package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

type statusLine struct {
	Phase        string    `json:"phase"`
	Submitted    time.Time `json:"submitted"`
	FirstStarted time.Time `json:"first_started,omitzero"`
	Finished     time.Time `json:"finished,omitzero"`
	Since        time.Time `json:"since,omitzero"`
	Service      Seconds   `json:"service,omitzero"`
	GPUService   Seconds   `json:"gpu_service,omitzero"`
	Restarts     int       `json:"restarts,omitzero"`
	Progress     float64   `json:"progress,omitzero"`
	Reported     time.Time `json:"reported,omitzero"`
	Epoch        int       `json:"epoch,omitzero"`
	Batch        [2]int    `json:"batch,omitzero"`
	MaxGPUs      int       `json:"max_gpus,omitzero"`
}

func makeStatusLine(s *job.Status) statusLine {
	return statusLine{
		s.Phase.String(), s.Submitted.UTC(), s.FirstStarted.UTC(), s.Finished.UTC(), s.Since.UTC(),
		Seconds(s.Service), Seconds(s.GPUService), s.Restarts, s.Progress, s.Reported.UTC(), s.Epoch,
		[2]int{s.Batch.Local, s.Batch.Accumulation},
		s.MaxGPUs,
	}
}

func (l *statusLine) status() (job.Status, error) {
	s := job.Status{
		Submitted: l.Submitted, FirstStarted: l.FirstStarted, Finished: l.Finished, Since: l.Since,
		Service: time.Duration(l.Service), GPUService: time.Duration(l.GPUService), Restarts: l.Restarts,
		Progress: l.Progress, Reported: l.Reported, Epoch: l.Epoch, Batch: job.BatchSize{Local: l.Batch[0], Accumulation: l.Batch[1]}, MaxGPUs: l.MaxGPUs,
	}
	for s.Phase.String() != l.Phase {
		if s.Phase++; s.Phase > job.Cancelled {
			return s, fmt.Errorf("phase %q, want one of a job", l.Phase)
		}
	}
	return s, nil
}

func (e *encoder) restored(ev *scheduler.Restored) {
	e.raw(`,"restore":`)
	e.job(ev)
	if len(ev.Reports) > 0 {
		e.raw(`,"reports":[`)
		for i := range ev.Reports {
			e.comma(i)
			e.report(&ev.Reports[i])
		}
		e.raw("]")
	}
	e.raw("}")
}

func (e *encoder) job(ev *scheduler.Restored) {
	e.raw(`{"spec":`)
	e.json(makeSpecLine(ev.Spec))
	e.raw(`,"status":`)
	e.json(makeStatusLine(&ev.Status))
	e.grant(&policy.Decision{}, &policy.Decision{Allocation: ev.Status.Allocation, Placement: ev.Status.Placement})
	if ev.Batch != (job.BatchSize{}) {
		e.raw(`,"asked":`)
		e.batch(ev.Batch)
	}
}

func (dec *decoder) restored(other func(key string) bool) scheduler.Restored {
	var ev scheduler.Restored
	var held policy.Decision
	for key := range dec.in.keys() {
		switch key {
		case "spec":
			ev.Spec = dec.spec()
		case "status":
			var l statusLine
			dec.decoded("status", &l, func() (err error) {
				ev.Status, err = l.status()
				return err
			})
		case "gets", "on":
			dec.granted(key, &held)
		case "asked":
			ev.Batch = dec.batch()
		case "reports":
			for range dec.in.items() {
				ev.Reports = append(ev.Reports, dec.report())
			}
		default:
			if !other(key) {
				dec.in.unknown(key)
			}
		}
	}
	ev.Status.Allocation, ev.Status.Placement = held.Allocation, slices.Clip(held.Placement)
	if dec.in.err == nil && ev.Spec == nil {
		dec.in.fail("the spec of a job")
	}
	return ev
}
