package boa

import (
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// A pool is the nodes of one GPU type: present ones, and starting or rentable ones that are opened as jobs
// need them.
type pool struct {
	gpu   cluster.GPUType
	share cluster.Resources // CPUs and memory of a GPU, if counted
	nodes []slot
	rooms []int // number of nodes by free GPUs
}

type slot struct {
	id    cluster.NodeID // empty: not there yet
	group int            // index of its offer; -1: owned
	size  int
	free  cluster.Resources
	used  bool // the plan has a job on it
	paid  bool // there, ordered, or opened for a job of the plan
	jobs  int
}

func (y *pool) fits(n *slot) int {
	gpus := n.free.GPUs
	if y.share.CPUs > 0 && n.id != "" {
		gpus = min(gpus, int(n.free.CPUs/y.share.CPUs*(1+1e-9)), int(n.free.Memory/max(1, y.share.Memory)))
	}
	return gpus
}

func (y *pool) has(p cluster.Placement, at map[cluster.NodeID]int) bool {
	for _, s := range p {
		i, ok := at[s.Node]
		if !ok || i >= len(y.nodes) || y.nodes[i].id != s.Node || y.nodes[i].free.GPUs < s.GPUs {
			return false
		}
	}
	return true
}

func (y *pool) add(n slot) {
	y.nodes = append(y.nodes, n)
	for len(y.rooms) <= n.size {
		y.rooms = append(y.rooms, 0)
	}
	y.rooms[n.size]++
}

func (y *pool) use(i int, r cluster.Resources) {
	n := &y.nodes[i]
	n.used = true
	n.jobs++
	y.change(n, cluster.Resources{GPUs: -r.GPUs, CPUs: -r.CPUs, Memory: -r.Memory})
}

func (y *pool) change(n *slot, r cluster.Resources) {
	y.rooms[n.free.GPUs]--
	n.free.GPUs, n.free.CPUs, n.free.Memory = n.free.GPUs+r.GPUs, n.free.CPUs+r.CPUs, n.free.Memory+r.Memory
	y.rooms[n.free.GPUs]++
}

func (y *pool) room(gpus int) bool {
	return gpus < len(y.rooms) && slices.ContainsFunc(y.rooms[gpus:], func(nodes int) bool { return nodes > 0 })
}

type part struct{ node, gpus int }

func (y *pool) seat(needs []int, held map[cluster.NodeID]bool, open func() bool) []part {
	var parts []part
	for _, need := range needs {
		i := y.best(need, held, parts)
		if i < 0 {
			if !open() {
				return nil
			}
			i = len(y.nodes) - 1
		}
		parts = append(parts, part{i, need})
	}
	return parts
}

func (y *pool) best(need int, held map[cluster.NodeID]bool, taken []part) int {
	best, rank := -1, 0
	if !y.room(need) {
		return best
	}
	for i := range y.nodes {
		n := &y.nodes[i]
		if n.free.GPUs < need {
			continue
		}
		room := y.fits(n)
		r := n.rank(room, held)
		if room < need || best >= 0 && r >= rank || slices.ContainsFunc(taken, func(p part) bool { return p.node == i }) {
			continue
		}
		best, rank = i, r
	}
	return best
}

func (n *slot) rank(room int, held map[cluster.NodeID]bool) int {
	const more = 1 << 12
	rank := room
	if !held[n.id] {
		rank += more
	}
	if !n.used {
		rank += 2 * more
	}
	if !n.used && n.group >= 0 {
		rank += 4 * more
	}
	if n.id == "" {
		rank += 8 * more
	}
	return rank
}

type ledger struct {
	begun  time.Time
	points []point // by time, linear in between
}

type point struct {
	at           time.Time
	spent, width float64
}

func (l *ledger) enter(now time.Time, window time.Duration, paid, width float64) {
	n := len(l.points)
	if n == 0 {
		l.begun = now
		l.points = append(l.points, point{at: now})
		return
	}
	last := l.points[n-1]
	hours := now.Sub(last.at).Hours()
	if hours <= 0 {
		return
	}
	next := point{now, last.spent + hours*paid, last.width + hours*width}
	if n > 1 && steady(l.points[n-2], last, next) {
		l.points = l.points[:n-1]
	}
	l.points = append(l.points, next)
	if old := l.before(now.Add(-window)); old > len(l.points)/2 {
		l.points = slices.Delete(l.points, 0, old)
	}
}

func steady(a, b, c point) bool {
	part := b.at.Sub(a.at).Hours() / c.at.Sub(a.at).Hours()
	on := func(x, y, z float64) bool { return math.Abs(x+part*(z-x)-y) <= 1e-9*math.Abs(z-x) }
	return on(a.spent, b.spent, c.spent) && on(a.width, b.width, c.width)
}

func (l *ledger) before(at time.Time) int {
	i, exact := slices.BinarySearchFunc(l.points, at, func(p point, t time.Time) int { return p.at.Compare(t) })
	if !exact {
		i--
	}
	return max(0, i)
}

func (l *ledger) since(at time.Time) (spent, width float64) {
	if len(l.points) == 0 {
		return 0, 0
	}
	i, last := l.before(at), l.points[len(l.points)-1]
	p := l.points[i]
	if i+1 < len(l.points) && at.After(p.at) {
		q := l.points[i+1]
		part := at.Sub(p.at).Hours() / q.at.Sub(p.at).Hours()
		p.spent, p.width = p.spent+part*(q.spent-p.spent), p.width+part*(q.width-p.width)
	}
	return last.spent - p.spent, last.width - p.width
}

type guarantee struct {
	budget, slack   float64
	window, horizon time.Duration
}

// trust is how long before the first entry spending is assumed to equal the cost of widths.
const trust = time.Hour

// budget returns the budget for widths: past deviations are made up for within the horizon, and spending
// beyond widths is subtracted.
func (l *ledger) budget(now time.Time, p *guarantee) float64 {
	if p.horizon == 0 || len(l.points) == 0 {
		return p.budget
	}
	over := min(p.window, now.Sub(l.begun))
	spent, width := l.since(now.Add(-over))
	left := p.budget*over.Hours() - spent
	b := p.budget + left/p.horizon.Hours()
	before := p.budget * trust.Hours()
	overhead := (before + spent) / (before + width)
	return min(max(b, 0), 2*p.budget) / max(1, overhead)
}

// heldBack is the part of the slack held back for leaving nodes, which are paid for a while though a round counts
// them as gone.
const heldBack = 0.1

// most returns what may be paid per hour so that no window that ends within ahead exceeds its limit; infinite
// without a limit.
func (l *ledger) most(now time.Time, p *guarantee, round, ahead time.Duration) float64 {
	if p.horizon == 0 {
		return math.Inf(1)
	}
	all := (1 + (1-heldBack)*p.slack) * p.budget * p.window.Hours()
	least := math.Inf(1)
	for end := max(round, time.Second); end <= max(ahead, round); end *= 2 {
		spent, _ := l.since(now.Add(end - p.window))
		least = min(least, max(0, all-spent)/end.Hours())
	}
	return least
}
