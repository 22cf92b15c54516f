package ledger

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

type pool struct {
	Pool
	there    int // GPUs, with leaving ones
	starting int // GPUs that are not up yet
	leaving  int
	price    float64
	held     int

	came, back, gone int
}

// A Movement counts the nodes that entered a pool and left it. A node that broke and was repaired is counted twice.
type Movement struct {
	Pool
	Came     int // nodes that arrived, including those at the start
	Returned int // nodes given back by a round
	Gone     int // nodes that left otherwise: taken by their owner or provider, or broken
}

// Movements returns how many nodes arrived in and left each rented and lent pool, by type, tenure and group.
func (r *Recorder) Movements() []Movement {
	var all []Movement
	for _, p := range r.pools {
		if p.Tenure != cluster.Owned {
			all = append(all, Movement{p.Pool, p.came, p.back, p.gone})
		}
	}
	slices.SortFunc(all, func(a, b Movement) int { return a.Pool.compare(b.Pool) })
	return all
}

func (r *Recorder) pool(of Pool) *pool {
	i := slices.IndexFunc(r.pools, func(p *pool) bool { return p.Pool == of })
	if i < 0 {
		i = len(r.pools)
		r.pools = append(r.pools, &pool{Pool: of})
	}
	return r.pools[i]
}

func (r *Recorder) setCluster(c *cluster.Cluster) {
	if c == r.cluster {
		return
	}
	r.moved(c)
	r.cluster = c
	for _, p := range r.pools {
		if p.Tenure != cluster.Rented {
			p.there = 0
		}
	}
	nodes := c.Nodes()
	for i := range nodes {
		if p := r.pool(poolOf(&nodes[i])); p.Tenure != cluster.Rented {
			p.there += nodes[i].Capacity.GPUs
		}
	}
}

func (r *Recorder) moved(c *cluster.Cluster) {
	nodes := c.Nodes()
	for i := range nodes {
		if r.cluster != nil {
			if _, was := r.cluster.Index(nodes[i].ID); was {
				continue
			}
		}
		if p := r.pool(poolOf(&nodes[i])); r.period.Has(r.now) {
			p.came++
		}
	}
	if r.cluster == nil {
		return
	}
	nodes = r.cluster.Nodes()
	for i := range nodes {
		id := nodes[i].ID
		if _, there := c.Index(id); there {
			continue
		}
		switch p := r.pool(poolOf(&nodes[i])); {
		case !r.period.Has(r.now):
		case r.returned[id]:
			p.back++
		default:
			p.gone++
		}
		delete(r.returned, id)
	}
}

func (r *Recorder) setRentals(rentals []cluster.Rental) {
	for _, p := range r.pools {
		if p.Tenure == cluster.Rented {
			p.there, p.starting, p.leaving = 0, 0, 0
		}
	}
	for i := range rentals {
		l := &rentals[i]
		gpus := l.Node.Capacity.GPUs
		p := r.pool(Pool{l.Node.GPUType, cluster.Rented, l.Group})
		p.price = l.GPUPrice()
		p.there += (l.Ready + l.Leaving) * gpus
		p.starting += l.Starting * gpus
		p.leaving += l.Leaving * gpus
	}
}

func (r *Recorder) settleNobody(now time.Time) {
	from := r.now
	if !now.After(from) {
		return
	}
	r.now = now
	for _, p := range r.pools {
		r.bookRest(p, r.period.overlap(from, now))
	}
}

func (r *Recorder) bookRest(p *pool, d time.Duration) {
	rest := max(0, p.there-p.held)
	leaving := min(p.leaving, rest)
	r.bookNobody(p, Free, rest-leaving, d)
	r.bookNobody(p, Leaving, leaving, d)
	r.bookNobody(p, Starting, p.starting, d)
}

func (r *Recorder) bookNobody(p *pool, use Use, gpus int, d time.Duration) {
	if gpus == 0 || d <= 0 {
		return
	}
	e := Entry{Pool: p.Pool, Use: use, Sum: Sum{Time: Of(gpus, d)}}
	if p.Tenure == cluster.Rented {
		e.Rent = float64(gpus) * p.price * d.Hours()
	}
	r.book(&e)
}
