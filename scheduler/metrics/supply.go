package metrics

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A supply counts the GPUs of each type: how many there are, how many jobs hold, and the integrals of both over
// time. Slices are by type, in the order in which the types appeared.
type supply struct {
	types       []cluster.GPUType
	cluster     *cluster.Cluster // nil at first
	capacity    []int            // available GPUs
	maxCapacity []int
	loaned      []int     // part of capacity
	busy        []int     // held GPUs
	watts       []float64 // mean
	price       []float64 // mean per hour

	heldSeconds     []float64 // integral of busy
	capacitySeconds []float64 // up to the last end
	pauseSeconds    []float64 // since then
}

func (u *supply) set(c *cluster.Cluster) {
	u.cluster = c
	clear(u.capacity)
	clear(u.loaned)
	clear(u.watts)
	clear(u.price)
	for _, n := range c.Nodes() {
		i := u.typeIndex(n.GPUType)
		gpus := float64(n.Capacity.GPUs)
		u.capacity[i] += n.Capacity.GPUs
		u.watts[i] += gpus * n.Power
		u.price[i] += gpus * float64(n.Price)
		if n.Tenure == cluster.Loaned {
			u.loaned[i] += n.Capacity.GPUs
		}
	}
	for i, gpus := range u.capacity {
		u.maxCapacity[i] = max(u.maxCapacity[i], gpus)
		if gpus > 0 {
			u.watts[i] /= float64(gpus)
			u.price[i] /= float64(gpus)
		}
	}
}

func (u *supply) clone() supply {
	c := *u
	c.types, c.busy, c.maxCapacity = slices.Clip(u.types), slices.Clone(u.busy), slices.Clone(u.maxCapacity)
	c.pauseSeconds = slices.Clone(u.pauseSeconds)
	c.heldSeconds, c.capacitySeconds = slices.Clone(u.heldSeconds), slices.Clone(u.capacitySeconds)
	return c
}

func (u *supply) typeIndex(t cluster.GPUType) int {
	if i := slices.Index(u.types, t); i >= 0 {
		return i
	}
	u.types = append(u.types, t)
	u.capacity, u.loaned, u.busy = append(u.capacity, 0), append(u.loaned, 0), append(u.busy, 0)
	u.watts, u.price = append(u.watts, 0), append(u.price, 0)
	u.heldSeconds, u.capacitySeconds = append(u.heldSeconds, 0), append(u.capacitySeconds, 0)
	u.pauseSeconds, u.maxCapacity = append(u.pauseSeconds, 0), append(u.maxCapacity, 0)
	return len(u.types) - 1
}

// holding uses the means of the GPU types if the Run names no nodes.
func (u *supply) holding(act *scheduler.Run) holding {
	a := &act.Allocation
	h := holding{typ: u.typeIndex(a.GPUType), gpus: a.AllGPUs(), others: a.Also.GPUs}
	if h.second = h.typ; a.Mixed() {
		h.second = u.typeIndex(a.Also.GPUType)
	}
	if len(act.Placement) == 0 || u.cluster == nil {
		own, others := float64(h.gpus-h.others), float64(h.others)
		h.watts = own*u.watts[h.typ] + others*u.watts[h.second]
		h.price = own*u.price[h.typ] + others*u.price[h.second]
		return h
	}
	nodes := u.cluster.Nodes()
	for _, share := range act.Placement {
		if i, ok := u.cluster.Index(share.Node); ok {
			h.watts += float64(share.GPUs) * nodes[i].Power
			h.price += float64(share.GPUs) * float64(nodes[i].Price)
			switch nodes[i].Tenure {
			case cluster.Rented:
				h.rented += share.GPUs
			case cluster.Loaned:
				h.loaned += share.GPUs
			case cluster.Owned:
			}
		}
	}
	return h
}

type worth struct {
	training float64 // of a GPU not on loan
	loan     float64
}

type appraisals struct {
	rounds         int
	training, loan float64 // sums of worth
	server         float64
}

func (r *Recorder) setWorth(s *policy.Snapshot, p *policy.Plan) {
	l := &r.lending
	l.worth = worth{}
	if p == nil || len(p.Prices) == 0 || len(s.Jobs) == 0 {
		return
	}
	l.worth = r.gpus.worth(p.Prices)
	if l.nodes > 0 {
		l.appraisals.add(&l.worth, float64(l.gpus)/float64(l.nodes))
	}
}

func (u *supply) worth(prices []policy.TypePrice) worth {
	var w, gpus worth
	for i := range prices {
		k := slices.Index(u.types, prices[i].Type)
		if k < 0 {
			continue
		}
		loan := float64(u.loaned[k])
		training := float64(u.capacity[k]) - loan
		gpus.training, w.training = gpus.training+training, w.training+training*prices[i].Price
		gpus.loan, w.loan = gpus.loan+loan, w.loan+loan*prices[i].Price
	}
	return worth{ratio(w.training, gpus.training), ratio(w.loan, gpus.loan)}
}

func (a *appraisals) add(w *worth, gpus float64) {
	a.rounds++
	a.training += w.training
	a.loan += w.loan
	a.server += gpus * w.loan
}

func (a *appraisals) of(s *LoanSummary) {
	rounds := float64(a.rounds)
	s.Priced = a.rounds
	s.TrainingPrice, s.LoanPrice = ratio(a.training, rounds), ratio(a.loan, rounds)
	s.ServerPrice = ratio(a.server, rounds)
}
