package history

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A NextNode states how much one more node of a GPU type would have saved in a recorded run.
type NextNode struct {
	Type cluster.GPUType `json:"type"`
	GPUs int             `json:"gpus"`
	Rate float64         `json:"price"` // price of the node per hour; if unknown, its number of GPUs
	// Saved is the saving in a simulation with the additional node.
	Saved Saving `json:"saved"`
	// Low and High are the 90 % prediction interval of Saved for another order of arrivals; nil if no other order
	// was simulated.
	Low  *Saving `json:"low"`
	High *Saving `json:"high"`
	// Estimated is the saved mean JCT in seconds, estimated from the prices of the rounds; nil without prices. It
	// assumes that the node's GPUs add their prices to the policy's objective, and that all jobs of the round
	// become faster by that part. This ignores the room made by earlier ends, and that the last GPU of a node may
	// be worth less than the first.
	Estimated *float64     `json:"estimated_jct_mean_s"`
	Teams     []TeamSaving `json:"teams"` // savings by queue, then user; jobs without either form a team, too
}

// A Saving states how much sooner jobs end with an additional node. It counts only jobs that complete with and without
// the node.
type Saving struct {
	Jobs int     `json:"jobs"`
	JCT  float64 `json:"jct_mean_s"` // mean over Jobs, in seconds
	// Waiting is the time without GPUs times the requested GPUs, in GPU-hours.
	Waiting float64 `json:"waiting_gpu_hours"`
	// Sooner is the saved completion time times requested GPUs, in GPU-hours, per hour of the run.
	Sooner float64 `json:"sooner_gpu_hours_per_hour"`
}

// A TeamSaving is the Saving of the jobs of one queue and user.
type TeamSaving struct {
	Queue string `json:"queue"`
	User  string `json:"user"`
	Saving
}

// A NextNodeStudy states for each GPU type how much one more node would have saved. Times are in seconds.
type NextNodeStudy struct {
	Policy   string     `json:"policy"`              // name of the policy; callers set it and Recorded
	Hours    float64    `json:"hours"`               // hours from the first submission to the last end
	Recorded float64    `json:"recorded_jct_mean_s"` // recorded mean completion time; 0: unknown
	MeanJCT  float64    `json:"jct_mean_s"`          // simulated mean completion time without another node
	Orders   int        `json:"orders"`              // simulated orders of the arrivals, including the recorded one
	Nodes    []NextNode `json:"nodes"`               // largest saving of JCT first
	// Figures are the measures of the simulation without another node; Jobs is its number of completed jobs.
	Figures metrics.Figures `json:"-"`
	Jobs    int             `json:"-"`
}

// MostOrders is the largest number of orders of arrivals that NextNodes accepts.
const MostOrders = 10

// A Resimulation simulates a recorded run again on other nodes. order 0 is the recorded order of arrivals; each other
// number is a different order.
type Resimulation func(ctx context.Context, nodes *cluster.Cluster, order int, o scheduler.Observer) (*metrics.Result, error)

// Resimulate returns a Resimulation of a recorded run. It accepts only order 0.
func Resimulate(r *whatif.Resimulator) Resimulation {
	return func(ctx context.Context, nodes *cluster.Cluster, _ int, o scheduler.Observer) (*metrics.Result, error) {
		rec, err := metrics.New(metrics.DefaultOptions())
		if err != nil {
			return nil, err
		}
		if err := r.Simulate(ctx, nodes, rec, o); err != nil {
			return nil, err
		}
		return rec.Result(), nil
	}
}

// NextNodes simulates a run on its nodes, and with one more node of each owned type, for each of 1 to MostOrders orders
// of the arrivals. It runs parallel simulations at a time.
func NextNodes(ctx context.Context, nodes *cluster.Cluster, orders, parallel int, run Resimulation) (*NextNodeStudy, error) {
	if orders < 1 || orders > MostOrders {
		return nil, fmt.Errorf("whatif: %d orders, want 1 to %d", orders, MostOrders)
	}
	on := grown(nodes)
	runs := make([][]*rerun, orders)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for k := range orders {
		runs[k] = make([]*rerun, len(on))
		for i := range on {
			g.Go(func() (err error) {
				r := &rerun{faster: map[cluster.GPUType]float64{}, specs: map[job.ID]*job.Spec{}}
				runs[k][i] = r
				if r.Result, err = run(ctx, on[i].nodes, k, r); err == nil {
					err = ctx.Err()
				}
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return study(on, runs), nil
}

type growth struct {
	node  cluster.Node
	nodes *cluster.Cluster
}

func grown(c *cluster.Cluster) []growth {
	all := []growth{{nodes: c}}
	for _, t := range c.Types() {
		nodes := c.Nodes()
		i := slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.GPUType == t.Type && n.Tenure == cluster.Owned })
		if i < 0 {
			continue
		}
		next := nodes[i]
		next.ID += "-next"
		with, err := cluster.New(append(slices.Clone(nodes), next))
		if err != nil {
			panic("whatif: a copy of a valid node is invalid: " + err.Error())
		}
		all = append(all, growth{next, with})
	}
	return all
}

type rerun struct {
	*metrics.Result
	priced int
	faster map[cluster.GPUType]float64 // job-seconds saved by one more GPU
	specs  map[job.ID]*job.Spec
}

func (r *rerun) Event(_ time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		r.specs[ev.Spec.ID] = ev.Spec
	case scheduler.Restored:
		r.specs[ev.Spec.ID] = ev.Spec
	}
}

func (r *rerun) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	if p.Stats.Objective <= 0 || len(p.Prices) == 0 {
		return
	}
	r.priced++
	for _, t := range p.Prices {
		r.faster[t.Type] += t.Price / p.Stats.Objective * s.Length.Seconds() * float64(len(s.Jobs))
	}
}

func study(on []growth, runs [][]*rerun) *NextNodeStudy {
	base := runs[0][0]
	s := &NextNodeStudy{Hours: base.Summary.Makespan / 3600, MeanJCT: base.Summary.MeanJCT, Orders: len(runs), Figures: base.Figures(), Jobs: base.Summary.Done}
	for i := 1; i < len(on); i++ {
		node := &on[i].node
		n := NextNode{Type: node.GPUType, GPUs: node.Capacity.GPUs, Rate: node.GPUPrice() * float64(node.Capacity.GPUs)}
		var all []Saving
		for _, order := range runs {
			all = append(all, compared(order[0].Result, order[i].Result, func(id job.ID) *job.Spec { return base.specs[id] }))
		}
		n.Saved = all[0]
		n.Low, n.High = bounds(all)
		n.Teams = teams(base.Result, runs[0][i].Result, base.specs)
		if base.priced > 0 {
			estimated := base.faster[n.Type] * float64(n.GPUs) / float64(max(1, base.Summary.Done))
			n.Estimated = &estimated
		}
		s.Nodes = append(s.Nodes, n)
	}
	slices.SortStableFunc(s.Nodes, func(a, b NextNode) int { return cmp.Compare(b.Saved.JCT, a.Saved.JCT) })
	return s
}

func compared(base, with *metrics.Result, of func(job.ID) *job.Spec) Saving {
	done := map[job.ID]*metrics.JobResult{}
	for i := range with.Jobs {
		if j := &with.Jobs[i]; j.Outcome == metrics.Done {
			done[j.ID] = j
		}
	}
	var s Saving
	for i := range base.Jobs {
		was := &base.Jobs[i]
		is, spec := done[was.ID], of(was.ID)
		if is == nil || spec == nil || was.Outcome != metrics.Done {
			continue
		}
		s.Jobs++
		s.JCT += was.JCT - is.JCT
		s.Waiting += (was.Queued - is.Queued) / 3600 * float64(spec.GPUs)
		s.Sooner += (was.JCT - is.JCT) * float64(spec.GPUs)
	}
	s.JCT /= float64(max(1, s.Jobs))
	s.Sooner /= max(1, base.Summary.Makespan)
	return s
}

func teams(base, with *metrics.Result, specs map[job.ID]*job.Spec) []TeamSaving {
	type team struct{ queue, user string }
	all := map[team]bool{}
	for i := range base.Jobs {
		spec := specs[base.Jobs[i].ID]
		all[team{spec.Queue, spec.User}] = true
	}
	var savings []TeamSaving
	for t := range all { // sorted below
		savings = append(savings, TeamSaving{t.queue, t.user, compared(base, with, func(id job.ID) *job.Spec {
			if spec := specs[id]; (team{spec.Queue, spec.User}) == t {
				return spec
			}
			return nil
		})})
	}
	slices.SortFunc(savings, func(a, b TeamSaving) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.User, b.User))
	})
	return savings
}

// students has the 95 % quantiles of Student's t for 1, 2, ... degrees of freedom.
var students = [MostOrders - 1]float64{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833}

func bounds(all []Saving) (low, high *Saving) {
	if len(all) < 2 {
		return nil, nil
	}
	low, high = &Saving{}, &Saving{}
	for _, field := range []func(*Saving) *float64{
		func(s *Saving) *float64 { return &s.JCT },
		func(s *Saving) *float64 { return &s.Waiting },
		func(s *Saving) *float64 { return &s.Sooner },
	} {
		mean, squares, n := 0.0, 0.0, float64(len(all))
		for i := range all {
			mean += *field(&all[i]) / n
		}
		for i := range all {
			squares += math.Pow(*field(&all[i])-mean, 2)
		}
		wide := students[len(all)-2] * math.Sqrt(squares/(n-1)*(1+1/n))
		*field(low), *field(high) = mean-wide, mean+wide
	}
	return low, high
}
