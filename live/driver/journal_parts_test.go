package driver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// recorded returns a Recorder whose parts have 2000 bytes or an hour, and a function that records n events and a
// checkpoint, an interval later.
func recorded(t *testing.T) (*driver.Recorder, func(n int, later time.Duration)) {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	h := journal.Header{Tool: "test", Policy: "fifo", Seed: 1, Start: time.Unix(1000, 0).UTC(), Round: time.Minute, Cluster: c}
	r, err := driver.NewRecorder(t.TempDir(), h)
	if err != nil {
		t.Fatal(err)
	}
	r.PartBytes, r.PartAge = 2000, time.Hour
	s, err := scheduler.New(queue.New(queue.FIFO()), placement.NewBestFit(), c, scheduler.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	now, jobs := h.Start, 0
	return r, func(n int, later time.Duration) {
		t.Helper()
		now = now.Add(later)
		for range n {
			jobs++
			r.Event(now, scheduler.Submitted{Spec: &job.Spec{ID: job.ID(fmt.Sprintf("job%d", jobs)), GPUs: 1}})
		}
		r.Checkpoint(now, s.Memory(), []byte("memory"))
		if err := r.Trouble(); err != nil {
			t.Fatal(err)
		}
	}
}

// records counts the records that parts have together, and returns the error with which they end.
func records(t *testing.T, parts []string) int {
	t.Helper()
	f, err := driver.OpenJournal(nil, parts...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Start()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// A part that is long or old is followed by another, whose name says which it is; the parts together have all,
// and without the first ones the rest.
func TestRecorder_turns(t *testing.T) {
	synced := 0
	r, add := recorded(t)
	r.Syncing(func(path string) { // before the next part has its name
		if all, err := driver.JournalParts(path); err != nil || all[len(all)-1] != path {
			t.Errorf("%s is synced after the next part is there: %q, %v", path, all, err)
		}
		synced++
	})
	add(1, time.Minute) // short and young
	add(30, time.Minute)
	if r.Due(time.Unix(1000, 0).Add(time.Hour)) { // the second part is younger than the run
		t.Error("a young part is due")
	}
	add(1, time.Minute)
	add(1, time.Hour)
	if !r.Due(time.Unix(1000, 0).Add(3 * time.Hour)) {
		t.Error("an old part is not due")
	}
	add(1, time.Hour)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if synced != 3 {
		t.Errorf("%d parts were synced before the next one, want 3", synced)
	}
	parts, err := driver.JournalParts(r.Path())
	if err != nil || len(parts) != 4 || parts[3] != r.Path() || filepath.Ext(parts[0]) != ".oxj" {
		t.Fatalf("parts %q, %v; want four, the last one %s", parts, err, r.Path())
	}
	for _, path := range parts {
		if all, err := driver.JournalParts(path); err != nil || !slices.Equal(all, parts) {
			t.Errorf("%s: %q, %v", path, all, err)
		}
	}
	if n := records(t, parts); n != 34 {
		t.Errorf("%d records, want 34", n)
	}
	if n := records(t, parts[1:]); n != 3 {
		t.Errorf("%d records without the first part, want 3", n)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(r.Path()), "*.new")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// Where the next part cannot be created, the journal goes on in the present one.
func TestRecorder_goes_on_without_a_new_part(t *testing.T) {
	r, add := recorded(t)
	next := r.Path()[:len(r.Path())-len(".oxj")] + ".0002.oxj.new"
	if err := os.WriteFile(next, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	add(30, time.Minute)
	add(5, time.Minute)
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
	add(1, time.Minute)
	add(2, time.Minute)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	parts, err := driver.JournalParts(r.Path())
	if err != nil || len(parts) != 2 || records(t, parts) != 38 {
		t.Errorf("parts %q, %v", parts, err)
	}
}

// A file whose name only looks like that of a part, or that is not there, is alone.
func TestParts_of_others(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sia-2.oxj", "sia.oxj", "text.0002", "x.0001.oxj"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := driver.JournalParts(path); err != nil || !slices.Equal(got, []string{path}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{filepath.Join(dir, "none.oxj"), "-"} {
		if got, err := driver.JournalParts(name); err != nil || !slices.Equal(got, []string{name}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
