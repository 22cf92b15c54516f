package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/workload"
)

// An InitialState is the state of a job that runs when the simulation begins. The scheduler receives the event Restored
// for the job, and the GPUs that it holds do not count as a start.
type InitialState struct {
	Status  job.Status    // with virtual times, possibly before Epoch
	Batch   job.BatchSize // set by the scheduler; zero: the agent decides
	Reports []job.Report  // all measurements of its agent, oldest first
	// Restore is the time until the job trains on its GPUs; 0: at once.
	Restore time.Duration
}

func (w *World) begin(g *agent, s *InitialState) {
	w.emit(scheduler.Restored{Spec: g.spec, Status: s.Status, Batch: s.Batch, Reports: s.Reports})
	for i := range s.Reports {
		if g.belief != nil {
			g.belief.Learn(&s.Reports[i])
		}
	}
	g.progress = s.Status.Progress
	for g.epoch < len(g.ends)-1 && g.progress >= g.ends[g.epoch] {
		g.epoch++
	}
	g.checkpoint()
	g.started = !s.Status.FirstStarted.IsZero()
	if s.Status.Holding() {
		w.resume(g, s)
	}
}

func (w *World) resume(g *agent, s *InitialState) {
	w.held++
	g.started, g.fixed = true, s.Batch
	g.hold(scheduler.Run{Allocation: s.Status.Allocation, Placement: s.Status.Placement})
	g.slow, g.apart = g.drawSlow(w), w.in.apart(s.Status.Placement)
	g.at = w.now.Add(s.Restore)
	g.savedAt = g.at
	g.fit()
	if g.restoring = s.Restore > 0; g.restoring {
		g.next(w)
		return
	}
	g.checkIn(w)
}

func (in *input) setInitial(arrivals []*workload.Arrival) error {
	if len(in.o.Initial) == 0 {
		return nil
	}
	var errs []error
	if in.o.Public.WholeRounds {
		errs = append(errs, errors.New("initial jobs, want none with whole rounds"))
	}
	held, found := make(map[cluster.NodeID]int), 0
	for _, a := range arrivals {
		s := in.o.Initial[a.Spec.ID]
		if s == nil {
			continue
		}
		found++
		if err := in.holds(s, held); err != nil {
			errs = append(errs, fmt.Errorf("job %s: %w", a.Spec.ID, err))
		}
	}
	if found < len(in.o.Initial) {
		errs = append(errs, fmt.Errorf("%d initial jobs, but %d of them arrive, want all", len(in.o.Initial), found))
	}
	return errors.Join(errs...)
}

func (in *input) holds(s *InitialState, held map[cluster.NodeID]int) error {
	st := &s.Status
	switch {
	case st.Phase.Terminal():
		return fmt.Errorf("is %s, want a job that has not ended", st.Phase)
	case !(st.Progress >= 0) || math.IsInf(st.Progress, 1) || s.Restore < 0:
		return fmt.Errorf("progress %v, %v until restored, want finite and at least 0", st.Progress, s.Restore)
	case st.Placement.GPUs() != st.Allocation.AllGPUs():
		return fmt.Errorf("is placed on %d GPUs, want the %d it holds", st.Placement.GPUs(), st.Allocation.AllGPUs())
	}
	for _, share := range st.Placement {
		i, ok := in.full.Index(share.Node)
		if !ok || !slices.Contains([]cluster.GPUType{st.Allocation.GPUType, st.Allocation.Also.GPUType}, in.full.Nodes()[i].GPUType) {
			return fmt.Errorf("holds GPUs of node %q, want a node of %v", share.Node, st.Allocation)
		}
		if held[share.Node] += share.GPUs; held[share.Node] > in.full.Nodes()[i].Capacity.GPUs {
			return fmt.Errorf("with others holds %d GPUs of node %s, want at most %d", held[share.Node], share.Node, in.full.Nodes()[i].Capacity.GPUs)
		}
	}
	return nil
}
