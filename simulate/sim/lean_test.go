package sim_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A sparing policy counts the running jobs that it was shown, and those that it was not.
type sparing struct {
	policy.Policy
	shown, spared int
}

func (s *sparing) Plan(ctx context.Context, snap *policy.Snapshot) (*policy.Plan, error) {
	for _, j := range snap.Jobs {
		if j.Holding() {
			s.shown++
		}
	}
	if snap.Continuing != nil {
		s.spared += snap.Continuing.Jobs
	}
	return s.Policy.Plan(ctx, snap)
}

// A diary is the minutes of a run, and its journal.
type diary struct {
	*minutes
	writer  *journal.Writer
	journal strings.Builder
}

// Event implements scheduler.Observer.
func (d *diary) Event(now time.Time, ev scheduler.Event) {
	d.minutes.Event(now, ev)
	d.writer.Event(now, ev)
}

// Round implements scheduler.Observer.
func (d *diary) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	d.minutes.Round(s, p, acts)
	d.writer.Round(s, p, acts)
}

// uncounted draws a script on nodes that count neither CPUs nor memory; in two of three no job
// has a reservation, in every other one all are known by their durations, and report nothing.
func uncounted(t *rapid.T) *script {
	s := draw(t)
	nodes := slices.Clone(s.cluster.Nodes())
	for i := range nodes {
		nodes[i].Capacity = cluster.Resources{GPUs: nodes[i].Capacity.GPUs}
	}
	var err error
	if s.cluster, err = cluster.New(nodes); err != nil {
		t.Fatal(err)
	}
	if !oneIn(t, 3, "reservations") {
		s.arrivals = slices.DeleteFunc(s.arrivals, func(a workload.Arrival) bool { return !a.Spec.Reservation.IsZero() })
	}
	if rapid.Bool().Draw(t, "durations") {
		for i := range s.arrivals {
			lasts(t, &s.arrivals[i])
		}
		s.arrivals = slices.DeleteFunc(s.arrivals, func(a workload.Arrival) bool { return sim.Fits(s.cluster, &a.Spec) != nil })
	}
	return s
}

// lasts makes an arrival one that is known by its duration.
func lasts(t *rapid.T, a *workload.Arrival) {
	was := a.Spec
	a.Application, a.Duration = "", time.Duration(rapid.IntRange(1, 15000).Draw(t, "lasts seconds"))*time.Second
	a.Spec = job.Spec{ID: was.ID, GPUs: was.GPUs, Weight: was.Weight, Adaptivity: job.Rigid, NonPreemptive: was.NonPreemptive, GPUTypes: was.GPUTypes, Reservation: was.Reservation}
	if err := short.Complete(a); err != nil {
		t.Fatal(err)
	}
}

// leanPlay plays a script.
func leanPlay(t *rapid.T, script *script, entry *registry.Entry, placer string, lean bool) (*diary, *sparing) {
	p, err := entry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var pl placement.Placer
	if pl, err = registry.NewPlacer(placer, registry.PlacerOptions{Penalty: 0.1}); err != nil {
		t.Fatal(err)
	}
	d, few := &diary{minutes: &minutes{}}, &sparing{Policy: p}
	own := *script
	own.scheduler.Lean = lean
	d.writer = journal.NewWriter(&d.journal, journal.Header{Cluster: own.cluster, Start: sim.Epoch, Round: own.scheduler.Round})
	record := func(o scheduler.Observer) scheduler.Observer { d.Observer = o; return d }
	if err := (&play{script: &own, policy: few, placer: pl, record: record}).run(); err != nil {
		t.Fatal(err)
	}
	if err := d.writer.Close(); err != nil {
		t.Fatal(err)
	}
	return d, few
}

// TestLean plays random scripts under each policy and placer that support snapshots without continuing jobs, with
// all jobs and without the continuing ones. Events, snapshots, plans, actions, journals and results are equal.
func TestLean(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 200 scripts twice")
	}
	draws.AtLeast(t, 200)
	for _, entry := range registry.Policies() {
		if traits := entry.Traits(); !traits.Steady || !traits.Keeps {
			continue
		}
		for _, name := range placerNames() {
			if pl, err := registry.NewPlacer(name, registry.PlacerOptions{Penalty: 0.1}); err != nil {
				t.Fatal(err)
			} else if _, ok := pl.(placement.Incremental); !ok {
				continue
			}
			t.Run(entry.Name+", "+name, func(t *testing.T) {
				shown, spared := 0, 0
				rapid.Check(t, func(t *rapid.T) {
					script := uncounted(t)
					all, _ := leanPlay(t, script, &entry, name, false)
					few, of := leanPlay(t, script, &entry, name, true)
					if a, b := all.text.String(), few.text.String(); a != b {
						t.Fatalf("the policy is shown all jobs:\n%s\nonly some:\n%s", a, b)
					}
					if a, b := all.journal.String(), few.journal.String(); a != b {
						t.Fatalf("the policy is shown all jobs:\n%s\nonly some:\n%s", a, b)
					}
					shown, spared = shown+of.shown, spared+of.spared
				})
				if t.Logf("%d shown, %d spared", shown, spared); spared < 200 { // a few long jobs that report are most of what is shown
					t.Errorf("of %d times that a job ran in a round %d were not shown, want at least 200", shown+spared, spared)
				}
			})
		}
	}
}
