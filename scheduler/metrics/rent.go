package metrics

import (
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// This file follows rented nodes: what is paid for them, and how long each was there.

// A tenancy is what is rented now, and what was paid so far.
type tenancy struct {
	groups   bool  // something can be rented
	ready    int   // GPUs paid and there
	starting []int // GPUs paid and on their way, by type
	leaving  int   // GPUs given back and still paid
	busy     int   // GPUs of rented nodes that jobs hold
	most     int   // GPUs ready and starting, ever
	rate     float64
	late     float64 // of what is leaving
	owned    float64 // of nodes that are there and not rented; all money per hour

	paid, paused payment // from the first submission to the last end, and since the last end
	bill         bill

	open    map[cluster.NodeID]int // of nodes that are there: their index in lives, or beyond
	lives   []NodeLife
	dropped int
}

// A payment is GPU-seconds, and money times 3600, of rented nodes, and how long they were
// counted.
type payment struct {
	seconds                            float64
	effective, starting, idle, leaving float64
	money, late, owned                 float64
}

// add books some more of q.
func (p *payment) add(q *payment) {
	p.seconds += q.seconds
	p.effective += q.effective
	p.starting += q.starting
	p.idle += q.idle
	p.leaving += q.leaving
	p.money += q.money
	p.late += q.late
	p.owned += q.owned
}

// coming returns the GPUs on their way.
func (t *tenancy) coming() int {
	n := 0
	for _, gpus := range t.starting {
		n += gpus
	}
	return n
}

// over returns what is paid over some seconds as things are.
func (t *tenancy) over(d float64) payment {
	coming := float64(t.coming())
	return payment{
		seconds: d, effective: d * (float64(t.ready) + coming), starting: d * coming,
		idle: d * float64(max(0, t.ready-t.busy)), leaving: d * float64(t.leaving),
		money: d * t.rate, late: d * t.late, owned: d * t.owned,
	}
}

// setRentals takes note of how it stands with what can be rented.
func (r *Recorder) setRentals(rentals []cluster.Rental) {
	t := &r.rent
	t.groups = t.groups || len(rentals) > 0
	t.ready, t.leaving, t.rate, t.late = 0, 0, 0, 0
	clear(t.starting)
	for i := range rentals {
		r.setRental(&rentals[i])
	}
	t.most = max(t.most, t.ready+t.coming())
	t.bill.change(r.now.Sub(r.start).Seconds(), t.rate+t.late)
}

// setRental adds one offer.
func (r *Recorder) setRental(l *cluster.Rental) {
	t, typ, gpus := &r.rent, r.typeIndex(l.Node.GPUType), l.Node.Capacity.GPUs
	t.starting = append(t.starting, make([]int, len(r.types)-len(t.starting))...)
	t.ready += l.Ready * gpus
	t.starting[typ] += l.Starting * gpus
	t.leaving += l.Leaving * gpus
	t.rate += float64((l.Ready+l.Starting)*gpus) * l.GPUPrice()
	t.late += float64(l.Leaving*gpus) * l.GPUPrice()
}

// comingOf returns the GPUs of a type that are on their way.
func (t *tenancy) comingOf(typ int) int {
	if typ >= len(t.starting) {
		return 0
	}
	return t.starting[typ]
}

// setLives begins the lives of rented nodes that have come and ends those of nodes that
// are gone.
func (r *Recorder) setLives(c *cluster.Cluster) {
	t, now := &r.rent, r.now.Sub(r.start).Seconds()
	for id, i := range t.open { // each for itself: the order does not matter
		if _, there := c.Index(id); there {
			continue
		}
		if i < len(t.lives) {
			t.lives[i].Released = now
		}
		delete(t.open, id)
	}
	for _, n := range c.Nodes() {
		if _, known := t.open[n.ID]; known || n.Tenure != cluster.Rented {
			continue
		}
		if len(t.lives) >= r.opts.MaxNodes {
			t.dropped++
			t.open[n.ID] = r.opts.MaxNodes
			continue
		}
		t.open[n.ID] = len(t.lives)
		t.lives = append(t.lives, NodeLife{Node: n.ID, Group: n.Group, Ready: now, Released: -1})
	}
}

// clone returns a tenancy that can go on without a trace in t.
func (t *tenancy) clone() tenancy {
	c := *t
	c.starting, c.lives = slices.Clone(t.starting), slices.Clone(t.lives)
	c.bill.points = slices.Clip(t.bill.points)
	return c
}

// summary returns what was paid up to now, in seconds since the start; nil if nothing
// could be rented.
func (t *tenancy) summary(now float64) *Rent {
	if !t.groups {
		return nil
	}
	p := &t.paid
	return &Rent{
		Hours: p.effective / 3600, Starting: p.starting / 3600, Idle: p.idle / 3600, Leaving: p.leaving / 3600,
		Money: p.money / 3600, LeavingMoney: p.late / 3600,
		MeanGPUs: ratio(p.effective, p.seconds), MostGPUs: t.most, WorstWeek: t.bill.worst(now, week),
	}
}

// week is the window over which BOA reports that a budget is kept.
const week = 7 * 24 * time.Hour

// A bill is what was spent over time: a curve that is straight between points.
type bill struct {
	points []point // by time; the first is at 0
	rate   float64 // per hour, since the last
}

// A point is the money times 3600 spent up to a time, in seconds.
type point struct{ at, spent float64 }

// change sets the rate from a time on.
func (b *bill) change(at, rate float64) {
	if len(b.points) == 0 {
		b.points = append(b.points, point{})
	}
	if rate == b.rate {
		return
	}
	p := point{at, b.spent(at)}
	if last := len(b.points) - 1; b.points[last].at == at {
		b.points[last] = p
	} else {
		b.points = append(b.points, p)
	}
	b.rate = rate
}

// spent returns what was spent up to a time.
func (b *bill) spent(at float64) float64 {
	i := sort.Search(len(b.points), func(i int) bool { return b.points[i].at > at })
	if i == len(b.points) {
		last := b.points[i-1]
		return last.spent + b.rate*(at-last.at)
	}
	from, to := b.points[i-1], b.points[i]
	return from.spent + (to.spent-from.spent)*(at-from.at)/(to.at-from.at)
}

// worst returns the most that was spent in any window of a length, per hour of it; 0 if
// the run, which ends now, is shorter. What a window holds is
// piecewise linear in its begin, so that it is the most where one of its ends is a
// point.
func (b *bill) worst(now float64, length time.Duration) float64 {
	window, most := length.Seconds(), 0.0
	if len(b.points) == 0 || now < window {
		return 0
	}
	for _, p := range b.points {
		for _, begin := range []float64{p.at, p.at - window} {
			begin = min(max(begin, 0), now-window)
			most = max(most, b.spent(begin+window)-b.spent(begin))
		}
	}
	return most / window
}
