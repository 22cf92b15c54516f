package explaintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/oxgang/oxgang/explain/counterfactual"
	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// policies are those whose explanations are tested.
var policies = []string{"oxgang", "sia", "fifo", "easy", "srtf", "las", "afs", "gavel", "synergy", "lyra", "shockwave", "boa", "gandiva", "themis"}

// A tally counts what was found of stated changes.
type tally struct {
	points, confirmed, refuted, none, above int
	example                                 string // of a fault
}

func (c *tally) String() string {
	return fmt.Sprintf("%3d points: %3d confirmed, %d refuted, %d state none, %d more than one GPU or job above the least%s", c.points, c.confirmed, c.refuted, c.none, c.above, c.example)
}

func (c *tally) add(d tally) {
	c.points, c.confirmed, c.refuted = c.points+d.points, c.confirmed+d.confirmed, c.refuted+d.refuted
	c.none, c.above = c.none+d.none, c.above+d.above
}

// A pair is a policy on a trace.
type pair struct{ policy, trace string }

// pairs returns every policy on every trace, of nodes for rent those that rent.
func pairs() []pair {
	var all []pair
	for _, name := range policies {
		for _, trace := range []string{"overload", "rigid", "elastic", "cpus", "rent", "loans"} {
			if trace != "rent" || name == "boa" {
				all = append(all, pair{name, trace})
			}
		}
	}
	return all
}

// TestStatedChangesAreTrue makes the changes that explanations state. It takes some pairs, all with
// OXGANG_LONG, and as many points of each run as OXGANG_POINTS says, or 4.
func TestStatedChangesAreTrue(t *testing.T) {
	most := 4
	if n, err := strconv.Atoi(os.Getenv("OXGANG_POINTS")); err == nil {
		most = n
	}
	seed := draws.Seed(t)
	var all tally
	for _, x := range draws.Some(t, 16, pairs()) {
		r := simulate(t, x.policy, x.trace, fmt.Sprint(seed%1000+1))
		found := r.judge(t, r.points(seed, most))
		t.Logf("%-9s %-8s %v", x.policy, x.trace, &found)
		all.add(found)
	}
	t.Logf("seed %d, all: %v", seed, &all)
	few := max(1, all.points/100) // one of a hundred, and one of fewer
	if all.refuted > all.points/100 || all.none > few || all.above > few {
		t.Errorf("seed %d: %v; want 99 %% of the stated changes confirmed, and 1 %% at most without one or above the least", seed, &all)
	}
}

// TestStatedChangesAreTrue_live makes all changes that were stated, or could have been, in two runs of real
// processes.
func TestStatedChangesAreTrue_live(t *testing.T) {
	var all tally
	for _, name := range []string{"first.oxj", "second.oxj"} {
		r := live(t, name)
		all.add(r.judge(t, r.points(0, 1000)))
	}
	t.Log(&all)
	if all.points < 10 || all.confirmed < all.points || all.above > 0 {
		t.Errorf("%v; want at least 10 points, and all confirmed", &all)
	}
}

// judge asks for a change at each point, and makes it.
func (r *run) judge(t *testing.T, points []point) (found tally) {
	t.Helper()
	said := r.explained(t, points)
	for _, at := range points {
		c := said[at]
		found.points++
		switch {
		case c == nil || c.Kind == "nothing helps":
			found.none++
			found.example = fmt.Sprintf("\n  none: %v: %v", at, r.why(at))
		case r.starts(t, at, c):
			found.confirmed++
			if i := slices.IndexFunc(c.smaller(), func(less stated) bool { return r.starts(t, at, &less) }); i >= 0 {
				found.above++
				found.example = fmt.Sprintf("\n  above: %v: %+v, where %+v is enough", at, *c, c.smaller()[i])
			}
		default:
			found.refuted++
			found.example = fmt.Sprintf("\n  refuted: %v: %+v", at, *c)
		}
	}
	return found
}

// why returns what the policy says of a point, and of the nodes that can be rented.
func (r *run) why(at point) string {
	x := r.all[at.round]
	return fmt.Sprintf("%+v, rentals %+v, wanted %v", x.p.Jobs[x.s.Index(at.job)].Why, x.s.Rentals, x.p.Capacity)
}

// starts reports whether a job gets GPUs with a change.
func (r *run) starts(t *testing.T, at point, c *stated) bool {
	t.Helper()
	return !r.decide(t, at.round, c.apply(r.all[at.round].s, at.job), at.job).Allocation.IsZero()
}

// explained replays the journal of a run and returns what is stated at each point.
func (r *run) explained(t *testing.T, points []point) map[point]*stated {
	t.Helper()
	j, err := journal.NewReader(bytes.NewReader(r.journal))
	if err != nil {
		t.Fatal(err)
	}
	p, placer, err := r.remake.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	_, spare, err := r.remake.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	rec := counterfactual.NewRecorder(p, spare, 8)
	so := r.remake.Scheduler
	so.Round = j.Header().Round
	s, err := scheduler.New(rec, placer, j.Header().Cluster, so)
	if err != nil {
		t.Fatal(err)
	}
	x := &explainer{t: t, rec: rec, points: points, said: map[point]*stated{}}
	if err := s.Run(t.Context(), journal.Replay(j), x); err != nil {
		t.Fatal(err)
	}
	return x.said
}

// An explainer asks what would help at some points of a run.
type explainer struct {
	t      *testing.T
	rec    *counterfactual.Recorder
	round  int
	points []point
	said   map[point]*stated
}

func (x *explainer) Event(time.Time, scheduler.Event) {}

func (x *explainer) Round(now *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	x.t.Helper()
	for _, at := range x.points {
		if at.round != x.round {
			continue
		}
		s, d, err := x.rec.At(context.Background(), now.Now)
		if err != nil {
			x.t.Fatal(err)
		}
		c, err := counterfactual.Find(context.Background(), s, p, at.job, d, foreseen(x.round, s))
		if err != nil {
			x.t.Fatal(err)
		}
		x.said[at] = read(x.t, c)
	}
	x.round++
}

// foreseen says of every second round in how long jobs end, at will: what is stated must be so whatever was foreseen.
func foreseen(round int, s *policy.Snapshot) map[job.ID]time.Duration {
	if round%2 == 0 {
		return nil
	}
	all := map[job.ID]time.Duration{}
	for i, j := range s.Jobs {
		if (i+round)%5 > 0 {
			all[j.ID] = time.Duration(i*7919%101) * time.Minute
		}
	}
	return all
}

// read returns a change as its JSON says it.
func read(t *testing.T, c *counterfactual.Change) *stated {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	said := &stated{}
	if err := json.Unmarshal(text, said); err != nil {
		t.Fatal(err)
	}
	return said
}
