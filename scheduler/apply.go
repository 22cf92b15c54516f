package scheduler

import (
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

func (ev Submitted) apply(s *Scheduler, now time.Time) error {
	return s.submit(now, ev.Spec)
}

func (ev Described) apply(s *Scheduler, _ time.Time) error {
	return s.update(ev.Spec.ID, func(r *record) { r.describe(ev.Spec) })
}

func (ev Restored) apply(s *Scheduler, _ time.Time) error {
	return s.restore(&ev)
}

func (ev NodesChanged) apply(s *Scheduler, now time.Time) error {
	if ev.Cluster == nil {
		return errors.New("nodes changed: no cluster")
	}
	s.nodes.cluster, s.nodes.rentals, s.nodes.loans = ev.Cluster, ev.Rentals, ev.Loans
	s.changed(now)
	return nil
}

func (ev Profiled) apply(s *Scheduler, now time.Time) error {
	return s.update(ev.Job, func(r *record) {
		if r.status.Phase == job.Profiling {
			r.status.Phase = job.Waiting
			s.times.soon(now, &s.o)
		}
	})
}

func (ev Reported) apply(s *Scheduler, now time.Time) error {
	if err := ev.Validate(); err != nil {
		return fmt.Errorf("job %s: report: %w", ev.Job, err)
	}
	return s.update(ev.Job, func(r *record) { s.report(now, r, &ev.Report) })
}

func (ev Exited) apply(s *Scheduler, now time.Time) error {
	return s.update(ev.Job, func(r *record) { s.exit(now, r, ev.Outcome) })
}

func (ev Computed) apply(s *Scheduler, _ time.Time) error {
	if !s.computing {
		return errors.New("computed: no background work is under way")
	}
	s.computing, s.computed = false, ev.Result
	return nil
}
