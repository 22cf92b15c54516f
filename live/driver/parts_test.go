package driver

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// TestJournal_in_parts: while a scheduler runs, its journal comes in parts. Without the first ones the rest replays
// exactly, and a job is explained as from the whole.
func TestJournal_in_parts(t *testing.T) {
	for _, name := range []string{"fifo", "oxgang"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { inParts(t, name) })
		})
	}
}

func inParts(t *testing.T, name string) {
	o := toyOptions(t)
	o.Policy, o.Round = name, 5*time.Minute
	var specs []*job.Spec
	for _, id := range []job.ID{"first", "second", "third"} {
		spec := toyJob(id)
		spec.Target, spec.Class = 3*3600, "toy" // so that a look knows how long those that wait take
		specs = append(specs, spec)
	}
	w, d := newToy(testCluster(t), specs...), New(o)
	if err := d.Attach(w, nil); err != nil {
		t.Fatal(err)
	}
	d.record.PartAge = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	time.Sleep(5*time.Hour + 6*time.Minute)
	synctest.Wait()
	all, err := JournalParts(d.Journal())
	if err != nil || len(all) != 6 || all[5] != d.Journal() {
		t.Fatalf("parts %q, %v; want one for each hour", all, err)
	}
	for _, id := range []job.ID{"second", "third"} {
		older := regexp.MustCompile(`\n  changed .*`) // a change before the last parts is not read
		if few, whole := told(t, d, all[4:], id), older.ReplaceAllString(told(t, d, all, id), ""); few != whole {
			t.Errorf("of the last parts:\n%s\nof all:\n%s", few, whole)
		}
	}
	if s, err := d.Story(t.Context(), "first", explain.LiveState{}); err != nil || !s.Moment.Ended {
		t.Errorf("a job that ended in an earlier part: %v", err)
	}
	for _, path := range all[:2] {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := d.Story(t.Context(), "third", explain.LiveState{}); err != nil || s.Moment.Ended {
		t.Errorf("without the first parts: %v", err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := d.Close(); err != nil || d.Trouble() != "" {
		t.Errorf("closed: %v, trouble %q", err, d.Trouble())
	}
	replays(t, d, 30)
}

// told returns what parts of the journal say of a job.
func told(t *testing.T, d *Driver, parts []string, id job.ID) string {
	t.Helper()
	s, err := d.read(parts, id, explain.LiveState{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := (&explain.Story{Job: s.Job, Policy: s.Policy, Asked: s.Asked, Moment: s.Moment}).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// replays fails the test unless what is left of the journal, in all its parts, has so many rounds and replays
// to the same plans.
func replays(t *testing.T, d *Driver, least int) {
	t.Helper()
	parts, err := JournalParts(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenJournal(nil, parts...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Start()
	if err != nil {
		t.Fatal(err)
	}
	got, err := whatif.Replay(t.Context(), r, whatif.Options{Fresh: d.o.newPolicy, Scheduler: d.o.scheduler()})
	if err != nil || got.First != nil || got.Rounds < least || got.Truncated {
		t.Errorf("replayed %+v, %v; want at least %d rounds, and none that differs", got, err, least)
	}
}
