package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// What was recorded can be read while the run goes on; trouble with the file is told, and a
// run does not write over another's journal.
func TestRecorder(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	dir, h := t.TempDir(), journal.Header{Tool: "test", Policy: "fifo", Seed: 1, Start: time.Unix(1000, 0).UTC(), Round: time.Minute, Cluster: c}
	r, err := driver.NewRecorder(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := driver.NewRecorder(dir, h); err == nil {
		t.Error("a second run took the journal of the first")
	}
	r.Event(h.Start.Add(time.Second), scheduler.Submitted{Spec: &job.Spec{ID: "a", GPUs: 1}})
	f, err := os.Open(r.Path())
	if err != nil || filepath.Dir(r.Path()) != dir {
		t.Fatalf("%s: %v", r.Path(), err)
	}
	defer f.Close()
	read, err := journal.NewReader(f)
	if err != nil || read.Header().Policy != "fifo" {
		t.Errorf("header %+v, %v", read.Header(), err)
	}
	if err := r.Trouble(); err != nil {
		t.Error(err)
	}
	if got := end(t, r.Path()); !errors.Is(got, journal.ErrTruncated) {
		t.Errorf("while the run goes on: got %v, want no end", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if got := end(t, r.Path()); got != nil {
		t.Errorf("after Close: got %v, want an end", got)
	}
	r.Event(h.Start.Add(2*time.Second), scheduler.Exited{Job: "a"})
	if r.Trouble() == nil {
		t.Error("nothing is said of a file that takes no more")
	}
}

// end reads a journal and returns what it ends with; nil if that is well.
func end(t *testing.T, path string) error {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Records() {
		if err != nil {
			return err
		}
	}
	return nil
}
