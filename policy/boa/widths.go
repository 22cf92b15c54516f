package boa

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/convex"
	"github.com/oxgang/oxgang/policy"
)

type widths struct {
	table *Table
	class map[job.Class]int
	// price is the value of one unit of budget in a job's time: options are compared by time × (1 + price ×
	// cost per hour).
	price      float64
	ends       [][]float64     // by class: progress at the end of each epoch
	left       [2][][]float64  // by table and class: seconds from each epoch's start to the job's end
	epochTimes [][][][]float64 // by class: see Problem.epochTimes
	note       string          // invalid classes and why; a budget that is too small
}

// compute returns the widths for a budget per hour. If that is too small for any, it returns the cheapest
// ones, and jobs wait.
func compute(in *inputs, o *Options) (*widths, error) {
	if err := checkOffers(in.offers); err != nil {
		return nil, err
	}
	p, errs := newProblem(in.classes, in.offers, o.Widest)
	var notes []string
	for _, err := range errs {
		notes = append(notes, "boa: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(p.classes) == 0 {
		return nil, fmt.Errorf("boa: no class of jobs has valid statistics: %s", strings.Join(notes, "; "))
	}
	p.ByNode(in.fill)
	t, err := p.Table(in.budget, o.Method)
	if low, ok := errors.AsType[*convex.BudgetError](err); ok {
		t, err = p.Table(low.Least, Mixture)
		if o.Budget < low.Least {
			notes = append(notes, fmt.Sprintf("boa: budget %g per hour, want at least %g: jobs get the cheapest GPU counts, and wait", o.Budget, low.Least))
		}
	}
	if errors.Is(err, convex.ErrNoPlan) {
		t, err = p.Table(in.budget, Single)
	}
	if err != nil {
		return nil, err
	}
	return newWidths(t, strings.Join(notes, "; ")), nil
}

func newWidths(t *Table, note string) *widths {
	w := &widths{table: t, class: make(map[job.Class]int), note: note}
	rates := 0.0
	for i, c := range t.problem.classes {
		w.class[c.Class] = i
		rates += t.problem.convex.Classes[i].Rate
		w.ends = append(w.ends, sums(c.Sizes))
		w.epochTimes = append(w.epochTimes, t.problem.epochTimes(i))
	}
	w.price = t.Multiplier * rates
	for k, plan := range []convex.Plan{t.Cheap, t.Fast} {
		w.left[k] = make([][]float64, len(plan.Widths))
		for i := range plan.Widths {
			w.left[k][i] = t.problem.left(i, plan.Widths[i])
		}
	}
	return w
}

func sums(values []float64) []float64 {
	out, total := make([]float64, len(values)), 0.0
	for i, v := range values {
		total += v
		out[i] = total
	}
	return out
}

func (p *Problem) epochTimes(class int) [][][]float64 {
	c := &p.convex.Classes[class]
	all := make([][][]float64, len(p.offers))
	for j := range c.Epochs {
		for _, at := range c.Epochs[j].Points {
			for len(all[at.Kind]) < at.Width {
				all[at.Kind] = append(all[at.Kind], slices.Repeat([]float64{math.Inf(1)}, len(c.Epochs)))
			}
			all[at.Kind][at.Width-1][j] = c.Epochs[j].Size / at.Speed
		}
	}
	return all
}

func (p *Problem) left(class int, widths []convex.Point) []float64 {
	out, epochs := make([]float64, len(widths)+1), p.convex.Classes[class].Epochs
	for j := len(widths) - 1; j >= 0; j-- {
		out[j] = out[j+1] + epochs[j].Size/widths[j].Speed
	}
	return out
}

// learn stores computed widths, and returns the work that computes new ones if inputs drifted. The first are
// computed at once. Source: BOA §5.2, "Asynchronous Parameter Computation".
func (p *Policy) learn(ctx context.Context, s *policy.Snapshot, offers []cluster.Offer) policy.Work {
	p.take(s.Computed)
	now := inputs{s.Classes, offers, p.budget(s), p.fill.part()}
	if len(now.classes) == 0 || len(offers) == 0 || p.work != nil || !p.drifted(s.Now, &now) {
		return p.work
	}
	p.asked, p.at = now, s.Now
	p.work = p.computing()
	if p.widths == nil && p.failed == "" {
		p.take(p.work.Do(ctx))
	}
	return p.work
}

func (p *Policy) computing() policy.Work {
	in, o := p.asked, p.o
	return func(context.Context) any {
		w, err := compute(&in, &o)
		if err != nil {
			return err
		}
		return w
	}
}

func (p *Policy) take(computed any) {
	switch c := computed.(type) {
	case nil:
		return
	case *widths:
		p.widths, p.failed = c, c.note
	case error:
		p.failed = c.Error()
	}
	p.work = nil
}

// drift is the relative change of budget or fill that triggers a computation.
const drift = 0.05

func (p *Policy) drifted(at time.Time, now *inputs) bool {
	was := &p.asked
	switch {
	case p.at.IsZero() || len(now.classes) != len(was.classes):
		return true
	case at.Sub(p.at) < p.o.Recompute:
		return false
	}
	return moved(now.budget, was.budget) || moved(now.fill, was.fill) || !slices.Equal(now.classes, was.classes) || !slices.Equal(now.offers, was.offers)
}

func moved(now, was float64) bool { return now != was && !(math.Abs(now-was) <= drift*was) }

func (w *widths) entry(class, epoch int, draw float64) (table int, at convex.Point) {
	plan := &w.table.Cheap
	if draw < w.table.Share {
		table, plan = 1, &w.table.Fast
	}
	return table, plan.Widths[class][epoch]
}
