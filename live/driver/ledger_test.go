package driver

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

// TestLedger_of_a_live_run: the ledger of a live run, from its journal and as metrics, has all
// GPU time that the monitor measures in its own way.
func TestLedger_of_a_live_run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, policy := range []string{"fifo", "srtf", "sia"} {
			o, registry := toyOptions(t), prometheus.NewRegistry()
			o.Policy = policy
			var err error
			if o.Metrics, err = monitor.New(registry, monitor.Options{}); err != nil {
				t.Fatal(err)
			}
			first, second := toyJob("first"), toyJob("second")
			first.User, second.User = "ann", "bob"
			d := New(o)
			if err := d.Attach(newToy(testCluster(t), first, second), nil); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- d.Run(ctx) }()
			time.Sleep(30*time.Minute + 5*time.Second)
			synctest.Wait()
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended with %v, want that it was stopped", policy, err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			checkLedger(t, policy, statement(t, d.Journal()), series(t, registry))
		}
	})
}

// checkLedger compares a statement of a journal with the metrics of the run.
func checkLedger(t *testing.T, policy string, s *ledger.Statement, m map[string]float64) {
	t.Helper()
	held := s.Total.Used.Seconds() - s.Total.Idle.Seconds() - s.Total.Profiling.Seconds()
	metered := m["oxgang_gpu_seconds_total productive"] + m["oxgang_gpu_seconds_total restarting"]
	if held < 1200 || math.Abs(held-metered) > 1e-6 {
		t.Errorf("%s: %.9f GPU-seconds held in the ledger, want %.9f, and at least 1200", policy, held, metered)
	}
	for i, user := range []string{"ann", "bob"} {
		used := m["oxgang_used_gpu_seconds_total "+user+" held"] + m["oxgang_used_gpu_seconds_total "+user+" idle"]
		if got := s.Rows[i].Used.Seconds(); math.Abs(got-used) > 1e-6 {
			t.Errorf("%s: %s used %.9f GPU-seconds in the ledger, %.9f by the metrics", policy, user, got, used)
		}
	}
}

// statement returns the ledger of a journal.
func statement(t *testing.T, file string) *ledger.Statement {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var book ledger.Book
	rec := ledger.NewRecorder(r.Header().Start, r.Header().Cluster, book.Add)
	if err := r.Show(rec); err != nil {
		t.Fatal(err)
	}
	rec.Close()
	s, err := book.State([]string{"user"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// series returns counters by their name, user, state and use.
func series(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if f.GetType() != dto.MetricType_COUNTER {
			continue
		}
		for _, m := range f.GetMetric() {
			name, of := f.GetName(), map[string]string{}
			for _, l := range m.GetLabel() {
				of[l.GetName()] = l.GetValue()
			}
			for _, label := range []string{"user", "state", "use"} {
				if of[label] != "" {
					name += " " + of[label]
				}
			}
			all[name] += m.GetCounter().GetValue()
		}
	}
	return all
}
