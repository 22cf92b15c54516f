package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/convex"
	"github.com/oxgang/oxgang/policy/boa"
)

// A Planner plans how many GPUs the jobs of a workload get on rentable nodes, for any budget.
type Planner struct {
	Workload *Workload
	Prices   *PriceList
	Widest   int // largest number of GPUs of a job
	Repaired int // epochs whose speeds were replaced by their concave hull
	Epochs   int // epochs of all classes together
	problem  *boa.Problem
}

// NewPlanner returns a Planner for workload w and the nodes in l. No job gets more than widest GPUs.
func NewPlanner(w *Workload, l *PriceList, widest int) (*Planner, error) {
	if err := w.checkOffers(l, widest); err != nil {
		return nil, err
	}
	problem, err := boa.NewProblem(w.Classes, l.offers(), widest)
	if err != nil {
		return nil, fmt.Errorf("price list %s: %w", l.Name, err)
	}
	p := &Planner{Workload: w, Prices: l, Widest: widest, problem: problem}
	for _, c := range w.Classes {
		p.Epochs += len(c.Sizes)
	}
	p.Repaired, err = problem.Repaired()
	return p, err
}

func runsOn(c *perf.ClassStats, o *Offer, widest int) bool {
	nodes := cluster.TypeInfo{Type: o.Type, PerNode: o.GPUs}
	for epoch := range c.Sizes {
		for k := 1; k <= min(widest, o.Most*o.GPUs); k++ {
			if c.Speed(epoch, nodes.Fewest(k)) > 0 {
				return true
			}
		}
	}
	return false
}

// ErrTooSmall is returned for a budget with which the queue would grow for ever.
var ErrTooSmall = errors.New("too small")

// A Plan states how many GPUs jobs get within a budget, and their completion times in seconds. Budgets are money per
// hour, or GPUs if the price list has no prices.
type Plan struct {
	Prices   string  `json:"prices" yaml:"prices"`
	Currency string  `json:"currency,omitempty" yaml:"currency,omitempty"`
	Budget   float64 `json:"budget_per_hour" yaml:"budget_per_hour"`
	Spend    float64 `json:"spend_per_hour" yaml:"spend_per_hour"`
	Least    float64 `json:"smallest_feasible_per_hour" yaml:"smallest_feasible_per_hour"`
	Most     float64 `json:"largest_useful_per_hour" yaml:"largest_useful_per_hour"`
	MeanJCT  float64 `json:"mean_jct_s" yaml:"mean_jct_s"`
	// Simulated is the interval of the mean completion time in simulations; nil: not simulated.
	Simulated *Range `json:"simulated_mean_jct,omitempty" yaml:"simulated_mean_jct,omitempty"`
	// Multiplier is the seconds by which one more unit of budget per hour shortens MeanJCT.
	Multiplier float64 `json:"s_per_unit_per_hour" yaml:"s_per_unit_per_hour"`
	// OneMore is the seconds by which one more GPU, or one more unit of money a day, shortens MeanJCT.
	OneMore  float64 `json:"s_by_one_more" yaml:"s_by_one_more"`
	Use      []Use   `json:"gpus" yaml:"gpus"`
	Repaired int     `json:"epochs_repaired" yaml:"epochs_repaired"`
	Epochs   int     `json:"epochs" yaml:"epochs"`
	Classes  []Class `json:"classes" yaml:"classes"`
}

// A Use is the mean number of rented GPUs of one offer.
type Use struct {
	Offer   string          `json:"offer" yaml:"offer"`
	GPUType cluster.GPUType `json:"gpu_type" yaml:"gpu_type"`
	GPUs    float64         `json:"mean_gpus" yaml:"mean_gpus"`
}

// A Class is the plan for one class of similar jobs.
type Class struct {
	Name    string  `json:"class" yaml:"class"`
	Jobs    float64 `json:"jobs_per_hour" yaml:"jobs_per_hour"`
	MeanJCT float64 `json:"mean_jct_s" yaml:"mean_jct_s"`
	GPUs    float64 `json:"mean_gpus" yaml:"mean_gpus"` // mean number of GPUs of all its jobs together
	Guessed string  `json:"guessed,omitempty" yaml:"guessed,omitempty"`
	Tables  []Table `json:"tables" yaml:"tables"` // two if the budget is between two plans
}

// A Table has the number of GPUs in each epoch, for the fraction Share of the jobs of a class.
type Table struct {
	Share   float64 `json:"share" yaml:"share"`
	MeanJCT float64 `json:"mean_jct_s" yaml:"mean_jct_s"`
	Runs    []Run   `json:"runs" yaml:"runs"`
}

// A Run is a sequence of epochs in which a job has the same number of GPUs; epochs count from 0.
type Run struct {
	First   int             `json:"first_epoch" yaml:"first_epoch"`
	Last    int             `json:"last_epoch" yaml:"last_epoch"`
	GPUs    int             `json:"gpus" yaml:"gpus"`
	Nodes   int             `json:"nodes" yaml:"nodes"`
	GPUType cluster.GPUType `json:"gpu_type" yaml:"gpu_type"`
	Offer   string          `json:"offer" yaml:"offer"`
}

// Plan returns the plan for a budget per hour. It returns ErrTooSmall, with the smallest feasible budget, if the queue
// would grow for ever.
func (p *Planner) Plan(perHour float64) (*Plan, error) {
	t, err := p.problem.Table(perHour, boa.Mixture)
	var small *convex.BudgetError
	switch {
	case errors.As(err, &small):
		u := unit(p.Prices.Currency)
		return nil, fmt.Errorf("budget of %s is %w: the queue would grow forever; the smallest feasible budget is %s", u.per(perHour), ErrTooSmall, u.atLeast(small.Least))
	case err != nil:
		return nil, err
	}
	plan := &Plan{
		Prices: p.Prices.Name, Currency: p.Prices.Currency, Budget: t.Budget, Spend: t.Spend, Least: t.Least, Most: t.Most,
		MeanJCT: t.MeanJCT, Multiplier: t.Multiplier, Repaired: p.Repaired, Epochs: p.Epochs,
	}
	more, err := p.problem.Table(perHour+step(p.Prices), boa.Mixture)
	if err != nil {
		return nil, err
	}
	plan.OneMore = t.MeanJCT - more.MeanJCT
	for _, o := range p.Prices.Offers {
		plan.Use = append(plan.Use, Use{Offer: o.Name, GPUType: o.Type})
	}
	for i, c := range p.Workload.Classes {
		plan.Classes = append(plan.Classes, p.class(plan.Use, c, t, i))
	}
	return plan, nil
}

// step returns one GPU, or one unit of money a day, as an amount per hour.
func step(l *PriceList) float64 {
	if l.Currency == "" {
		return 1
	}
	return 1 / day
}

func (p *Planner) class(use []Use, c *perf.ClassStats, t *boa.Table, i int) Class {
	out := Class{Name: string(c.Class), Jobs: c.Rate * 3600, Guessed: c.Guessed}
	cheap, fast, share := t.Cheap.Widths[i], t.Fast.Widths[i], t.Share
	if slices.Equal(cheap, fast) {
		share = 0
	}
	for _, part := range []struct {
		share  float64
		widths []convex.Point
	}{{1 - share, cheap}, {share, fast}} {
		if part.share == 0 {
			continue
		}
		table := Table{Share: part.share, Runs: p.runs(part.widths)}
		for j, at := range part.widths {
			took := c.Sizes[j] / at.Speed
			if j == 0 || !same(at, part.widths[j-1]) {
				took += c.Restart.Seconds()
			}
			table.MeanJCT += took
			gpus := part.share * c.Rate * took * float64(at.Width)
			use[at.Kind].GPUs += gpus
			out.GPUs += gpus
		}
		out.MeanJCT += part.share * table.MeanJCT
		out.Tables = append(out.Tables, table)
	}
	return out
}

func same(a, b convex.Point) bool { return a.Kind == b.Kind && a.Width == b.Width }

func (p *Planner) runs(widths []convex.Point) []Run {
	var runs []Run
	for j, at := range widths {
		if j > 0 && same(at, widths[j-1]) {
			runs[len(runs)-1].Last = j
			continue
		}
		c, o := p.problem.At(at)
		runs = append(runs, Run{First: j, Last: j, GPUs: c.GPUs, Nodes: c.Nodes, GPUType: c.GPUType, Offer: string(o.Group)})
	}
	return runs
}

// A Range is an interval that contains the mean completion time of a plan with the given Probability. It comes from
// simulations, which include what a plan ignores, such as start times of nodes and the order of arrivals.
type Range struct {
	Low         float64 `json:"low_s" yaml:"low_s"`
	High        float64 `json:"high_s" yaml:"high_s"`
	Middle      float64 `json:"geometric_mean_s" yaml:"geometric_mean_s"`
	Probability float64 `json:"probability" yaml:"probability"`
	Samples     int     `json:"samples" yaml:"samples"`
}

const probability = 0.9

// students are the 95th percentiles of Student's t, from 1 degree of freedom.
var students = [...]float64{
	6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
	1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699,
}

// MostSamples is the largest number of simulations from which Expect computes a Range.
const MostSamples = len(students) + 1

// Expect returns the interval in which the mean completion time of the next simulation will be. means are 2 to
// MostSamples simulated means in seconds. The interval is by Student's t on their logarithms.
func Expect(means []float64) *Range {
	n := float64(len(means))
	if len(means) < 2 || len(means) > MostSamples {
		return nil
	}
	sum, squares := 0.0, 0.0
	for _, x := range means {
		if !(x > 0) || math.IsInf(x, 1) {
			return nil
		}
		sum += math.Log(x)
	}
	for _, x := range means {
		off := math.Log(x) - sum/n
		squares += off * off
	}
	wide := students[len(means)-2] * math.Sqrt(squares/(n-1)*(1+1/n))
	middle := sum / n
	return &Range{Low: math.Exp(middle - wide), High: math.Exp(middle + wide), Middle: math.Exp(middle), Probability: probability, Samples: len(means)}
}

func (r *Range) words() string {
	if r == nil {
		return "not simulated"
	}
	return fmt.Sprintf("%s to %s (%.0f %% interval from %d simulations with the jobs in other orders)", formatSeconds(r.Low), formatSeconds(r.High), 100*r.Probability, r.Samples)
}
