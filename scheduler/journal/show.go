package journal

import (
	"errors"
	"io"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Show passes the remaining records to observer o. A snapshot has a nil row for each active job, and plans have no
// decisions.
func (r *Reader) Show(o scheduler.Observer) error {
	h := r.Header()
	s := policy.Snapshot{Length: h.Round, Cluster: h.Cluster.Held(), Rentals: h.Cluster.Rentals(), Loans: h.Cluster.Loans()}
	active := map[job.ID]bool{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.Now = h.Start.Add(record.At)
		if round := record.Round; round != nil {
			now := s
			now.Round, now.Jobs = round.Number, make([]*policy.Job, len(active))
			o.Round(&now, &policy.Plan{Prices: round.Prices, Stats: round.Stats, Capacity: round.Capacity, Refused: round.Refused}, round.Actions)
			continue
		}
		follow(&s, active, record.Event)
		o.Event(s.Now, record.Event)
	}
}

func follow(s *policy.Snapshot, active map[job.ID]bool, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		active[ev.Spec.ID] = true
	case scheduler.Restored:
		if !ev.Status.Phase.Terminal() {
			active[ev.Spec.ID] = true
		}
	case scheduler.Exited:
		if ev.Outcome != scheduler.Lost {
			delete(active, ev.Job)
		}
	case scheduler.NodesChanged:
		s.Cluster, s.Rentals, s.Loans = ev.Cluster, ev.Rentals, ev.Loans
	}
}
