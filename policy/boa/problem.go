package boa

import (
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/convex"
)

// A Problem asks how many GPUs each class of jobs should get, and from which offer, so that the mean completion
// time is lowest within a budget. It is problem (1) of the BOA paper, or (7) with several offers, with the time to
// rescale (§4.3). Times are in seconds. Budgets are money per hour, or GPUs if the offers have no prices.
type Problem struct {
	classes []*perf.ClassStats
	offers  []cluster.Offer // GPU types for rent; their indexes are the kinds of points
	convex  convex.Problem
}

// rareRate is the arrival rate per second of a class without arrivals, so that it gets widths but hardly uses
// the budget.
const rareRate = 1e-9

// NewProblem returns the problem in which no job gets more than maxGPUs GPUs. It returns an error if the input is
// invalid.
func NewProblem(classes []*perf.ClassStats, offers []cluster.Offer, maxGPUs int) (*Problem, error) {
	if err := checkOffers(offers); err != nil {
		return nil, err
	}
	p, errs := newProblem(classes, offers, maxGPUs)
	if len(classes) == 0 {
		errs = append(errs, errors.New("no classes, want at least one"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("boa: %w", err)
	}
	return p, nil
}

func newProblem(classes []*perf.ClassStats, offers []cluster.Offer, widest int) (p *Problem, errs []error) {
	p = &Problem{offers: offers}
	for i := range offers {
		p.convex.Prices = append(p.convex.Prices, offers[i].GPUPrice())
	}
	for _, s := range classes {
		c, err := p.class(s, widest)
		if err == nil {
			one := convex.Problem{Prices: p.convex.Prices, Classes: []convex.Class{c}}
			err = one.Validate()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("class %s: %w", s.Class, err))
			continue
		}
		p.classes, p.convex.Classes = append(p.classes, s), append(p.convex.Classes, c)
	}
	return p, errs
}

func checkOffers(offers []cluster.Offer) error {
	var errs []error
	for i := range offers {
		o := &offers[i]
		if !(o.Node.Price >= 0 && o.Node.Price <= math.MaxFloat64 && o.Node.Interruptions >= 0) || o.Node.Capacity.GPUs < 1 || o.Most < 1 {
			errs = append(errs, fmt.Errorf("offer %s: %d nodes of %d GPUs at %g, %g interruptions an hour; want nodes with GPUs, and numbers of at least 0", o.Group, o.Most, o.Node.Capacity.GPUs, o.Node.Price, o.Node.Interruptions))
		}
	}
	if len(offers) == 0 {
		errs = append(errs, errors.New("no offers, want at least one kind of rented node"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("boa: %w", err)
	}
	return nil
}

func (p *Problem) class(s *perf.ClassStats, widest int) (convex.Class, error) {
	c := convex.Class{Rate: s.Rate, Rescale: s.Restart.Seconds()}
	if s.Rate == 0 {
		c.Rate = rareRate
	}
	if len(s.Sizes) == 0 || s.Speeds == nil {
		return c, fmt.Errorf("%d epochs, speeds known: %t; want at least 1, and speeds", len(s.Sizes), s.Speeds != nil)
	}
	for j, size := range s.Sizes {
		e := convex.Epoch{Size: size}
		for h := range p.offers {
			e.Points = append(e.Points, p.points(s, j, h, widest)...)
		}
		if len(e.Points) == 0 {
			return c, fmt.Errorf("epoch %d: runs on no node that can be rented", j)
		}
		c.Epochs = append(c.Epochs, e)
	}
	return c, nil
}

func (p *Problem) points(s *perf.ClassStats, epoch, offer, widest int) []convex.Point {
	var to []convex.Point
	o := &p.offers[offer]
	for k := 1; k <= min(widest, o.Most*o.Node.Capacity.GPUs); k++ {
		at := o.Fewest(k)
		speed := s.Speed(epoch, at) * available(o, at.Nodes, s.Restart.Seconds())
		if speed > 0 && !math.IsInf(speed, 1) {
			to = append(to, convex.Point{Kind: offer, Width: k, Speed: speed})
		}
	}
	return to
}

// ByNode makes the problem charge for whole nodes, not only for the GPUs of jobs as in the paper. fill, in (0, 1], is
// the mean fraction of a shared node's GPUs that jobs use.
func (p *Problem) ByNode(fill float64) {
	p.convex.Costs = func(kind, width int) float64 {
		o := &p.offers[kind]
		return o.GPUPrice() * paid(o, width, fill)
	}
}

// paid returns the GPUs paid for a job: whole nodes, plus the rest divided by fill, at most one node.
func paid(o *cluster.Offer, gpus int, fill float64) float64 {
	node := o.Node.Capacity.GPUs
	rest := gpus % node
	return float64(gpus-rest) + min(float64(rest)/fill, float64(node))
}

func available(o *cluster.Offer, nodes int, restart float64) float64 {
	return 1 / (1 + float64(nodes)*o.Node.Interruptions/3600*restart)
}

// A Method is an algorithm that chooses the number of GPUs for each class.
type Method uint8

// The methods.
const (
	Mixture   Method = iota // two GPU counts for each class, each used by a share of its arriving jobs; optimal (opt/convex)
	Single                  // one GPU count for each class: the better of Mixture's cheaper plan and Published
	Published               // Algorithm 1 of the BOA paper
)

var methodNames = [...]string{"mixture", "single", "published"}

func (m Method) String() string { return methodNames[m] }

func methods() []Method { return []Method{Mixture, Single, Published} }

// A Table has the number of GPUs for every class and epoch under one budget. It has two plans: a fraction Share of the
// arriving jobs of each class uses Fast, the others use Cheap.
type Table struct {
	problem     *Problem
	Cheap, Fast convex.Plan
	Share       float64
	Budget      float64
	MeanJCT     float64 // mean completion time in seconds
	Spend       float64 // spending per hour
	Multiplier  float64 // decrease of MeanJCT, in seconds, for one more unit of budget
	Least       float64 // the smallest feasible budget
	Most        float64 // the largest useful budget
}

// Table chooses with method m how many GPUs each class gets within budget, the spending per hour. It returns a
// *convex.BudgetError if no plan is cheap enough.
func (p *Problem) Table(budget float64, m Method) (*Table, error) {
	best, err := p.convex.Mixture(budget)
	if err != nil {
		return nil, err
	}
	t := &Table{
		problem: p, Budget: budget, Cheap: best.Cheap, Fast: best.Fast, Share: best.Share, MeanJCT: best.MeanJCT,
		Spend: best.Spend, Multiplier: best.Multiplier, Least: best.Least, Most: best.Most,
	}
	if m == Mixture {
		return t, nil
	}
	one, err := convex.DefaultWidthCalculator().Plan(&p.convex, budget, rng.Stream(1, "boa"))
	switch {
	case m == Single && (err != nil || t.Cheap.MeanJCT <= one.MeanJCT):
		one = t.Cheap
	case err != nil:
		return nil, err
	}
	t.Cheap, t.Fast, t.Share, t.MeanJCT, t.Spend = one, one, 0, one.MeanJCT, one.Spend
	return t, nil
}

// Frontier returns the lowest mean completion time as a function of the budget: a piecewise linear curve, given by its
// corners. Source: BOA §5.3, "Decision Support Tool".
func (p *Problem) Frontier() ([]convex.Breakpoint, error) { return p.convex.MixtureFrontier() }

// At returns the offer and the configuration (GPU type, GPUs and nodes) of point w of the convex problem.
func (p *Problem) At(w convex.Point) (cluster.Configuration, *cluster.Offer) {
	o := &p.offers[w.Kind]
	return o.Fewest(w.Width), o
}

// Repaired returns the number of epochs, over all classes, whose speeds were not concave in the number of GPUs and
// were replaced by their concave hull. Source: BOA §3.2, "Concavity".
func (p *Problem) Repaired() (int, error) {
	f, err := p.convex.Frontier()
	if err != nil {
		return 0, err
	}
	return f.Repaired, nil
}
