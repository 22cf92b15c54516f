package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
)

// queueName is what metrics call the queue of a machine, which has one.
const queueName = "default"

// A watcher shows what the scheduler does, as metrics and traces, and whether its policy
// plans or its fallback.
type watcher struct {
	*monitor.Watch
	queue    *monitor.Queue
	metrics  *prometheus.Registry
	fallback *fallback.Policy

	mu    sync.Mutex
	state fallback.State // after the last round
}

// newWatcher returns one that wraps p.
func newWatcher(o *Options, p policy.Policy) (*watcher, error) {
	f, err := fallback.New(p, fallback.DefaultOptions(o.Round))
	if err != nil {
		return nil, err
	}
	w := &watcher{fallback: f, metrics: prometheus.NewRegistry()}
	w.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m, err := monitor.New(w.metrics, monitor.Options{Version: o.Tool})
	if err != nil {
		return nil, err
	}
	w.queue = m.Queue(queueName, o.Round, monitor.Source{Fallback: f.State})
	tell := []func(*monitor.Timing){w.queue.Timed}
	if o.Traces != nil {
		tell = append(tell, monitor.Spans(o.Traces, queueName))
	}
	w.Watch = monitor.NewWatch(tell...)
	return w, nil
}

// Event implements scheduler.Observer.
func (w *watcher) Event(now time.Time, ev scheduler.Event) { w.queue.Event(now, ev) }

// Round implements scheduler.Observer.
func (w *watcher) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	w.Watch.Round(s, p, acts)
	w.queue.Round(s, p, acts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = w.fallback.State()
}

// trouble returns what is wrong with the policy, for people; empty if it plans.
func (w *watcher) trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch st := w.state; {
	case st.Active:
		return fmt.Sprintf("the policy has failed %d times in a row, and jobs are served first in, first out: %v", st.Failures, st.Err)
	case st.Failures > 0:
		return fmt.Sprintf("the policy has failed, and everything stays as it is: %v", st.Err)
	}
	return ""
}

// serve answers with the metrics until ctx is done.
func (w *watcher) serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(w.metrics, promhttp.HandlerOpts{Registry: w.metrics}))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}
