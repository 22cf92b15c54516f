package whatif_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	settings "github.com/oxgang/oxgang/simulate/config"
	simrun "github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A spoken range was stated for a job at a time.
type spoken struct {
	job   job.ID
	at    time.Time
	phase calibration.Phase
	said  whatif.Range
	guess *whatif.Guess // what the simulations said; nil: not noted
}

// A listener asks a Predictor every few rounds, and notes what it says and what happens.
type listener struct {
	*whatif.Predictor
	ctx           context.Context
	notes         *notebook // nil: nothing is noted
	every, rounds int
	silent        bool // the answers are not noted
	length        time.Duration
	now           time.Time // of the last round
	all           []spoken
	starts        map[job.ID][]time.Time
	ends          map[job.ID]time.Time
	backwards     int // jobs that were said to end before they start
}

func newListener(t testing.TB, every int) *listener {
	return &listener{ctx: t.Context(), every: every, starts: map[job.ID][]time.Time{}, ends: map[job.ID]time.Time{}}
}

// watch makes the listener know who decides.
func (l *listener) watch(d *simrun.Decider) scheduler.Observer {
	l.Decided = whatif.DecidedBy(d.Policy, d.Fresh)
	return l
}

func (l *listener) Event(now time.Time, ev scheduler.Event) {
	l.Predictor.Event(now, ev)
	if l.notes != nil {
		l.notes.Event(now, ev)
	}
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome == scheduler.Done {
		l.ends[e.Job] = now
	}
}

func (l *listener) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.Predictor.Round(s, p, acts)
	if l.notes != nil {
		l.notes.Round(s, p, acts)
	}
	l.length, l.now = s.Length, s.Now
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			l.starts[r.Job] = append(l.starts[r.Job], s.Now)
		}
	}
	if l.rounds++; l.rounds%l.every != 0 {
		return
	}
	if l.silent {
		l.LookFor(l.ctx)
		return
	}
	etas, _ := l.LookFor(l.ctx)
	for i, j := range s.Jobs {
		eta, ok := etas[j.ID]
		if !ok {
			continue
		}
		end := calibration.WaitingEnd
		if j.Holding() || !p.Jobs[i].Allocation.IsZero() {
			end = calibration.RunningEnd
		} else {
			l.all = append(l.all, spoken{job: j.ID, at: s.Now, phase: calibration.Start, said: eta.Start})
			if x, y := eta.Start, eta.End; x.Why == whatif.Known && y.Why == whatif.Known && (y.Early < x.Early || y.Likely < x.Likely || y.Late < x.Late || y.Late < y.Likely) {
				l.backwards++
			}
		}
		l.all = append(l.all, spoken{job: j.ID, at: s.Now, phase: end, said: eta.End})
	}
}

// after returns how long after x it happened, or how long it did not if the range has passed; false if neither is
// known.
func (l *listener) after(x *spoken) (time.Duration, bool) {
	so := l.now.Sub(x.at)
	overdue := x.said.Why == whatif.Known && x.said.Overdue(so, l.length)
	if x.phase != calibration.Start {
		if end, ok := l.ends[x.job]; ok {
			return end.Sub(x.at), true
		}
		return so, overdue
	}
	for _, at := range l.starts[x.job] {
		if at.After(x.at) {
			return at.Sub(x.at), true
		}
	}
	return so, overdue
}

// A score says how well ranges held.
type score struct {
	known, unknown, held, below, above int
	wide, wideHeld                     int       // ranges that are a round or more wide
	exact, exactHeld                   int       // ranges of predictions that were exact to a round
	widths                             []float64 // over what really remained
	interval                           float64   // sum of interval scores
}

func (c *score) add(of *spoken, after, round time.Duration) {
	x := &of.said
	switch x.Why {
	case whatif.Known:
	case whatif.NoSpeed: // nothing like it has run
		return
	default:
		c.unknown++
		return
	}
	c.known++
	c.interval += intervalScore(x, after, round)
	holds := x.Holds(after, round)
	if x.Late-x.Early >= round {
		c.wide++
		if holds {
			c.wideHeld++
		}
	}
	if of.guess != nil && of.guess.Exact(after, round) {
		c.exact++
		if holds {
			c.exactHeld++
		}
	}
	switch {
	case holds:
		c.held++
	case after < x.Early:
		c.below++
	default:
		c.above++
	}
	c.widths = append(c.widths, (x.Late-x.Early).Seconds()/max(after, round).Seconds())
}

// intervalScore returns the score of a range, in logarithms of times: its width, and for a miss how far it is off, as many times
// as make it best to state quantiles. Less is better. Source: Gneiting and Raftery 2007, §6.2.
func intervalScore(x *whatif.Range, after, round time.Duration) float64 {
	early, late, at := math.Log((x.Early + round).Seconds()), math.Log((x.Late + round).Seconds()), math.Log((after + round).Seconds())
	return late - early + 2/(1-calibration.Share)*(max(0, early-at)+max(0, at-late))
}

func (c *score) join(d *score) {
	c.wide, c.wideHeld, c.interval = c.wide+d.wide, c.wideHeld+d.wideHeld, c.interval+d.interval
	c.exact, c.exactHeld = c.exact+d.exact, c.exactHeld+d.exactHeld
	c.known, c.unknown, c.held, c.below, c.above = c.known+d.known, c.unknown+d.unknown, c.held+d.held, c.below+d.below, c.above+d.above
	c.widths = append(c.widths, d.widths...)
}

func (c *score) share() float64 { return float64(c.held) / float64(max(1, c.known)) }

// rest returns the share that held of the ranges whose predictions were not exact.
func (c *score) rest() float64 {
	return float64(c.held-c.exactHeld) / float64(max(1, c.known-c.exact))
}

func (c *score) width() float64 {
	if len(c.widths) == 0 {
		return 0
	}
	slices.Sort(c.widths)
	return c.widths[len(c.widths)/2]
}

func (c *score) String() string {
	n := float64(max(1, c.known))
	return fmt.Sprintf("%5d ranges, %.3f known: %.2f held, %.2f earlier, %.2f later; median width %.2f of what remained, score %.3f; a round or more wide %5d, of which %.2f held; exact %.2f, of the rest %.2f held",
		c.known, float64(c.known)/float64(max(1, c.known+c.unknown)), c.share(), float64(c.below)/n, float64(c.above)/n, c.width(), c.interval/n,
		c.wide, float64(c.wideHeld)/float64(max(1, c.wide)), float64(c.exact)/n, c.rest())
}

// A load is settings of runs, and how many rounds are between looks.
type load struct {
	settings string
	every    int
}

// loads are settings of long runs, by name. None was used to fit anything.
var loads = map[string]load{
	"light":    {"cluster=t4:4x4,rtx:2x8;generate.jobs=60;generate.span=8h", 30},
	"heavy":    {"cluster=t4:4x4,rtx:2x8;generate.jobs=60;generate.span=3h", 30},
	"rigid":    {"cluster=a100:4x8;generate.jobs=60;generate.span=4h;jobs.rigid=1", 30},
	"constant": {"cluster=v100:2x8/24c/500g;generate.kind=synergy-static;generate.jobs=60;generate.multi-gpu=true", 200},
}

var short = load{"cluster=t4:4x4,rtx:2x8;generate.jobs=30;generate.span=2h", 20}

// listen simulates a policy under a load, and asks every few rounds.
func listen(t testing.TB, name string, under load, seed uint64) *listener {
	t.Helper()
	return listenTo(t, name, under, seed, nil)
}

// listenTo is listen; it calls a function with each guess that is recorded.
func listenTo(t testing.TB, name string, under load, seed uint64, stating func(*policy.Snapshot, calibration.Phase, job.ID, whatif.Guess)) *listener {
	t.Helper()
	c, in, again, types := configured(t, name, under, seed)
	l := newListener(t, under.every)
	l.Predictor = whatif.NewPredictor(again.Fresh, again.Scheduler, types)
	if stating == nil {
		if l.notes = notes(t, name, under.settings); l.notes != nil {
			stating = l.notes.stating
		}
	}
	l.Stating(stating)
	if _, err := simrun.SimulateWatched(t.Context(), c, in, name, simrun.Watch{Observer: l.watch, Whole: true}); err != nil {
		t.Fatal(err)
	}
	return l
}

// configured returns what a run of a policy under a load is made from.
func configured(t testing.TB, name string, under load, seed uint64) (*settings.Config, *simrun.Inputs, *simrun.Remake, []cluster.TypeInfo) {
	t.Helper()
	c := settings.Default()
	for kv := range strings.SplitSeq(fmt.Sprintf("policy=%s;seed=%d;%s", name, seed, under.settings), ";") {
		key, value, _ := strings.Cut(kv, "=")
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := simrun.Load(c, simrun.Files{Open: opened})
	if err != nil {
		t.Fatal(err)
	}
	h := simrun.Header(c, in, name, "test")
	again, err := simrun.Again(&h, "", simrun.Files{Open: opened})
	if err != nil {
		t.Fatal(err)
	}
	return c, in, again, h.Cluster.Types()
}

// scores returns how well the ranges of each phase held.
func (l *listener) scores() (all [calibration.Phases]score) {
	for i := range l.all {
		if after, ok := l.after(&l.all[i]); ok {
			all[l.all[i].phase].add(&l.all[i], after, l.length)
		}
	}
	return all
}

// predicted are policies whose runs are looked ahead from.
var predicted = []string{"fifo", "easy", "srtf", "afs", "sia", "oxgang", "synergy", "las", "gavel", "shockwave", "themis"}

// TestRangesHold asks for ranges in short runs. They have few jobs, so the bound is four standard deviations
// of as many trials as there are jobs.
func TestRangesHold(t *testing.T) {
	if testing.Short() {
		t.Skip("looks ahead in every round")
	}
	seed := draws.Seed(t)
	var all score
	names := draws.Some(t, 2, predicted[:7]) // the others take longer
	for _, name := range names {
		l := listen(t, name, short, seed%1000+1)
		if l.backwards > 0 {
			t.Errorf("seed %d, %s: %d times a job was to end before it starts", seed, name, l.backwards)
		}
		found := l.scores()
		for p := range found {
			all.join(&found[p])
		}
	}
	t.Logf("seed %d, %v: %v", seed, names, &all)
	off := 4 * math.Sqrt(calibration.Share*(1-calibration.Share)/float64(30*len(names)))
	if math.Abs(all.share()-calibration.Share) > off || all.unknown > all.known/10 {
		t.Errorf("seed %d, %v: %v; want %.2f held within %.2f, and 90 %% known", seed, names, &all, calibration.Share, off)
	}
}

// chosen returns those of some names that a variable has, with commas between them, or all if it is not set.
func chosen(names []string, variable string) []string {
	some := strings.Split(os.Getenv(variable), ",")
	if some[0] == "" {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(some, name) })
}

// TestRangesHold_everywhere asks for ranges under every policy and load, or those that OXGANG_POLICIES and OXGANG_LOADS name, of one seed or of as
// many, one after another, as OXGANG_SEEDS says. A seed takes ten minutes.
func TestRangesHold_everywhere(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("long: set OXGANG_LONG=1")
	}
	seeds, seed := 1, draws.Seed(t)
	if n, err := strconv.Atoi(os.Getenv("OXGANG_SEEDS")); err == nil {
		seeds = n
	}
	var all score
	for _, name := range chosen(predicted, "OXGANG_POLICIES") {
		for _, under := range chosen([]string{"light", "heavy", "rigid", "constant"}, "OXGANG_LOADS") {
			var found [calibration.Phases]score
			for k := range uint64(seeds) {
				one := listen(t, name, loads[under], (seed+k)%1000+1).scores()
				for p := range one {
					found[p].join(&one[p])
				}
			}
			for p := range found {
				if found[p].known+found[p].unknown > 0 {
					t.Logf("%-9s %-8s %-21s %v", name, under, calibration.Phase(p), &found[p])
				}
				all.join(&found[p])
			}
		}
	}
	t.Logf("seed %d, all: %v", seed, &all)
	if s := all.share(); s < 0.75 || all.width() > 1 {
		t.Errorf("seed %d: %v; want at least 0.75 held, and a width of at most 1", seed, &all)
	}
}
