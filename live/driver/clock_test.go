package driver

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A rounds observer counts rounds.
type rounds struct{ n atomic.Int64 }

func (*rounds) Event(time.Time, scheduler.Event)                           {}
func (r *rounds) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) { r.n.Add(1) }

// leap runs a toy backend for three rounds, calls do, runs it for three more minutes, and returns
// how many rounds there were since, what the driver complains of, and its metrics.
func leap(t *testing.T, clock Clock, do func()) (int, *Driver, *prometheus.Registry) {
	t.Helper()
	o, registry := toyOptions(t), prometheus.NewRegistry()
	var err error
	if o.Metrics, err = monitor.New(registry, monitor.Options{}); err != nil {
		t.Fatal(err)
	}
	first, second := toyJob("first"), toyJob("second")
	first.Target, second.Target = 2e5, 2e5 // seconds: longer than a clock is set by, and not so long that looks ahead take minutes
	w, d, count := newToyAt(NewQueueWithClock(clock), testCluster(t), first, second), New(o), &rounds{}
	if err := d.Attach(w, nil); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, count) }()
	time.Sleep(3*time.Minute + time.Second)
	synctest.Wait()
	do()
	before := count.n.Load()
	time.Sleep(3 * time.Minute)
	synctest.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Log(err)
	}
	return int(count.n.Load() - before), d, registry
}

// A clock that is set, back or forward, neither stops planning nor makes rounds that were not
// due, and is mentioned.
func TestClock_is_set(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, -time.Hour, time.Hour, 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var moved atomic.Int64
			began := time.Now()
			clock := Clock{Wall: func() time.Time { return time.Now().Add(time.Duration(moved.Load())) }, Elapsed: func() time.Duration { return time.Since(began) }}
			n, d, registry := leap(t, clock, func() { moved.Store(int64(by)) })
			if n != 3 {
				t.Errorf("set by %v: %d rounds in 3 minutes, want 3", by, n)
			}
			if text := d.Trouble(); !strings.Contains(text, "clock was set "+map[bool]string{true: "back", false: "forward"}[by < 0]) {
				t.Errorf("set by %v: says %q", by, text)
			}
			if got := gauge(t, registry, "oxgang_clock_moved_seconds"); got != by.Seconds() {
				t.Errorf("set by %v: the metric says %v s", by, got)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// gauge returns the value of a metric that has one series.
func gauge(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.GetName() == name {
			return m.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// A scheduler that was stopped for a day catches up one round, and its journal replays.
func TestSleep_is_not_caught_up(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		began := time.Now()
		clock := Clock{Wall: func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }, Elapsed: func() time.Duration { return time.Since(began) + time.Duration(slept.Load()) }}
		n, d, _ := leap(t, clock, func() { slept.Store(int64(24*time.Hour + 7*time.Second)) })
		if n < 3 || n > 4 {
			t.Errorf("%d rounds in 3 minutes after a day's sleep, want 3, and one to catch up at most", n)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		replays(t, d, 6)
	})
}
