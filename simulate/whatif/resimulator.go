package whatif

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Resimulator simulates a recorded run again, on the same or on other nodes.
type Resimulator struct {
	header    journal.Header
	rec       *recording
	scheduler scheduler.Options
	options   Options
}

// NewResimulator reads a recorded run; r must be at its first record. o is as in Compare. A damaged journal is an
// error; a truncated one is not.
func NewResimulator(r *journal.Reader, o Options) (*Resimulator, error) {
	t := &Resimulator{header: r.Header(), scheduler: o.Scheduler, options: o}
	t.scheduler.Round, t.scheduler.Estimate.Types = t.header.Round, t.header.Cluster.Types()
	own := t.scheduler.Estimate
	own.Share = false // a job's own reports are the best source of its speed
	t.rec = &recording{header: &t.header, Learner: NewLearner(own), result: &Fidelity{Round: journal.Seconds(t.header.Round)}, held: newService(), outages: newOutages(t.header.Cluster), phases: map[time.Duration]int{}}
	t.rec.keep = true
	if err := t.rec.read(r); err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	if t.scheduler.First == 0 {
		t.scheduler.First = t.rec.phase()
	}
	return t, nil
}

// Simulate simulates the run on the given nodes, in the recorded order of arrivals. obs observe the simulation.
func (t *Resimulator) Simulate(ctx context.Context, nodes *cluster.Cluster, obs ...scheduler.Observer) error {
	so := t.scheduler
	so.Estimate.Types = nodes.Types()
	_, err := t.rec.play(ctx, nodes, so, &t.options, obs...)
	return err
}
