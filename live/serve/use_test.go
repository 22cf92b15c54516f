package serve

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/oxgang"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// recorded writes the journal of a scheduler that runs for ten minutes from a start. Its jobs have one GPU each.
func recorded(t *testing.T, dir string, start time.Time, events ...scheduler.Event) {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := driver.NewRecorder(dir, journal.Header{Tool: "test", Policy: "fifo", Seed: 1, Start: start, Round: time.Minute, Cluster: c})
	if err != nil {
		t.Fatal(err)
	}
	o := scheduler.DefaultOptions()
	o.Profile = false
	s, err := scheduler.New(queue.New(queue.FIFO()), placement.NewBestFit(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if _, err := s.Step(start, ev); err != nil {
			t.Fatal(err)
		}
		r.Event(start, ev)
	}
	for k := range 11 {
		r.Round(s.Round(t.Context(), start.Add(time.Duration(k)*time.Minute)))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func ofAnn(id job.ID) *job.Spec {
	return &job.Spec{ID: id, User: "ann", GPUs: 1, Adaptivity: job.Rigid, Timed: true, Target: 1e6}
}

// Caps of a restarted scheduler count what its journals have: two runs of ten minutes, and the hour between them, in which
// the job that went on held its GPU. The days before the first journal are named.
func TestResumeCaps(t *testing.T) {
	var log strings.Builder
	o := DefaultOptions()
	o.Dir, o.Log, o.Settings = t.TempDir(), &log, map[string]string{"cap": "user:ann=5;user:bob=1"}
	dir := JournalFolder(o.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	recorded(t, dir, noon, scheduler.Submitted{Spec: ofAnn("j1")}, scheduler.Submitted{Spec: ofAnn("j2")})
	held := job.Status{
		Phase: job.Running, Submitted: noon, Since: noon, Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "a100"}},
		Placement: cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: 1}}},
	}
	recorded(t, dir, noon.Add(70*time.Minute), scheduler.Restored{Spec: ofAnn("j1"), Status: held})
	c := &controller{o: o}
	if err := c.resumeCaps(noon.Add(2 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	caps, err := oxgang.ParseCaps(o.Settings["cap"])
	if err != nil {
		t.Fatal(err)
	}
	u, err := useOf(dir, caps, noon.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if want := (10.0 + 10 + 60 + 10) / 60; math.Abs(u.hours[0]-want) > 1e-9 || u.hours[1] != 0 {
		t.Errorf("GPU-hours %v, want %v and 0", u.hours, want)
	}
	if want := oxgang.FormatUse(noon.Add(80*time.Minute), u.hours); o.Settings["cap-used"] != want {
		t.Errorf("cap-used %q, want %q", o.Settings["cap-used"], want)
	}
	if got := log.String(); !strings.Contains(got, "no journal has records from 2026-11-01T00:00:00Z to 2026-11-20T12:00:00Z") {
		t.Errorf("the log names no missing days: %q", got)
	}
	december := time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files { // as if they were still written
		if err := os.Chtimes(f, december, december); err != nil {
			t.Fatal(err)
		}
	}
	later := &controller{o: Options{Dir: o.Dir, Policy: "oxgang", Settings: map[string]string{"cap": "user:ann=5"}, Program: Program{Log: io.Discard}}}
	if err := later.resumeCaps(december); err != nil || !strings.HasSuffix(later.o.Settings["cap-used"], " 0") {
		t.Errorf("in the next month: %q, %v", later.o.Settings["cap-used"], err)
	}
}
