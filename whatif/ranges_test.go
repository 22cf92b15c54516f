package whatif_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	settings "github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
	"github.com/oxgang/oxgang/whatif/calibration"
)

// A spoken range was stated for a job at a time.
type spoken struct {
	job   job.ID
	at    time.Time
	phase calibration.Phase
	said  whatif.Range
}

// A listener asks a Predictor every few rounds, and notes what it says and what happens.
type listener struct {
	*whatif.Predictor
	every, rounds int
	length        time.Duration
	all           []spoken
	starts        map[job.ID][]time.Time
	ends          map[job.ID]time.Time
}

func (l *listener) Event(now time.Time, ev scheduler.Event) {
	l.Predictor.Event(now, ev)
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome == scheduler.Done {
		l.ends[e.Job] = now
	}
}

func (l *listener) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.Predictor.Round(s, p, acts)
	l.length = s.Length
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			l.starts[r.Job] = append(l.starts[r.Job], s.Now)
		}
	}
	if l.rounds++; l.rounds%l.every != 0 {
		return
	}
	etas, _ := l.LookFor(context.Background())
	for i, j := range s.Jobs {
		eta, ok := etas[j.ID]
		if !ok {
			continue
		}
		end := calibration.WaitingEnd
		if j.Holding() || !p.Jobs[i].Allocation.IsZero() {
			end = calibration.RunningEnd
		} else {
			l.all = append(l.all, spoken{j.ID, s.Now, calibration.Start, eta.Start})
		}
		l.all = append(l.all, spoken{j.ID, s.Now, end, eta.End})
	}
}

// after returns how long after x it happened, and false if it did not.
func (l *listener) after(x *spoken) (time.Duration, bool) {
	if x.phase != calibration.Start {
		end, ok := l.ends[x.job]
		return end.Sub(x.at), ok
	}
	for _, at := range l.starts[x.job] {
		if at.After(x.at) {
			return at.Sub(x.at), true
		}
	}
	return 0, false
}

// A score says how well ranges held.
type score struct {
	known, unknown, held, below, above int
	widths                             []float64 // over what really remained
}

func (c *score) add(x *whatif.Range, after, round time.Duration) {
	if x.Why != whatif.Known {
		c.unknown++
		return
	}
	c.known++
	switch {
	case x.Holds(after, round):
		c.held++
	case after < x.Early:
		c.below++
	default:
		c.above++
	}
	c.widths = append(c.widths, (x.Late-x.Early).Seconds()/max(after, round).Seconds())
}

func (c *score) join(d *score) {
	c.known, c.unknown, c.held, c.below, c.above = c.known+d.known, c.unknown+d.unknown, c.held+d.held, c.below+d.below, c.above+d.above
	c.widths = append(c.widths, d.widths...)
}

// share returns the share of ranges that held.
func (c *score) share() float64 { return float64(c.held) / float64(max(1, c.known)) }

func (c *score) width() float64 {
	if len(c.widths) == 0 {
		return 0
	}
	slices.Sort(c.widths)
	return c.widths[len(c.widths)/2]
}

func (c *score) String() string {
	n := float64(max(1, c.known))
	return fmt.Sprintf("%5d ranges, %.3f known: %.2f held, %.2f earlier, %.2f later; median width %.2f of what remained",
		c.known, float64(c.known)/float64(max(1, c.known+c.unknown)), c.share(), float64(c.below)/n, float64(c.above)/n, c.width())
}

// loads are settings of runs, by name. None was used to fit anything.
var loads = map[string]string{
	"light":    "cluster=t4:4x4,rtx:2x8;generate.jobs=60;generate.span=8h",
	"heavy":    "cluster=t4:4x4,rtx:2x8;generate.jobs=60;generate.span=3h",
	"rigid":    "cluster=a100:4x8;generate.jobs=60;generate.span=4h;jobs.rigid=1",
	"constant": "cluster=v100:2x8/24c/500g;generate.kind=synergy-static;generate.jobs=60;generate.multi-gpu=true",
}

// listen simulates a policy under a load, and asks every few rounds.
func listen(t testing.TB, name, load string, seed uint64, every int) *listener {
	t.Helper()
	c := settings.Default()
	for _, kv := range strings.Split(fmt.Sprintf("policy=%s;seed=%d;%s", name, seed, load), ";") {
		key, value, _ := strings.Cut(kv, "=")
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := experiments.Load(c, experiments.Files{})
	if err != nil {
		t.Fatal(err)
	}
	h := experiments.Header(c, in, name, "test")
	again, err := experiments.Again(&h, "", experiments.Files{})
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{every: every, starts: map[job.ID][]time.Time{}, ends: map[job.ID]time.Time{}}
	l.Predictor = whatif.NewPredictor(again.Fresh, again.Scheduler, h.Cluster.Types())
	if _, err := experiments.Simulate(t.Context(), c, in, name, l); err != nil {
		t.Fatal(err)
	}
	return l
}

// scores returns how well the ranges of each phase held.
func (l *listener) scores() (all [calibration.Phases]score) {
	for i := range l.all {
		if after, ok := l.after(&l.all[i]); ok {
			all[l.all[i].phase].add(&l.all[i].said, after, l.length)
		}
	}
	return all
}

// TestRangesHold asks for ranges in runs under several policies and loads. It takes some of them, and all
// with OXGANG_LONG.
func TestRangesHold(t *testing.T) {
	type pair struct{ policy, load string }
	var pairs []pair
	for _, name := range []string{"fifo", "easy", "srtf", "las", "afs", "sia", "oxgang", "gavel", "synergy", "shockwave", "themis"} {
		for _, load := range []string{"light", "heavy", "rigid", "constant"} {
			pairs = append(pairs, pair{name, load})
		}
	}
	seed := draws.Seed(t)
	var all score
	for _, x := range draws.Some(t, 10, pairs) {
		found := listen(t, x.policy, loads[x.load], seed%1000+1, 30).scores()
		for p := range found {
			if found[p].known+found[p].unknown > 0 {
				t.Logf("%-9s %-8s %-21s %v", x.policy, x.load, calibration.Phase(p), &found[p])
			}
			if c := &found[p]; os.Getenv("OXGANG_LONG") != "" && c.known >= 100 && (c.share() < 0.7 || c.share() > 0.9) {
				t.Logf("seed %d: %s, %s, %s: %.2f held, want 0.70 to 0.90", seed, x.policy, x.load, calibration.Phase(p), c.share())
			}
			all.join(&found[p])
		}
	}
	t.Logf("seed %d, all: %v", seed, &all)
	if s := all.share(); s < 0.75 || s > 0.85 || all.width() > 1 {
		t.Errorf("seed %d: %v; want 0.75 to 0.85 held, and a width of at most 1", seed, &all)
	}
}
