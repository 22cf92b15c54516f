package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// A memo caches the state of a running job. It is valid while the job's row and the node types stay; time and room
// must be checked.
type memo struct {
	version  int // of layout; 0: no memo
	turn     int // of layout for which nodes and span are valid
	at       int
	span     [3]int // see grant.Round.Range
	pair     int
	base     cluster.Placement
	flex     cluster.Placement
	nodes    []int // of its placement
	flexible []int // GPUs of flexible workers there; nil: none
	has      allocate.Workers
	whole    bool   // flexible GPUs of each type are whole workers
	curve    *curve // source of its speeds, or nil
}

func (p *Policy) reuse(s *policy.Snapshot, j *policy.Job, pinned bool) *tenant {
	for p.at < len(p.last) && older(p.last[p.at].Job, j) {
		p.at++
	}
	if p.at == len(p.last) || p.last[p.at].Job != j {
		return &tenant{Job: j, pair: none, aim: none, pinned: pinned}
	}
	t := p.last[p.at]
	if pinned || t.pinned || t.reclaimed || t.memo.version == 0 || t.memo.version != p.layout.version || len(s.Classes) > 0 {
		*t = tenant{Job: j, pair: none, aim: none, pinned: pinned}
	}
	return t
}

func older(a, b *policy.Job) bool {
	if a == b {
		return false
	}
	c := a.Submitted.Compare(b.Submitted)
	return c < 0 || c == 0 && a.ID < b.ID
}

func (d *demands) remember(t *tenant, at int) {
	if t.least == 0 {
		return
	}
	t.memo = memo{version: d.policy.layout.version, at: at, pair: t.pair, base: t.base, flex: t.flex, has: d.has(t), whole: d.whole(t)}
	for k, s := range t.Placement {
		if gpus := on(t.flex, s.Node); gpus > 0 {
			t.memo.flexible = append(t.memo.flexible, make([]int, len(t.Placement)-len(t.memo.flexible))...)
			t.memo.flexible[k] = gpus
		}
	}
	if t.rates != nil {
		t.memo.curve = d.policy.curves[place{t.ID, at}]
	}
	t.memo.span = d.span(t)
	d.locate(t)
	t.untouched = true
}

func (d *demands) span(t *tenant) [3]int {
	least, most, step := d.Range(t.index, t.memo.at)
	return [3]int{least, most, step}
}

func (d *demands) locate(t *tenant) bool {
	t.memo.nodes, t.memo.turn = t.memo.nodes[:0], d.policy.layout.turn
	for _, s := range t.Placement {
		n, ok := d.s.Cluster.Index(s.Node)
		if !ok {
			return false
		}
		t.memo.nodes = append(t.memo.nodes, n)
	}
	return true
}

func (d *demands) holds(t *tenant) bool {
	if t.memo.turn != d.policy.layout.turn && (t.modelled() || d.span(t) != t.memo.span || !d.locate(t)) {
		return false
	}
	for k, n := range t.memo.nodes {
		if !d.room.Has(n, &t.Placement[k].Resources) {
			return false
		}
	}
	return true
}

func (d *demands) whole(t *tenant) bool {
	for _, at := range d.pairs[t.pair] {
		if at != none && len(t.flex) > 0 && d.s.Cluster.On(t.flex, d.types[at].Type).GPUs()%d.gpus(t, at, 1) != 0 {
			return false
		}
	}
	return true
}

func (d *demands) resume(t *tenant) {
	if !d.holds(t) {
		*t = tenant{Job: t.Job, index: t.index, pair: none, aim: none}
		d.settle(t)
		return
	}
	t.pair, t.base, t.flex, t.untouched = t.memo.pair, t.memo.base, t.memo.flex, true
	t.want, t.unplaced, t.refused = allocate.Workers{}, false, policy.Reason{}
	if t.memo.curve != nil {
		t.memo.curve.seen = d.s.Round
	}
	t.basis.Now = d.s.Now
	t.work = workUnknown
	d.occupy(t)
}

func (d *demands) occupy(t *tenant) {
	for k, n := range t.memo.nodes {
		s, h, flexible := &t.Placement[k].Resources, &d.nodes[n], 0
		d.room.TakeFrom(n, s)
		d.free[h.t] -= s.GPUs
		if t.memo.flexible != nil {
			flexible = t.memo.flexible[k]
		}
		h.flexible += flexible
		if h.base += s.GPUs - flexible; h.loaned && s.GPUs > flexible {
			h.extend(d.end(t))
		}
	}
}

// A curve is the estimated speed of an elastic job on a GPU type: progress per second by workers, from the
// fewest. Where the job does not run, the speed with one worker less stands in.
type curve struct {
	of    shape
	rates []float64
	seen  int
}

type shape struct {
	model      perf.Model
	limits     *job.BatchLimits
	cluster    *cluster.Cluster
	unit       int
	least, top int
}

type place struct {
	id job.ID
	at int
}

func (t *tenant) modelled() bool { return t.Perf != nil && !t.Timed }

// setSpeeds sets the speeds of an elastic job with a model, and limits its workers to the fastest number, or its
// present one if larger.
func (d *demands) setSpeeds(t *tenant, at int) {
	if t.rates = nil; !t.modelled() || !t.elastic() {
		return
	}
	key := place{t.ID, at}
	c := d.policy.curves[key]
	if now := (shape{t.Perf, t.Limits, d.s.Cluster, d.gpus(t, at, 1), t.least, t.top}); c == nil || c.of != now {
		c = &curve{of: now, rates: d.curve(t, at)}
		d.policy.curves[key] = c
	}
	if c.seen = d.s.Round; len(c.rates) > 0 {
		t.rates, t.top = c.rates, max(t.held, t.least+slices.Index(c.rates, slices.Max(c.rates)))
	}
}

func (d *demands) curve(t *tenant, at int) []float64 {
	rates := make([]float64, 0, t.top-t.least+1)
	for w := t.least; w <= t.top; w++ {
		rate, _ := t.Job.Speed(d.Amount(t.index, at, d.gpus(t, at, w)))
		switch {
		case rate > 0:
		case len(rates) == 0:
			return nil
		default:
			rate = rates[len(rates)-1]
		}
		rates = append(rates, rate)
	}
	return rates
}

// speed returns the speed by workers, scaled so that the base demand is as fast as its workers; nil (linear) without
// a model. Source: Lyra §8, "a non-linear function of resources".
func (t *tenant) speed() func(workers int) float64 {
	if t.rates == nil {
		return nil
	}
	rates, least := t.rates, t.least
	return func(workers int) float64 { return float64(least) * rates[workers-least] / rates[0] }
}
