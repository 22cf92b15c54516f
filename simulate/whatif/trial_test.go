package whatif_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	simrun "github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// An applicant tries every job just before it is submitted.
type applicant struct {
	*listener
	t      testing.TB
	trials map[job.ID]*whatif.Trial
	at     map[job.ID]time.Time
}

func (a *applicant) Event(now time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Submitted); ok {
		if s, _ := a.Last(); s != nil {
			trial, err := a.Try(context.Background(), now, e.Spec, nil)
			if err != nil {
				a.t.Fatal(err)
			}
			a.trials[e.Spec.ID], a.at[e.Spec.ID] = trial, now
		}
	}
	a.listener.Event(now, ev)
}

// A tally counts how often the answers of trials were right.
type tally struct {
	all, right  int // "now or not"
	known, held int // ranges
}

func (c *tally) String() string {
	return fmt.Sprintf("%d trials, %.3f right about now or not; %d ranges, %.3f held", c.all, float64(c.right)/float64(max(1, c.all)), c.known, float64(c.held)/float64(max(1, c.known)))
}

func (c *tally) join(d *tally) {
	c.all, c.right, c.known, c.held = c.all+d.all, c.right+d.right, c.known+d.known, c.held+d.held
}

// apply simulates a policy under a load, and tries every job before it is submitted.
func apply(t testing.TB, name string, under load, seed uint64) (c tally) {
	conf, in, again, types := configured(t, name, under, seed)
	a := &applicant{t: t, trials: map[job.ID]*whatif.Trial{}, at: map[job.ID]time.Time{}}
	a.listener = newListener(t, under.every)
	a.Predictor = whatif.NewPredictor(again.Fresh, again.Scheduler, types)
	observe := func(d *simrun.Decider) scheduler.Observer { a.watch(d); return a }
	if _, err := simrun.SimulateWatched(t.Context(), conf, in, name, simrun.Watch{Observer: observe, Whole: true}); err != nil {
		t.Fatal(err)
	}
	for id, trial := range a.trials {
		if len(a.starts[id]) == 0 {
			continue
		}
		started := a.starts[id][0].Sub(trial.From)
		c.all++
		if now := started <= trial.Round; now == trial.Now {
			c.right++
		}
		if trial.Start.Why == whatif.Known {
			if c.known++; trial.Start.Holds(started, trial.Round) {
				c.held++
			}
		}
	}
	return c
}

// TestTry tries each job of short runs before it is submitted, and compares with what happened.
func TestTry(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates ahead for every job")
	}
	seed := draws.Seed(t)
	var all tally
	names := draws.Some(t, 2, []string{"fifo", "easy", "srtf", "sia", "oxgang"})
	for _, name := range names {
		one := apply(t, name, short, seed%1000+1)
		all.join(&one)
	}
	t.Logf("seed %d, %v: %v", seed, names, &all)
	if float64(all.right) < 0.9*float64(all.all) || all.all < 20 {
		t.Errorf("seed %d, %v: %v; want at least 0.9", seed, names, &all)
	}
	share, off := float64(all.held)/float64(all.known), 4*math.Sqrt(calibration.Share*(1-calibration.Share)/float64(all.known))
	if share < calibration.Share-off {
		t.Errorf("seed %d, %v: %v; want at least %.2f held", seed, names, &all, calibration.Share-off)
	}
}

// applied are loads whose jobs are submitted over time; none was used to fit anything.
var applied = map[string]load{
	"light": loads["light"],
	"heavy": loads["heavy"],
	"rigid": loads["rigid"],
	"spike": {"cluster=t4:4x4,rtx:2x8;generate.kind=spike;generate.jobs=120", 60},
}

// TestTry_everywhere is TestTry for five policies under four loads.
func TestTry_everywhere(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("long: set OXGANG_LONG=1")
	}
	var all tally
	for _, name := range chosen([]string{"fifo", "easy", "srtf", "sia", "oxgang"}, "OXGANG_POLICIES") {
		for _, under := range chosen([]string{"light", "heavy", "rigid", "spike"}, "OXGANG_LOADS") {
			one := apply(t, name, applied[under], draws.Seed(t)%1000+1)
			t.Logf("%-9s %-8s %v", name, under, &one)
			all.join(&one)
		}
	}
	t.Logf("all: %v", &all)
}
