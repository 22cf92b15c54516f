package explaintest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
)

// policies are those whose explanations are tested, about in the order of how long their rounds take: what the first ones leave of the time is the others'.
var policies = []string{"fifo", "srtf", "las", "easy", "synergy", "afs", "lyra", "gandiva", "sia", "oxgang", "boa", "gavel", "themis", "shockwave"}

// A tally counts what was found of stated changes and of the pages that state them.
type tally struct {
	points, confirmed, refuted, none, above int
	pages, twice                            int      // pages, and those of them with two numbers for one thing, or a wrong one
	examples                                []string // of faults
}

// mostExamples is how many faults of a run are shown.
const mostExamples = 3

func (c *tally) String() string {
	text := fmt.Sprintf("%3d points: %3d confirmed, %d refuted, %d state none, %d more than one GPU or job above the least; %d pages, %d with two numbers or a wrong one",
		c.points, c.confirmed, c.refuted, c.none, c.above, c.pages, c.twice)
	return text + strings.Join(c.examples[:min(mostExamples, len(c.examples))], "")
}

func (c *tally) add(d tally) {
	c.points, c.confirmed, c.refuted = c.points+d.points, c.confirmed+d.confirmed, c.refuted+d.refuted
	c.none, c.above = c.none+d.none, c.above+d.above
	c.pages, c.twice = c.pages+d.pages, c.twice+d.twice
}

// fault counts a fault and keeps an example of it.
func (c *tally) fault(count *int, format string, of ...any) {
	*count++
	c.examples = append(c.examples, fmt.Sprintf("\n  "+format, of...))
}

type pair struct{ policy, trace string }

// pairs returns every policy, or those that OXGANG_POLICIES names with commas between them, on every trace, of nodes for rent those that rent, of several priorities the one that serves
// by these and shares GPUs out.
func pairs() []pair {
	var all []pair
	some := os.Getenv("OXGANG_POLICIES")
	for _, name := range policies {
		if some != "" && !slices.Contains(strings.Split(some, ","), name) {
			continue
		}
		for _, trace := range []string{"overload", "rigid", "elastic", "cpus", "rent", "loans", "prior"} {
			if (trace != "rent" || name == "boa") && (trace != "prior" || name == "oxgang") {
				all = append(all, pair{name, trace})
			}
		}
	}
	return all
}

// pointsOfEach returns how many points of each run are looked at: as many as OXGANG_POINTS says, else 4, and 200 with OXGANG_LONG.
func pointsOfEach() int {
	if n, err := strconv.Atoi(os.Getenv("OXGANG_POINTS")); err == nil {
		return n
	}
	if draws.Long() {
		return 200
	}
	return 4
}

// share returns when the first of so many runs must be over for all to have the same part of four fifths of the time that the test has.
func share(t *testing.T, runs int) time.Time {
	t.Helper()
	end, ok := t.Deadline()
	if !ok {
		end = time.Now().Add(24 * time.Hour)
	}
	return time.Now().Add(time.Until(end) * 4 / 5 / time.Duration(runs))
}

// TestStatedChangesAreTrue makes the changes that explanations state. It takes some pairs, all with OXGANG_LONG, and
// as many points of each as pointsOfEach says, or fewer if the time does not suffice for them.
func TestStatedChangesAreTrue(t *testing.T) {
	seed := draws.Seed(t)
	var all tally
	chosen := draws.Some(t, 16, pairs())
	for i, x := range chosen {
		t.Run(x.policy+" on "+x.trace, func(t *testing.T) {
			found := x.judge(t, seed, share(t, len(chosen)-i))
			t.Log(&found)
			all.add(found)
		})
	}
	t.Logf("seed %d, all: %v", seed, &all)
	few := max(1, all.points/100) // one of a hundred, and one of fewer
	if all.refuted > all.points/100 || all.none > few || all.above > few || all.twice > 0 {
		t.Errorf("seed %d: %v; want 99 %% of the stated changes confirmed, 1 %% at most without one or above the least, and no page with two numbers", seed, &all)
	}
}

// mostRuns is how many runs of a pair are looked at where jobs seldom wait.
const mostRuns = 20

// judge asks for a change at as many points as pointsOfEach says of a pair's run and, if it has too few, of runs with the next seeds, until the time is over.
func (x *pair) judge(t *testing.T, seed uint64, until time.Time) (found tally) {
	t.Helper()
	for k := uint64(0); k < mostRuns && found.points < pointsOfEach() && time.Now().Before(until); k++ {
		r := simulate(t, x.policy, x.trace, fmt.Sprint((seed+k)%1000+1))
		more := r.judge(t, r.points(seed, pointsOfEach()-found.points), until)
		found.add(more)
		found.examples = append(found.examples, more.examples...)
		if !draws.Long() {
			break
		}
	}
	return found
}

// TestStatedChangesAreTrue_live makes all changes that were stated, or could have been, in two runs of real
// processes.
func TestStatedChangesAreTrue_live(t *testing.T) {
	var all tally
	for _, name := range []string{"first.oxj", "second.oxj"} {
		r := live(t, name)
		found := r.judge(t, r.points(0, 1000), share(t, 2))
		t.Log(&found)
		all.add(found)
	}
	if all.points < 10 || all.confirmed < all.points || all.above+all.twice > 0 {
		t.Errorf("%v; want at least 10 points, and all confirmed", &all)
	}
}

// firstBatch is how many points are asked for at first; then twice as many each time, since the run is replayed for each batch.
const firstBatch = 10

// judge asks for a change at each point, and makes it, until the time is over.
func (r *run) judge(t *testing.T, points []point, until time.Time) (found tally) {
	t.Helper()
	all := len(points)
	for n := firstBatch; len(points) > 0 && time.Now().Before(until); n *= 2 {
		batch := points[:min(n, len(points))]
		points = points[len(batch):]
		r.batch(t, batch, until, &found)
	}
	if found.points < all {
		t.Logf("%d of %d points in the time", found.points, all)
	}
	return found
}

// batch is judge for some points.
func (r *run) batch(t *testing.T, points []point, until time.Time, found *tally) {
	t.Helper()
	said := r.explained(t, points)
	for _, at := range points {
		if time.Now().After(until) {
			return
		}
		r.claim(t, at, said[at], found)
		if found.pages++; said[at] != nil {
			if wrong := r.wrong(t, at, said[at]); wrong != "" {
				found.fault(&found.twice, "page: %v: %s", at, wrong)
			}
		}
	}
}

// claim makes the change that is stated at a point, and then those that ask for less.
func (r *run) claim(t *testing.T, at point, c *stated, found *tally) {
	t.Helper()
	found.points++
	if c == nil || c.Kind == "nothing helps" {
		found.fault(&found.none, "none: %v: %v", at, r.why(at))
		return
	}
	if untrue := r.refutes(t, at, c); untrue != "" {
		found.fault(&found.refuted, "refuted: %v: %+v: %s", at, *c, untrue)
		return
	}
	found.confirmed++
	less := c.smaller(r.all[at.round].s, at.job)
	if i := slices.IndexFunc(less, func(less stated) bool { return r.starts(t, at, &less) }); i >= 0 {
		found.fault(&found.above, "above: %v: %+v, where %+v is enough", at, *c, less[i])
	}
}

// why returns what the policy says of a point, and of the nodes that can be rented.
func (r *run) why(at point) string {
	x := r.all[at.round]
	return fmt.Sprintf("%+v, rentals %+v, wanted %v", x.p.Jobs[x.s.Index(at.job)].Why, x.s.Rentals, x.p.Capacity)
}

// starts reports whether a job gets GPUs with a change.
func (r *run) starts(t *testing.T, at point, c *stated) bool {
	t.Helper()
	then := c.apply(r.all[at.round].s, at.job)
	plan := r.decide(t, at.round, then)
	return plan != nil && !plan.Jobs[then.Index(at.job)].Allocation.IsZero()
}
