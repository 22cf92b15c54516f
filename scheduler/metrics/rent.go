package metrics

import (
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

type tenancy struct {
	groups   bool // something can be rented
	ready    int
	starting []int // GPUs starting, by type
	leaving  int   // given back, still paid
	busy     int   // rented GPUs that jobs hold
	most     int   // maximum of ready plus starting
	rate     float64
	late     float64 // rate of leaving nodes
	owned    float64 // money per hour, not rented

	paid, paused payment // up to the last end, and since
	bill         bill

	open    map[cluster.NodeID]int // index in lives; MaxNodes if dropped
	lives   []NodeLife
	dropped int
}

type payment struct {
	seconds                            float64
	effective, starting, idle, leaving float64
	money, late, owned                 float64
}

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

func (t *tenancy) coming() int {
	n := 0
	for _, gpus := range t.starting {
		n += gpus
	}
	return n
}

func (t *tenancy) over(d float64) payment {
	coming := float64(t.coming())
	return payment{
		seconds: d, effective: d * (float64(t.ready) + coming), starting: d * coming,
		idle: d * float64(max(0, t.ready-t.busy)), leaving: d * float64(t.leaving),
		money: d * t.rate, late: d * t.late, owned: d * t.owned,
	}
}

func (r *Recorder) setRentals(rentals []cluster.Rental) {
	t := &r.rent
	t.groups = t.groups || len(rentals) > 0
	t.ready, t.leaving, t.rate, t.late = 0, 0, 0, 0
	clear(t.starting)
	for i := range rentals {
		typ := r.gpus.typeIndex(rentals[i].Node.GPUType)
		t.add(&rentals[i], typ, len(r.gpus.types))
	}
	t.most = max(t.most, t.ready+t.coming())
	t.bill.change(r.now.Sub(r.start).Seconds(), t.rate+t.late)
}

func (t *tenancy) add(l *cluster.Rental, typ, types int) {
	gpus := l.Node.Capacity.GPUs
	t.starting = append(t.starting, make([]int, types-len(t.starting))...)
	t.ready += l.Ready * gpus
	t.starting[typ] += l.Starting * gpus
	t.leaving += l.Leaving * gpus
	t.rate += float64((l.Ready+l.Starting)*gpus) * l.GPUPrice()
	t.late += float64(l.Leaving*gpus) * l.GPUPrice()
}

func (t *tenancy) comingOf(typ int) int {
	if typ >= len(t.starting) {
		return 0
	}
	return t.starting[typ]
}

func (t *tenancy) setLives(c *cluster.Cluster, now float64, most int) {
	for id, i := range t.open { // iterations are independent: their order does not matter
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
		if len(t.lives) >= most {
			t.dropped++
			t.open[n.ID] = most
			continue
		}
		t.open[n.ID] = len(t.lives)
		t.lives = append(t.lives, NodeLife{Node: n.ID, Group: n.Group, Ready: now, Released: -1})
	}
}

func (t *tenancy) clone() tenancy {
	c := *t
	c.starting, c.lives = slices.Clone(t.starting), slices.Clone(t.lives)
	c.bill.points = slices.Clip(t.bill.points)
	return c
}

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

const week = 7 * 24 * time.Hour

type bill struct {
	points []point // from 0, by time
	rate   float64
}

type point struct{ at, spent float64 }

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

func (b *bill) spent(at float64) float64 {
	i := sort.Search(len(b.points), func(i int) bool { return b.points[i].at > at })
	if i == len(b.points) {
		last := b.points[i-1]
		return last.spent + b.rate*(at-last.at)
	}
	from, to := b.points[i-1], b.points[i]
	return from.spent + (to.spent-from.spent)*(at-from.at)/(to.at-from.at)
}

// worst returns the most spent in any window, per hour; 0 if the run is shorter. Spending is piecewise linear, so
// a window that ends or begins at a point has the most.
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
