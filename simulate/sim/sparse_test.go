package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A deeds writes down all of a run but what jobs measured and how far they were: what happened, was decided and was done.
// Events of one instant are sorted.
type deeds struct {
	scheduler.Observer
	text    strings.Builder
	now     time.Time
	events  []string // of now
	reports int
	longest time.Duration // interval of a report
}

func (d *deeds) sorted(now time.Time) {
	if now.Equal(d.now) {
		return
	}
	slices.Sort(d.events)
	for _, e := range d.events {
		fmt.Fprintf(&d.text, "%v %s\n", d.now, e)
	}
	d.now, d.events = now, nil
}

// Event implements scheduler.Observer.
func (d *deeds) Event(now time.Time, ev scheduler.Event) {
	d.Observer.Event(now, ev)
	if r, ok := ev.(scheduler.Reported); ok && r.StepTime > 0 && !r.Profile {
		d.reports, d.longest = d.reports+1, max(d.longest, r.Interval)
		return
	}
	d.sorted(now)
	switch ev.(type) {
	case scheduler.Exited, scheduler.Reported: // with the progress, to the last digit
		d.events = append(d.events, fmt.Sprintf("%+v", ev))
	default:
		d.events = append(d.events, fmt.Sprintf("%T", ev))
	}
}

// Round implements scheduler.Observer.
func (d *deeds) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	d.Observer.Round(s, p, acts)
	d.sorted(time.Time{})
	fmt.Fprintf(&d.text, "%v round %d on %d nodes: %+v, do %+v\n", s.Now, s.Round, len(s.Cluster.Nodes()), *p, acts)
	for _, j := range s.Jobs {
		was := j.Status
		was.Progress, was.Epoch, was.Reported, was.MaxGPUs = 0, 0, time.Time{}, 0
		fmt.Fprintf(&d.text, "  %s %+v\n", j.ID, was)
	}
}

// measureless draws a script of which no application measures gradients, with noise in a few, on nodes that count CPUs and memory.
func measureless(t *rapid.T) *script {
	s := draw(t)
	s.catalog = workload.Catalog{}
	for name, app := range short {
		a := *app
		a.Curve, a.Model = nil, "LM"
		s.catalog[name] = &a
	}
	if !oneIn(t, 5, "noise all the same") {
		s.world.Noise.Report, s.world.Noise.Bias = 0, 0
	}
	return s
}

// sparsePlay plays a script.
func sparsePlay(t *rapid.T, script *script, entry *registry.Entry, placer string, sparse bool) *deeds {
	p, err := entry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var pl placement.Placer
	if pl, err = registry.NewPlacer(placer, registry.PlacerOptions{Penalty: 0.1}); err != nil {
		t.Fatal(err)
	}
	d, own := &deeds{}, *script
	own.world.Sparse = sparse
	record := func(o scheduler.Observer) scheduler.Observer { d.Observer = o; return d }
	if err := (&play{script: &own, policy: p, placer: pl, record: record}).run(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSparse plays random scripts under each policy that ignores progress, twice: with all reports, and without those that
// teach nothing. What happens, is decided and is done is alike, and progress where jobs tell it without measurements.
func TestSparse(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 200 scripts twice")
	}
	draws.AtLeast(t, 200)
	entries := slices.DeleteFunc(registry.Policies(), func(e registry.Entry) bool { return !e.Traits().IgnoresProgress })
	if len(entries) == 0 {
		t.Fatal("no policy ignores progress")
	}
	for _, entry := range entries {
		for _, name := range draws.Some(t, 2, placerNames()) {
			t.Run(entry.Name+", "+name, func(t *testing.T) {
				all, few := 0, 0
				rapid.Check(t, func(t *rapid.T) {
					script := measureless(t)
					loud, sparse := sparsePlay(t, script, &entry, name, false), sparsePlay(t, script, &entry, name, true)
					if a, b := loud.text.String(), sparse.text.String(); a != b {
						one, two := firstDifference(a, b)
						t.Fatalf("with all reports:\n%s\nwithout those that teach nothing:\n%s", one, two)
					}
					if sparse.longest > loud.longest {
						t.Fatalf("a report of %v, want no longer interval than %v, as with all reports", sparse.longest, loud.longest)
					}
					all, few = all+loud.reports, few+sparse.reports
				})
				if t.Logf("%d reports, %d of them made", all, few); few*2 > all {
					t.Errorf("%d of %d reports were made, want at most half", few, all)
				}
			})
		}
	}
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(a, b string) (one, two string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	return fmt.Sprintf("%d lines", len(as)), fmt.Sprintf("%d lines", len(bs))
}
