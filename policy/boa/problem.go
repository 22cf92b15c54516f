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

// A Problem is which widths the jobs of some classes get on nodes that can be rented:
// problem (1), or problem (7) where there are several offers, with the time that
// rescaling takes (§4.3). Times are in seconds, budgets in money per hour (or GPUs where
// no price is known).
type Problem struct {
	Classes []*perf.ClassStats
	Offers  []cluster.Offer // kinds of points, by index
	convex  convex.Problem
}

// seldom is the arrival rate, per second, of a class of which no job has come yet. So it gets
// widths, and they hardly use the budget.
const seldom = 1e-9

// NewProblem returns the problem of classes on offers, with widths of up to widest GPUs.
// It returns an error that joins all complaints: a class that runs on no offer in some
// epoch, rates and sizes that are no numbers, or not more than 0, prices below 0.
func NewProblem(classes []*perf.ClassStats, offers []cluster.Offer, widest int) (*Problem, error) {
	if err := checkOffers(offers); err != nil {
		return nil, err
	}
	p, errs := newProblem(classes, offers, widest)
	if len(classes) == 0 {
		errs = append(errs, errors.New("no classes, want at least one"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("boa: %w", err)
	}
	return p, nil
}

// newProblem returns the problem of the classes that widths can be chosen for, on valid
// offers, and what is wrong with the others.
func newProblem(classes []*perf.ClassStats, offers []cluster.Offer, widest int) (p *Problem, errs []error) {
	p = &Problem{Offers: offers}
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
		p.Classes, p.convex.Classes = append(p.Classes, s), append(p.convex.Classes, c)
	}
	return p, errs
}

// checkOffers returns all complaints about offers, joined.
func checkOffers(offers []cluster.Offer) error {
	var errs []error
	for i := range offers {
		o := &offers[i]
		if !(o.Node.Price >= 0 && o.Node.Price <= math.MaxFloat64 && o.Node.Interruptions >= 0) || o.Node.Capacity.GPUs < 1 || o.Most < 1 {
			errs = append(errs, fmt.Errorf("offer %s: %d nodes of %d GPUs at %g, %g interruptions an hour; want nodes with GPUs, and numbers of at least 0", o.Group, o.Most, o.Node.Capacity.GPUs, o.Node.Price, o.Node.Interruptions))
		}
	}
	if len(offers) == 0 {
		errs = append(errs, errors.New("no offers, want at least one kind of nodes that can be rented"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("boa: %w", err)
	}
	return nil
}

// class returns the points of a class: its goodput in each epoch, by offer and width.
func (p *Problem) class(s *perf.ClassStats, widest int) (convex.Class, error) {
	c := convex.Class{Rate: s.Rate, Rescale: s.Restart.Seconds()}
	if s.Rate == 0 {
		c.Rate = seldom
	}
	if len(s.Sizes) == 0 || s.Speeds == nil {
		return c, fmt.Errorf("%d epochs, speeds known: %t; want at least 1, and speeds", len(s.Sizes), s.Speeds != nil)
	}
	for j, size := range s.Sizes {
		e := convex.Epoch{Size: size}
		for h := range p.Offers {
			e.Points = append(e.Points, p.points(s, j, h, widest)...)
		}
		if len(e.Points) == 0 {
			return c, fmt.Errorf("epoch %d: runs on nothing that can be rented", j)
		}
		c.Epochs = append(c.Epochs, e)
	}
	return c, nil
}

// points returns the widths of an offer at which the jobs of a class run.
func (p *Problem) points(s *perf.ClassStats, epoch, offer, widest int) []convex.Point {
	var to []convex.Point
	o := &p.Offers[offer]
	for k := 1; k <= min(widest, o.Most*o.Node.Capacity.GPUs); k++ {
		at := o.Fewest(k)
		speed := s.Speed(epoch, at) * available(o, at.Nodes, s.Restart.Seconds())
		if speed > 0 && !math.IsInf(speed, 1) {
			to = append(to, convex.Point{Kind: offer, Width: k, Speed: speed})
		}
	}
	return to
}

// ByNode makes the problem count whole nodes, which are paid even if jobs do not fill them.
// fill (more than 0, at most 1) is the part of GPUs in use on the nodes that no job has for
// itself. Without ByNode only the GPUs of jobs count, as in the paper.
func (p *Problem) ByNode(fill float64) {
	p.convex.Costs = func(kind, width int) float64 {
		o := &p.Offers[kind]
		return o.GPUPrice() * paid(o, width, fill)
	}
}

// paid returns the GPUs that are paid for a job with so many: whole nodes, and for the rest its
// part of the GPUs in use on the shared node, at most all of that node.
func paid(o *cluster.Offer, gpus int, fill float64) float64 {
	node := o.Node.Capacity.GPUs
	rest := gpus % node
	return float64(gpus-rest) + min(float64(rest)/fill, float64(node))
}

// available returns the part of its time in which a job on so many nodes trains, if it
// restarts, for so many seconds, whenever the provider takes one of the nodes back.
func available(o *cluster.Offer, nodes int, restart float64) float64 {
	return 1 / (1 + float64(nodes)*o.Node.Interruptions/3600*restart)
}

// A Method is a way to choose widths.
type Method uint8

// The methods.
const (
	Mixture   Method = iota // two tables of widths, each for a share of the arrivals: optimal (opt/convex)
	Single                  // one table: the better of the mixture's cheaper one and Published
	Published               // Algorithm 1
)

var methodNames = [...]string{"mixture", "single", "published"}

// String returns the method in lower case.
func (m Method) String() string { return methodNames[m] }

// Methods returns every method.
func Methods() []Method { return []Method{Mixture, Single, Published} }

// A Table is the widths for a budget. A job goes by Fast in a share of the arrivals of
// its class, otherwise by Cheap.
type Table struct {
	Problem     *Problem
	Cheap, Fast convex.Plan
	Share       float64
	Budget      float64 // asked for; Spend is what is used of it
	MeanJCT     float64 // seconds
	Spend       float64 // per hour
	Multiplier  float64 // seconds of MeanJCT that one more unit of budget buys
	Least       float64 // the smallest feasible budget
	Most        float64 // the largest useful budget
}

// Table returns the widths for a budget per hour. It returns a *convex.BudgetError if
// that is too small, whatever the widths.
func (p *Problem) Table(budget float64, m Method) (*Table, error) {
	best, err := p.convex.Mixture(budget)
	if err != nil {
		return nil, err
	}
	t := &Table{
		Problem: p, Budget: budget, Cheap: best.Cheap, Fast: best.Fast, Share: best.Share, MeanJCT: best.MeanJCT,
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

// Frontier returns the least mean JCT for every budget, as the points where the curve bends, by
// ascending budget. Source: BOA §5.3, "Decision Support Tool".
func (p *Problem) Frontier() ([]convex.Breakpoint, error) { return p.convex.MixtureFrontier() }

// At returns the configuration and the offer of a width.
func (p *Problem) At(w convex.Point) (cluster.Configuration, *cluster.Offer) {
	o := &p.Offers[w.Kind]
	return o.Fewest(w.Width), o
}
