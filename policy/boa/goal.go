package boa

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// goal returns the width of a job's class and epoch, or what is best by the job's own model at the same
// price.
func (p *Policy) goal(j *policy.Job, offers []cluster.Offer, ends []int) goal {
	g := goal{offer: -1}
	if w := p.widths; w != nil {
		if class, ok := w.class[j.Class]; ok && j.Class != "" {
			g = p.byClass(j, w, class, offers[:ends[0]])
		}
	}
	for k := 0; k < len(ends) && g.offer < 0; k++ {
		g = p.alone(j, offers[:ends[k]])
	}
	return g
}

func (p *Policy) byClass(j *policy.Job, w *widths, class int, offers []cluster.Offer) goal {
	epoch := min(max(0, j.Epoch), len(w.ends[class])-1)
	table, at := w.entry(class, epoch, p.draw(j))
	h := find(offers, &w.table.problem.offers[at.Kind])
	if h < 0 {
		return goal{offer: -1}
	}
	o := &offers[h]
	gpus := clamp(j, o.Node.GPUType, at.Width)
	if !fitting(j, o, gpus) || gpus != at.Width && !w.runs(class, at.Kind, epoch, gpus) {
		return goal{offer: -1}
	}
	g := goal{offer: h, Configuration: o.Fewest(gpus)}
	g.left = w.timeLeft(table, class, epoch, j.Done(p.now))
	p.compare(j, w, stretch{class: class, epoch: epoch, end: w.block(table, class, epoch), done: j.Done(p.now)}, &g)
	return g
}

func (w *widths) runs(class, offer, epoch, gpus int) bool {
	rows := w.epochTimes[class][offer]
	return gpus <= len(rows) && !math.IsInf(rows[gpus-1][epoch], 1)
}

func find(offers []cluster.Offer, like *cluster.Offer) int {
	for i := range offers {
		if o := &offers[i]; o.Group == like.Group && alike(o, like) {
			return i
		}
	}
	return -1
}

func clamp(j *policy.Job, t cluster.GPUType, width int) int {
	if !j.Adaptivity.Has(job.GPUCount) {
		return j.Requested(t)
	}
	replica := j.ReplicaGPUs(t)
	if most := j.Most(t); most > 0 {
		width = min(width, most)
	}
	least := (j.Min(t) + replica - 1) / replica * replica
	return max(width/replica*replica, least)
}

func fitting(j *policy.Job, o *cluster.Offer, gpus int) bool {
	return gpus <= o.Most*o.Node.Capacity.GPUs && j.KeepsType(o.Node.GPUType) && j.Allows(o.Fewest(gpus))
}

func (w *widths) timeLeft(table, class, epoch int, progress float64) float64 {
	left := w.left[table][class]
	return left[epoch+1] + w.undone(class, epoch, progress)*(left[epoch]-left[epoch+1])
}

type stretch struct {
	class, epoch, end int
	done              float64
}

// compare decides whether a job keeps its GPUs: they equal its goal, or moving does not pay for the epochs of the
// same width. For a job that follows its table moving pays, because the table is optimal.
func (p *Policy) compare(j *policy.Job, w *widths, ahead stretch, g *goal) {
	held := j.Allocation.Configuration
	if !j.Holding() {
		return
	}
	if held.GPUs == g.GPUs && held.GPUType == g.GPUType {
		g.stay, g.why = true, policy.Reason{Kind: policy.AsPlanned}
		return
	}
	if p.o.Method == Published || !j.Adaptivity.Has(job.GPUCount) {
		return
	}
	restart := w.table.problem.classes[ahead.class].Restart.Seconds()
	was := cost{w.time(held, ahead), rate(w.table.problem.offers, held)}
	will := cost{w.time(g.Configuration, ahead), rate(w.table.problem.offers, g.Configuration)}
	g.weigh(was, will, restart, w.price)
}

func (w *widths) block(table, class, epoch int) int {
	plan := &w.table.Cheap
	if table == 1 {
		plan = &w.table.Fast
	}
	end, row := epoch+1, plan.Widths[class]
	for end < len(row) && row[end].Kind == row[epoch].Kind && row[end].Width == row[epoch].Width {
		end++
	}
	return end
}

func (w *widths) time(c cluster.Configuration, ahead stretch) float64 {
	class, epoch := ahead.class, ahead.epoch
	least := math.Inf(1)
	for h := range w.table.problem.offers {
		rows := w.epochTimes[class][h]
		if w.table.problem.offers[h].Node.GPUType != c.GPUType || !w.runs(class, h, epoch, c.GPUs) {
			continue
		}
		total := w.undone(class, epoch, ahead.done) * rows[c.GPUs-1][epoch]
		for _, seconds := range rows[c.GPUs-1][epoch+1 : ahead.end] {
			total += seconds
		}
		least = min(least, total)
	}
	return least
}

func (w *widths) undone(class, epoch int, progress float64) float64 {
	size := w.table.problem.classes[class].Sizes[epoch]
	return min(max(0, w.ends[class][epoch]-progress), size) / size
}

func rate(offers []cluster.Offer, c cluster.Configuration) float64 {
	for i := range offers {
		if o := &offers[i]; o.Node.GPUType == c.GPUType {
			return float64(c.GPUs) * o.GPUPrice()
		}
	}
	return 0
}

type cost struct{ time, rate float64 }

func (c cost) at(price float64) float64 {
	if math.IsInf(price, 1) {
		return c.time * c.rate
	}
	return c.time * (1 + price*c.rate)
}

func (g *goal) weigh(was, will cost, restart, price float64) {
	moved := cost{will.time + restart, will.rate}
	if !(was.at(price) <= moved.at(price)) {
		return
	}
	g.stay = true
	g.why = policy.Reason{Kind: policy.AsPlanned}
	gain, needed := was.at(price)/will.at(price), moved.at(price)/will.at(price)
	if gain > 1 && !math.IsInf(needed, 1) && needed > gain {
		g.why = policy.Reason{Kind: policy.KeptNoRestart, Config: g.Configuration, Value: gain, Limit: needed}
	}
}

// alone returns the best goal by the job's own model, at the price behind the widths; before there is one,
// the most goodput per GPU-hour.
func (p *Policy) alone(j *policy.Job, offers []cluster.Offer) goal {
	price := math.Inf(1)
	switch {
	case p.widths != nil:
		price = p.widths.price
	case p.o.Budget == 0:
		price = 0
	}
	best, least := goal{offer: -1, left: math.Inf(1)}, math.Inf(1)
	for i := range offers {
		o := &offers[i]
		for _, gpus := range amounts(j, o, p.o.Widest) {
			c := o.Fewest(gpus)
			per := cost{1 / goodput(j, c), float64(gpus) * o.GPUPrice()}
			if v := per.at(price); v < least || best.offer < 0 {
				least, best = v, goal{offer: i, Configuration: c, left: p.remaining(j) * per.time}
			}
		}
	}
	if best.offer >= 0 {
		p.compareAlone(j, &best, offers, price)
	}
	return best
}

func (p *Policy) compareAlone(j *policy.Job, g *goal, offers []cluster.Offer, price float64) {
	held := j.Allocation.Configuration
	switch {
	case !j.Holding():
		return
	case held.GPUs == g.GPUs && held.GPUType == g.GPUType:
		g.stay, g.why = true, policy.Reason{Kind: policy.AsPlanned}
	case !math.IsInf(p.remaining(j), 1):
		was := cost{p.remaining(j) / goodput(j, held), rate(offers, held)}
		will := cost{g.left, float64(g.GPUs) * offers[g.offer].GPUPrice()}
		g.weigh(was, will, j.RestartOverhead.Seconds(), price)
	}
}

func (p *Policy) remaining(j *policy.Job) float64 {
	b := j.Basis(p.now)
	left, from := b.Work()
	if from == perf.FromAttained {
		return math.Inf(1)
	}
	return max(left, 1e-9*j.Target)
}

func amounts(j *policy.Job, o *cluster.Offer, widest int) []int {
	t, node := o.Node.GPUType, o.Node.Capacity.GPUs
	if !j.Adaptivity.Has(job.GPUCount) {
		if gpus := j.Requested(t); fitting(j, o, gpus) {
			return []int{gpus}
		}
		return nil
	}
	var all []int
	for gpus := clamp(j, t, 1); gpus <= max(widest, clamp(j, t, 1)); gpus += j.ReplicaGPUs(t) {
		if fitting(j, o, gpus) && (gpus <= node || gpus%node == 0 || len(all) == 0) {
			all = append(all, gpus)
		}
	}
	return all
}

func goodput(j *policy.Job, c cluster.Configuration) float64 {
	if j.Perf == nil {
		return 1
	}
	a := cluster.Allocation{Configuration: c}
	v := perf.Goodput(j.Perf, a, c.GPUs/j.ReplicaGPUs(c.GPUType), j.Expected(a, job.BatchSize{}))
	if !(v > 0) || math.IsInf(v, 1) {
		return 0
	}
	return v
}
