package driver

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// toyJob returns a job of one GPU that has 600 samples to train.
func toyJob(id job.ID) *job.Spec {
	return &job.Spec{
		ID: id, Name: string(id), GPUs: 1, MinGPUs: 1, MaxGPUs: 1, Adaptivity: job.Rigid, Target: 600, NonPreemptive: true,
		Batch: job.BatchLimits{Init: 1, Max: 1}, BatchSize: 1,
	}
}

// toyOptions returns options of a driver that does all that a driver can.
func toyOptions(t *testing.T) Options {
	t.Helper()
	m, err := monitor.New(prometheus.NewRegistry(), monitor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Queue: "toy", Policy: "fifo", Round: time.Minute, Tool: "test", Journals: filepath.Join(t.TempDir(), "journals"), Digest: true,
		Predict: true, Metrics: m, Log: slog.New(slog.DiscardHandler),
	}
}

// TestDriver runs two jobs on one GPU of a toy backend: the driver plans, keeps the journal,
// explains the job that waits, and predicts when it starts.
func TestDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := toyJob("second")
		second.Class = "bert"
		w, d := newToy(testCluster(t), toyJob("first"), second), New(toyOptions(t))
		if err := d.Attach(w, nil); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		time.Sleep(3*time.Minute + time.Second)
		synctest.Wait()

		last, _ := d.ahead.Last()
		last.Locality = perf.LocalityCosts{"bert": {Times: 1.5, Pairs: 2}} // the toy has no racks
		story, err := d.Story(t.Context(), "second", explain.LiveState{})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := story.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"second has been waiting 3m", "0 of 1 h100 GPU free", "it would get 1 h100 GPU if", "took 1.5 times as long in several racks"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("want %q in\n%s", want, text.String())
			}
		}
		p := d.Predictions()["second"]
		if p.ETA.Start.Why != whatif.Known || p.ETA.Start.Likely < 5*time.Minute || p.ETA.Start.Likely > 10*time.Minute || p.Unblock == "" {
			t.Errorf("predicted %+v, want a start when the first ends, in 7 minutes or so", p)
		}
		before := d.Digest()

		time.Sleep(20 * time.Minute)
		synctest.Wait()
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v, want that it was stopped", err)
		}
		if err := d.Close(); err != nil || d.Trouble() != "" {
			t.Errorf("closed: %v, trouble %q, want none", err, d.Trouble())
		}
		if w.ByID["first"].done < 600 || w.ByID["second"].done < 600 || before == d.Digest() {
			t.Errorf("trained %v and %v, and the digest is %s as before: %v; want both jobs done, and news", w.ByID["first"].done, w.ByID["second"].done, before, before == d.Digest())
		}
		journal, err := os.ReadFile(d.Journal())
		if err != nil || strings.Count(string(journal), `"done"`) != 2 {
			t.Errorf("journal: %v, want that two jobs were done in\n%s", err, journal)
		}
	})
}

// TestAttach_refuses what cannot be scheduled.
func TestAttach_refuses(t *testing.T) {
	o := toyOptions(t)
	o.Policy = "none"
	if err := New(o).Attach(newToy(testCluster(t)), nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("an unknown policy: %v, want an error that names it", err)
	}
	o = toyOptions(t)
	if err := os.WriteFile(o.Journals, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(o).Attach(newToy(testCluster(t)), nil); err == nil || !strings.Contains(err.Error(), "journals: ") {
		t.Errorf("journals that are a file: %v, want an error", err)
	}
}

// TestDriver_without_journal or predictions has none, and says so.
func TestDriver_without_journal(t *testing.T) {
	o := toyOptions(t)
	o.Journals, o.Predict = "", false
	d := New(o)
	if err := d.Attach(newToy(testCluster(t)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Story(t.Context(), "first", explain.LiveState{}); err == nil {
		t.Error("it explains a job without a journal")
	}
	if etas, _ := d.Look(t.Context()); etas != nil || d.Predictions() != nil || d.Journal() != "" || d.Close() != nil {
		t.Errorf("predicted %v, %v, journal %q, want nothing", etas, d.Predictions(), d.Journal())
	}
}

// TestStory_of_nobody is an error of its own type, by which callers say what they know.
func TestStory_of_nobody(t *testing.T) {
	d := New(toyOptions(t))
	if err := d.Attach(newToy(testCluster(t)), nil); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err := d.Story(t.Context(), "nobody", explain.LiveState{})
	if unknown := (*explain.UnknownJobError)(nil); !errors.As(err, &unknown) {
		t.Errorf("got %v, want that the job is unknown", err)
	}
}
