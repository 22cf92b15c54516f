package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// adaptSteady makes an arrival known by its duration elastic, imperfectly scaling, heterogeneous or
// wrongly estimated, as configured. Sources: Lyra §7.1, "Ideal"; §7.2, "Impact of imperfect
// scaling"; §7.4, Table 9.
func (in *Inputs) adaptSteady(c *config.Config, a *workload.Arrival) {
	s := &a.Spec
	if !s.Adaptivity.Has(job.GPUCount) && drawn(c, "elastic", s.ID, c.Jobs.Elastic) {
		in.stretchable(s)
	}
	if s.Adaptivity.Has(job.GPUCount) && c.Jobs.ScalingLoss > 0 {
		a.ScalingLoss = c.Jobs.ScalingLoss
	}
	if drawn(c, "time", s.ID, c.Jobs.WrongTimes) {
		wrong := 2*rng.Stream(c.Sim.Seed, "time error/"+string(s.ID)).Float64() - 1
		s.Target = a.Work() * (1 + c.Jobs.WrongBy*wrong)
	}
	mix(c, a)
}

// stretchable makes a job elastic, from its requested workers to twice as many. Source: Lyra §7.1,
// "its requested demand to be the base demand, and its scaling range is twice that".
func (in *Inputs) stretchable(s *job.Spec) {
	s.MinGPUs, s.MaxGPUs, s.Adaptivity, s.Resizes = s.GPUs, 2*s.GPUs, job.StrongScaling, true
	if s.WorkerGPUs > 0 {
		return
	}
	s.WorkerGPUs = min(s.GPUs, maxWorker)
	for _, t := range in.Cluster.Types() {
		s.WorkerGPUs = min(s.WorkerGPUs, t.PerNode)
	}
	for s.GPUs%s.WorkerGPUs != 0 {
		s.WorkerGPUs--
	}
}

// maxWorker is the most GPUs of a worker if the trace has none: a server of Lyra's (§7.1).
const maxWorker = 8

// lend sets the loaned nodes of an arrival, and their equivalents: all if it is fungible or heterogeneous and
// has no application. A bound job without GPUs in the training cluster is an error.
func (in *Inputs) lend(c *config.Config, a *workload.Arrival) error {
	if c.Jobs.Fungible != config.AsTraced {
		a.Bound = !drawn(c, "fungible", a.Spec.ID, c.Jobs.Fungible)
	}
	mixed := a.Spec.Adaptivity.Has(job.Heterogeneous)
	if !in.Cluster.Lends() {
		return nil
	}
	if mixed {
		in.borrows(&a.Spec)
	}
	switch {
	case a.Bound && !mixed:
		return in.bind(&a.Spec)
	case a.Application == "" && a.Spec.Equivalents == nil && len(in.equivalents) > 0:
		a.Spec.Equivalents = in.equivalents
	}
	return nil
}

// mix lets arrivals known by their duration run on two GPU types at once. Source: Lyra §7.1, "Advanced".
func mix(c *config.Config, a *workload.Arrival) {
	may := a.Heterogeneous
	if c.Jobs.Heterogeneous != config.AsTraced {
		may = drawn(c, "heterogeneous", a.Spec.ID, c.Jobs.Heterogeneous)
	}
	if may {
		a.Spec.Adaptivity |= job.Heterogeneous
		a.Spec.MixedSpeed = cmp.Or(a.Spec.MixedSpeed, c.Jobs.MixedSpeed)
	}
}

// borrows lets a heterogeneous job run on the types of all nodes on loan. Source: Lyra §7.1, "Jobs
// can run on different GPU types at runtime".
func (in *Inputs) borrows(s *job.Spec) {
	for _, l := range in.Cluster.Loans() {
		if len(s.GPUTypes) > 0 && !s.Eligible(l.Node.GPUType) {
			s.GPUTypes = append(slices.Clip(s.GPUTypes), l.Node.GPUType)
		}
	}
}

func (in *Inputs) bind(s *job.Spec) error {
	var own []cluster.GPUType
	for _, t := range in.Cluster.TypesNotOnLoan() {
		if s.Eligible(t.Type) {
			own = append(own, t.Type)
		}
	}
	if own == nil {
		return fmt.Errorf("job %s: cannot run on loaned nodes, and the training cluster has none of its GPU types, %q", s.ID, s.GPUTypes)
	}
	s.GPUTypes = own
	return nil
}

func (in *Inputs) note() {
	in.untrue = make(map[job.ID]*workload.Arrival)
	for i := range in.Arrivals {
		a := &in.Arrivals[i]
		if w := a.Work(); w > 0 && (a.ScalingLoss > 0 || w != a.Spec.Target) {
			in.untrue[a.Spec.ID] = a
		}
	}
}

// steady returns the true speed of a job known by its duration, and its true specification. Jobs without
// untrue values share the speeds of alike.
func (in *Inputs) steady(spec *job.Spec, alike *workload.Steadies) (*workload.Application, *job.Spec) {
	a, ok := in.untrue[spec.ID]
	if !ok {
		return alike.Of(spec, 0), spec
	}
	s := *spec
	s.Target = a.Work()
	return a.Steady(), &s
}

func skips(c *config.Config, s *job.Spec) bool { return slices.Contains(c.Skipped, s.Queue) }

const orderBlocks = 24

// SimulateVariant is Simulate on other nodes. If order is not 0, it also shuffles the arrivals (generate.Shuffle); each
// number gives another order. All jobs must then be measured.
func SimulateVariant(ctx context.Context, c *config.Config, in *Inputs, name string, nodes *cluster.Cluster, order int, obs ...scheduler.Observer) (*Run, error) {
	if order != 0 && !c.Window.IsZero() {
		return nil, errors.New("other orders of the arrivals cannot be combined with a window of jobs; want 1 order")
	}
	of := *in
	of.Cluster = nodes
	if order != 0 {
		of.Arrivals = generate.Shuffle(in.Arrivals, orderBlocks, c.Sim.Seed+uint64(order))
	}
	return Simulate(ctx, c, &of, name, obs...)
}

type window map[job.ID]bool

func (in *Inputs) window(c *config.Config) (window, error) {
	if c.Window.IsZero() {
		return nil, nil
	}
	if c.Window.Last >= len(in.Arrivals) {
		return nil, fmt.Errorf("window %s: there are %d jobs, numbered from 0; want a window within", c.Window, len(in.Arrivals))
	}
	w := window{}
	for i := c.Window.First; i <= c.Window.Last; i++ {
		w[in.Arrivals[i].Spec.ID] = true
	}
	return w, nil
}

func (w window) measures(spec *job.Spec) bool { return w == nil || w[spec.ID] }

type passing struct {
	scheduler.Backend
	left int // live jobs of the window
	of   window
}

func (w window) through(b scheduler.Backend) scheduler.Backend {
	if w == nil {
		return b
	}
	return &passing{b, len(w), w}
}

func (p *passing) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	ev, err := p.Backend.Next(ctx, deadline)
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost && p.of[e.Job] {
		p.left--
	}
	return ev, err
}
