package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A Backend runs the jobs of one queue. It sends events to the scheduler, carries out the scheduler's actions, and
// observes each round.
type Backend interface {
	scheduler.Backend
	scheduler.Observer
	// Cluster returns the current nodes, for the header of the journal.
	Cluster() *cluster.Cluster
	// Follow is called once, before the first round. It sets the time between regular rounds, and a function that
	// returns the scheduler's view of its jobs after the actions of the last round.
	Follow(round time.Duration, jobs func(now time.Time) []*policy.Job)
	// ClockMoved returns by how much the machine's clock was set forward since the Backend was opened; negative if
	// back.
	ClockMoved() time.Duration
	// Execute makes the running jobs match the plan, until ctx is done.
	Execute(ctx context.Context) error
}

// A Driver runs the scheduler of one queue with one Backend. After Attach its methods are safe for concurrent use,
// unless stated otherwise.
type Driver struct {
	o         Options
	digest    *digest    // nil without Options.Digest
	predictor *predictor // nil without Options.Predict
	ahead     *whatif.Predictor
	again     *redecider // nil without Options.Predict
	asked     chan struct{}

	backend Backend
	sched   *scheduler.Scheduler
	watch   *monitor.Watch
	queue   *monitor.Queue
	health  *health
	record  *Recorder // nil if no journal is written
	begun   time.Time // start of the journal
	// checkpoints is nil if no journal is written.
	checkpoints *whatif.Checkpointer
}

// New returns a Driver without a Backend.
func New(o Options) *Driver {
	d := &Driver{o: o, asked: make(chan struct{}, 1)}
	if o.Digest {
		d.digest = new(digest)
	}
	if o.Predict {
		d.predictor = newPredictor(o.Log, o.Queue)
	}
	return d
}

// Attach creates the scheduler for Backend b and starts the journal. stopping returns, for metrics, the GPUs by type of
// processes that should have stopped but have not.
func (d *Driver) Attach(b Backend, stopping func() map[cluster.GPUType]int) error {
	d.backend = b
	p, placer, err := d.o.newPolicy()
	if err != nil {
		return err
	}
	bare := p
	if d.o.Predict {
		p = d.remember(p)
	}
	safe, err := fallback.New(p, fallback.DefaultOptions(d.o.Round))
	if err != nil {
		return err
	}
	d.health = &health{policy: safe, clockMoved: b.ClockMoved}
	d.monitor(monitor.Source{Fallback: safe.State, Stopping: stopping, ClockMoved: b.ClockMoved})
	if d.sched, err = scheduler.New(d.watch.Policy(safe), d.watch.Placer(placer), b.Cluster(), d.o.scheduler()); err != nil {
		return err
	}
	b.Follow(d.o.Round, func(now time.Time) []*policy.Job { return d.sched.Snapshot(now).Jobs })
	d.lookAhead()
	if err := d.begin(); err != nil || d.record == nil {
		return err
	}
	so := d.o.scheduler()
	d.checkpoints = whatif.NewCheckpointer(whatif.Run{Scheduler: d.sched, Policy: bare, Placer: placer, Options: so, Cluster: b.Cluster(), Ahead: d.ahead}, d.record)
	d.checkpoints.Due, d.checkpoints.Busy = d.record.Due, safe.Busy
	return nil
}

func (d *Driver) monitor(s monitor.Source) {
	d.queue = d.o.Metrics.Queue(d.o.Queue, d.o.Round, s)
	report := []func(*monitor.Timing){d.queue.Timed}
	if d.o.Log != nil {
		report = append(report, monitor.Log(d.o.Log, d.o.Queue))
	}
	if d.o.Traces != nil {
		report = append(report, monitor.Spans(d.o.Traces, d.o.Queue))
	}
	d.watch = monitor.NewWatch(report...)
}

func (d *Driver) lookAhead() {
	if !d.o.Predict {
		return
	}
	d.ahead = whatif.NewPredictor(d.o.newPolicy, d.o.scheduler(), d.backend.Cluster().Types())
	d.ahead.Explained, d.ahead.Decided = d.queue.Explained, d.again.after
	d.again.ahead = d.ahead
	d.predictor.ahead, d.predictor.again = d.ahead, d.again
}

func (d *Driver) begin() error {
	h := d.o.header(d.backend)
	if d.digest != nil {
		d.digest.begin(h)
	}
	if d.o.Journals == "" {
		return nil
	}
	if err := os.MkdirAll(d.o.Journals, 0o700); err != nil {
		return fmt.Errorf("journals: %w", err)
	}
	var err error
	d.begun = time.Now()
	d.record, err = NewRecorder(d.o.Journals, h)
	return err
}

// Run schedules jobs, executes plans and makes predictions until ctx is done or one of these fails.
func (d *Driver) Run(ctx context.Context, observers ...scheduler.Observer) error {
	g, ctx := errgroup.WithContext(ctx)
	if d.predictor != nil {
		g.Go(func() error { return d.predictor.run(ctx) })
	}
	g.Go(func() error { return d.backend.Execute(ctx) })
	g.Go(func() error {
		return d.sched.Run(ctx, d.watch.Backend(d.backend), append(d.observers(), observers...)...)
	})
	return g.Wait()
}

// observers has the watch first, so that it times the others. The digest comes before the backend, which publishes
// it.
func (d *Driver) observers() []scheduler.Observer {
	all := []scheduler.Observer{d.watch, d.queue, d.health}
	if d.digest != nil {
		all = append(all, d.digest)
	}
	all = append(all, d.backend)
	if d.predictor != nil {
		all = append(all, d.predictor)
	}
	if d.record != nil {
		all = append(all, d.record, d.checkpoints)
	}
	return all
}

// Monitor returns the metrics of the queue. A backend can add its own metrics.
func (d *Driver) Monitor() *monitor.Queue { return d.queue }

// Journal returns the path of the journal file that is being written, or "" if there is none.
func (d *Driver) Journal() string {
	if d.record == nil {
		return ""
	}
	return d.record.Path()
}

// Trouble describes a problem of the journal, the policy or the clock, or returns "".
func (d *Driver) Trouble() string {
	if d.record != nil {
		if err := d.record.Trouble(); err != nil {
			return "the journal cannot be written: " + err.Error()
		}
	}
	return d.health.trouble()
}

// Close ends the journal, and returns an error if it is incomplete.
func (d *Driver) Close() error {
	if d.record == nil {
		return nil
	}
	return d.record.Close()
}

// NewMetrics returns a registry with the metrics of Oxgang, Go and the process.
func NewMetrics(tool string) (*prometheus.Registry, *monitor.Metrics, error) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m, err := monitor.New(r, monitor.Options{Version: tool})
	return r, m, err
}

// ServeMetrics answers GET /metrics until ctx is done, and then returns nil. It refuses requests whose Host header
// names another machine, against DNS rebinding by web pages.
func ServeMetrics(ctx context.Context, l net.Listener, r *prometheus.Registry) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", ownHost(promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r})))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

func ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && !strings.EqualFold(host, "localhost") {
			http.Error(w, "unknown host: use an address or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
