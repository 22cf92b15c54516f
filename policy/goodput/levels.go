package goodput

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// Levels. Rows of a level (Row.Level) choose among what earlier levels leave, as if there were no later ones. A job
// that adapts its GPU count claims at most its request in its level, unless it keeps what it holds. After the last
// level, jobs of all levels may grow together, each on the GPU type that it chose. A job that holds more than its
// request claims the request as if it held exactly that; the growth stage then decides about the rest.
//
// Each level is a new program. Rows of a single level are solved as one program.

// Each level has two stages: 2·level serves the shares of tenants (shares.go), and 2·level+1 all others.
type levelled struct {
	p      *Program
	ctx    context.Context
	clock  time.Time
	rows   []*Row
	of     []int       // by row: its stage
	at     [][]int     // by level: its rows
	left   [][]float64 // by stage: resources that earlier stages left
	alone  [][]float64 // by level: resources that earlier levels would leave if they had only pinned jobs
	prices [][]float64 // by stage
	now    []float64
	whole  []float64
	sol    *mmkp.Solution

	short     tenants       // those served up to their shares first
	reclaimed map[*Row]bool // jobs stopped to make room for shares
}

func levels(rows []*Row) (all []int) {
	if len(rows) == 0 || !slices.ContainsFunc(rows, func(r *Row) bool { return r.Level != rows[0].Level }) {
		return nil
	}
	for _, r := range rows {
		all = append(all, r.Level)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

type leveller struct{ *Program }

// byLevels chooses for rows of several levels. The solution's prices are the highest of any level; its value and
// bound are sums over levels and growth.
func (p leveller) byLevels(ctx context.Context, now time.Time, rows []*Row, all []int, short tenants) (*levelled, error) {
	capacity, _ := p.couple(p.cluster)
	l := &levelled{
		p: p.Program, ctx: ctx, clock: now, rows: rows, now: slices.Clone(capacity), whole: capacity, short: short, reclaimed: make(map[*Row]bool),
		sol: &mmkp.Solution{Pick: make([]int, p.items), Prices: make([]float64, len(capacity))},
	}
	for i := range l.sol.Pick {
		l.sol.Pick[i] = -1
	}
	l.enter(all)
	for level := range l.at {
		if err := l.serve(level); err != nil {
			return nil, err
		}
	}
	grown, err := l.stage(slices.Concat(l.at...), l.growth, l.there())
	if err != nil {
		return nil, err
	}
	l.settle(grown)
	return l, nil
}

func (l *levelled) serve(level int) error {
	l.left = append(l.left, l.there())
	shares, err := l.guarantee(level)
	if err != nil {
		return err
	}
	l.makeRoom(2 * level)
	l.left = append(l.left, l.there())
	if len(l.short) > 0 {
		if err := l.keep(level); err != nil {
			return err
		}
	}
	prices, err := l.stage(l.at[level], l.unserved(leveller{l.p}.claims), l.there())
	if err != nil {
		return err
	}
	l.prices = append(l.prices, shares, prices)
	l.makeRoom(2*level + 1)
	return nil
}

func (l *levelled) enter(all []int) {
	l.at, l.alone = make([][]int, len(all)), make([][]float64, len(all))
	for i, r := range l.rows {
		level, _ := slices.BinarySearch(all, r.Level)
		l.of, l.at[level], r.evicted = append(l.of, 2*level+1), append(l.at[level], i), false
		if r.pinned() {
			l.take(r, 0)
		}
	}
	alone := slices.Clone(l.whole)
	for level, own := range slices.Backward(l.at) {
		for _, i := range own {
			if r := l.rows[i]; r.pinned() {
				deduct(alone, &r.item.choices[0])
			}
		}
		l.alone[level] = slices.Clone(alone)
	}
}

func deduct(there []float64, c *mmkp.Choice) {
	for k := range there {
		there[k] = max(0, there[k]-c.Uses(k))
	}
}

func (l *levelled) settle(grown []float64) {
	for _, prices := range l.prices {
		for k := range prices {
			prices[k] = max(prices[k], grown[k])
			l.sol.Prices[k] = max(l.sol.Prices[k], prices[k])
		}
	}
	l.sol.Gap = (l.sol.Bound - l.sol.Value) / max(1e-9, l.sol.Bound)
}

type option struct {
	choice int
	mmkp.Choice
}

func (l *levelled) stage(rows []int, options func(*Row) []option, there []float64) ([]float64, error) {
	var owners []int
	var all [][]option
	for _, i := range rows {
		if own := fitting(options(l.rows[i]), there); len(own) > 0 {
			owners, all = append(owners, i), append(all, own)
		}
	}
	if len(all) == 0 {
		return make([]float64, len(l.now)), nil
	}
	sol, err := l.solve(all, there)
	if err != nil {
		return nil, err
	}
	for n, pick := range sol.Pick {
		if pick >= 0 {
			l.take(l.rows[owners[n]], all[n][pick].choice)
		}
	}
	l.sol.Value, l.sol.Bound, l.sol.Iterations = l.sol.Value+sol.Value, l.sol.Bound+sol.Bound, l.sol.Iterations+sol.Iterations
	l.sol.Status = max(l.sol.Status, sol.Status)
	return slices.Clone(sol.Prices), nil
}

func (l *levelled) solve(all [][]option, there []float64) (*mmkp.Solution, error) {
	e, err := engine.New(l.p.o.Solver, there, engine.Options{Ties: l.p.o.Ties})
	if err != nil {
		return nil, err
	}
	for n, own := range all {
		choices := make([]mmkp.Choice, len(own))
		for c := range own {
			choices[c] = own[c].Choice
		}
		if err := e.Set(n, mmkp.Item{Choices: choices}); err != nil {
			return nil, err
		}
	}
	return e.Solve(l.ctx)
}

func fitting(all []option, there []float64) []option {
	return slices.DeleteFunc(all, func(o option) bool { return !fits(&o.Choice, there) })
}

const rounded = 1e-12

// there returns the free resources plus the rounding error: fractions of CPUs add up to all of them.
func (l *levelled) there() []float64 {
	there := slices.Clone(l.now)
	for k := range there {
		there[k] += rounded * l.whole[k]
	}
	return there
}

func fits(c *mmkp.Choice, there []float64) bool {
	for k := range there {
		if c.Uses(k) > there[k] {
			return false
		}
	}
	return true
}

func (l *levelled) take(r *Row, c int) {
	at := &l.sol.Pick[r.item.number]
	for k := range l.now {
		if *at >= 0 {
			l.now[k] += r.item.choices[*at].Uses(k)
		}
	}
	deduct(l.now, &r.item.choices[c])
	*at = c
}

func (p leveller) claims(r *Row) (all []option) {
	if r.pinned() || r.evicted {
		return nil
	}
	it := &r.item
	for c := range it.choices {
		k := int(it.origin[c].column)
		if r.claimed(k) {
			all = append(all, option{c, mmkp.Choice{Value: p.claimWorth(r, c, k), Use: it.choices[c].Use, More: it.choices[c].More}})
		}
	}
	return all
}

func (r *Row) claimed(k int) bool {
	c := &r.columns[k]
	return c.GPUs <= r.job.Requested(c.GPUType) || r.least(k) || r.Keeps && k == r.held
}

// claimWorth returns the worth of choice c, of column k, as a claim. The largest claim of a job that holds more counts
// as no move.
func (p leveller) claimWorth(r *Row, c, k int) float64 {
	if r.held < 0 || r.claimed(r.held) || r.columns[k].resource != r.columns[r.held].resource || r.claimsMore(k) {
		return r.item.value(c)
	}
	own := r.cells[k][r.item.origin[c].cell]
	if v, ok := p.worth(own.goodput/r.unit, 1); ok {
		return r.Worth.Weight * (r.Worth.Base + v)
	}
	return r.item.value(c)
}

func (r *Row) claimsMore(k int) bool {
	for more := k + 1; more < len(r.columns) && r.columns[more].resource == r.columns[k].resource; more++ {
		if r.allowed[more] && r.claimed(more) && len(r.cells[more]) > 0 {
			return true
		}
	}
	return false
}

// reason explains why row i got the configuration of column (-1: nothing), by the prices of its level. A lack of room
// after earlier levels comes before all reasons from prices.
func (l *levelled) reason(i, column int) policy.Reason {
	p, r := l.p, l.rows[i]
	p.prices = append(p.prices[:0], l.prices[l.of[i]]...)
	why := reasons{p}.reason(r, column)
	if waits := column < 0 && r.pin.IsZero() && r.job.Reservation.IsZero() && r.job.Phase != job.Profiling; !waits || !r.evicted && !l.before(i) {
		return why
	}
	kind := policy.WaitPriority
	if l.forTenants(i) {
		kind = policy.WaitShare
	}
	c := r.columns[r.item.origin[l.smallest(r)].column]
	return policy.Reason{Kind: kind, Config: c.Configuration, Value: p.freeFor(r, &c), Limit: float64(c.GPUs)}
}

// before reports whether earlier stages leave row i nothing: a choice would fit without them, and none fits after
// them.
func (l *levelled) before(i int) bool {
	return l.fitsOn(i, l.alone[l.of[i]/2]) && !l.fitsOn(i, l.left[l.of[i]])
}

func (l *levelled) forTenants(i int) bool {
	if r := l.rows[i]; r.evicted {
		return l.reclaimed[r]
	}
	return l.fitsOn(i, l.left[l.of[i]&^1])
}

func (l *levelled) fitsOn(i int, there []float64) bool {
	return slices.ContainsFunc(l.rows[i].item.choices, func(c mmkp.Choice) bool { return fits(&c, there) })
}

func (l *levelled) smallest(r *Row) int {
	all := make([]int, len(r.item.choices))
	for c := range all {
		all[c] = c
	}
	return slices.MinFunc(all, func(a, b int) int {
		x, y := &r.item.choices[a], &r.item.choices[b]
		return cmp.Or(cmp.Compare(x.Amount, y.Amount), cmp.Compare(l.now[y.Resource], l.now[x.Resource]))
	})
}
