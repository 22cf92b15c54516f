package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/device"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/record"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/builtin"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
)

// Names of what is in a state directory.
const (
	controlSocket = "control.sock"
	agentSocket   = "agent.sock"
	journals      = "journal"
)

// ControlSocket returns where the scheduler of a state directory listens to commands.
func ControlSocket(dir string) string { return filepath.Join(dir, controlSocket) }

// A desk is a running scheduler: a control.Service.
type desk struct {
	o       Options
	machine device.Machine
	store   *store.Store
	world   *local.World
	sched   *scheduler.Scheduler
	agents  *agentapi.Server
	record  *record.Recorder
	watch   *watcher
	ahead   *whatif.Predictor
	closers []io.Closer
}

// Run serves until ctx is done, and then returns nil; jobs go on without it. It returns what
// keeps it from serving: another scheduler on the same state directory, say.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	o.Settings = settings(&o)
	d := &desk{o: o}
	err := d.open()
	if err == nil {
		err = d.run(ctx)
	}
	for _, c := range slices.Backward(d.closers) {
		err = errors.Join(err, c.Close())
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil //nolint:nilerr // that is how it ends
	}
	return err
}

// open puts the parts together, from the state directory up.
func (d *desk) open() error {
	if err := os.MkdirAll(filepath.Join(d.o.Dir, journals), 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	var err error
	if d.store, err = store.Open(d.o.Dir); err != nil {
		return err
	}
	d.closers = append(d.closers, d.store)
	if d.machine, err = device.Find(device.Options{Slots: d.o.Slots}); err != nil {
		return err
	}
	return nil
}

// run serves with what is open.
func (d *desk) run(ctx context.Context) error {
	unix, loopback, commands, err := d.listen()
	if err != nil {
		return err
	}
	if err := d.build(loopback.Addr().String()); err != nil {
		return err
	}
	metrics, err := d.listenMetrics()
	if err != nil {
		return err
	}
	d.agents = agentapi.New(d.world, agentapi.DefaultOptions())
	server := control.New(d)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.world.Execute(ctx) })
	if metrics != nil {
		g.Go(func() error { return d.watch.serve(ctx, metrics) })
	}
	g.Go(func() error { return d.agents.Serve(unix) })
	g.Go(func() error { return d.agents.Serve(loopback) })
	g.Go(func() error { return server.Serve(commands) })
	g.Go(func() error {
		return d.sched.Run(ctx, d.watch.Backend(d.world), d.watch, d.world, d.record, d.ahead, forgetter{d.agents})
	})
	g.Go(func() error {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		return errors.Join(server.Shutdown(end), d.agents.Shutdown(end))
	})
	d.say("%s: %d %s slots, policy %s, a plan every %v", d.machine.Name, len(d.machine.Slots), d.machine.Type, d.o.Policy, d.o.Round)
	if d.o.Ready != nil {
		d.o.Ready()
	}
	return g.Wait()
}

// settings returns those of the policy. On few GPUs Sia's penalty for giving a job nothing,
// 1.1, lets whoever came first keep them all: a job that is four times as fast on four GPUs
// as on one is worth more to its objective there than one that starts beside it. With 2 the
// second always starts. Deviation: lambda is 2 unless set, because one machine is small.
func settings(o *Options) map[string]string {
	all := make(map[string]string, len(o.Settings)+1)
	if o.Policy == "sia" {
		all["lambda"] = "2"
	}
	maps.Copy(all, o.Settings)
	return all
}

func (d *desk) say(format string, args ...any) { fmt.Fprintf(d.o.Log, format+"\n", args...) }

// A forgetter lets the agent API forget jobs that have ended.
type forgetter struct{ agents *agentapi.Server }

// Event implements scheduler.Observer.
func (f forgetter) Event(_ time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost {
		f.agents.Forget(e.Job)
	}
}

// Round implements scheduler.Observer.
func (forgetter) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// listen opens the sockets.
func (d *desk) listen() (unix, loopback, commands net.Listener, err error) {
	keep := func(l net.Listener, err error) (net.Listener, error) {
		if err == nil {
			d.closers = append(d.closers, quiet{l})
		}
		return l, err
	}
	if commands, err = keep(control.Listen(filepath.Join(d.o.Dir, controlSocket))); err != nil {
		return nil, nil, nil, err
	}
	if unix, err = keep(control.Listen(filepath.Join(d.o.Dir, agentSocket))); err != nil {
		return nil, nil, nil, err
	}
	loopback, err = keep(net.Listen("tcp", d.o.Listen))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("agent API: %w", err)
	}
	return unix, loopback, commands, nil
}

// listenMetrics opens the socket of metrics; nil if they are not wanted.
func (d *desk) listenMetrics() (net.Listener, error) {
	if d.o.Metrics == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", d.o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	d.closers = append(d.closers, quiet{l})
	d.say("metrics: http://%s/metrics", l.Addr())
	return l, nil
}

// quiet is a listener that may be closed twice.
type quiet struct{ net.Listener }

// Close implements io.Closer.
func (q quiet) Close() error {
	if err := q.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// build makes the world, and the scheduler over it.
func (d *desk) build(address string) error {
	l := local.DefaultOptions()
	l.Dir, l.Machine, l.Keeper, l.Cgroup = d.o.Dir, d.machine, d.o.Keeper, d.o.Cgroup
	l.Grace, l.Report, l.Quiet = d.o.Grace, d.o.Report, d.o.Quiet
	l.Socket, l.URL = filepath.Join(d.o.Dir, agentSocket), "http://"+address
	var err error
	if d.world, err = local.Open(d.store, l); err != nil {
		return err
	}
	p, placer, err := d.fresh()
	if err != nil {
		return err
	}
	if d.watch, err = newWatcher(&d.o, p); err != nil {
		return err
	}
	so := d.schedulerOptions()
	if d.sched, err = scheduler.New(d.watch.Policy(d.watch.fallback), d.watch.Placer(placer), d.world.Cluster(), so); err != nil {
		return err
	}
	d.world.Follow(func(now time.Time) []*policy.Job { return d.sched.Snapshot(now).Jobs })
	if d.record, err = record.New(filepath.Join(d.o.Dir, journals), d.header()); err != nil {
		return err
	}
	d.closers = append(d.closers, d.record)
	d.ahead = whatif.NewPredictor(d.fresh, so, d.world.Cluster().Types())
	d.ahead.Explained = d.watch.queue.Explained
	return nil
}

// schedulerOptions: jobs are profiled while they train, and those of a class learn together.
func (d *desk) schedulerOptions() scheduler.Options {
	so := scheduler.DefaultOptions()
	so.Round, so.Profile, so.Estimate.Share = d.o.Round, false, true
	if entry, err := builtin.Find(d.o.Policy); err == nil {
		so.Classes = entry.Traits().Classes
	}
	return so
}

// fresh makes the policy and its placer anew.
func (d *desk) fresh() (policy.Policy, placement.Placer, error) {
	entry, err := builtin.Find(d.o.Policy)
	if err != nil {
		return nil, nil, err
	}
	p, err := builtin.New(d.o.Policy, d.o.Settings)
	if err != nil {
		return nil, nil, err
	}
	placer, err := entry.NewPlacer("", builtin.PlacerOptions{})
	return p, placer, err
}

// header says of which run the journal is, with what a replay has to know of its scheduler.
func (d *desk) header() journal.Header {
	h := journal.Header{
		Tool: d.o.Tool, Policy: d.o.Policy, Seed: 1, Start: d.world.Now(), Round: d.o.Round, Cluster: d.world.Cluster(),
		Settings: []journal.Setting{{Name: "scheduler.profile", Value: "false"}, {Name: "estimate.share", Value: "true"}},
	}
	if entry, err := builtin.Find(d.o.Policy); err == nil {
		for _, name := range entry.SettingNames() {
			if value, set := d.o.Settings[name]; set {
				h.Settings = append(h.Settings, journal.Setting{Name: name, Value: value})
			}
		}
	}
	return h
}
