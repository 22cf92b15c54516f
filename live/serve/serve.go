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
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
)

const (
	controlSocket = "control.sock"
	agentSocket   = "agent.sock"
	journals      = "journal"
)

const queueName = "default"

// ControlSocket returns the path of the control socket of a state directory.
func ControlSocket(dir string) string { return filepath.Join(dir, controlSocket) }

// JournalFolder returns the path of the directory of journals in a state directory.
func JournalFolder(dir string) string { return filepath.Join(dir, journals) }

type controller struct {
	o       Options
	machine local.Machine
	store   *store.Store
	backend *local.Backend
	driver  *driver.Driver
	agents  *agentapi.Server
	metrics *prometheus.Registry
	users   *users        // nil if all jobs belong to one user
	meter   *gpuuse.Meter // nil without GPUs
	logged  time.Time     // last line in the log of idle GPUs
	pruning sync.Mutex
	closers []io.Closer // in order of opening
}

// Run runs the scheduler of this machine until ctx is done, and then returns nil. Jobs continue to run.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	o.Settings = settings(&o)
	c := &controller{o: o}
	err := c.open(ctx)
	if err == nil {
		err = c.run(ctx)
	}
	for _, closer := range slices.Backward(c.closers) {
		err = errors.Join(err, closer.Close())
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil //nolint:nilerr // that is how it ends
	}
	return err
}

func (c *controller) open(ctx context.Context) error {
	if err := os.MkdirAll(c.o.Dir, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	var err error
	if c.users, err = findUsers(&c.o); err != nil {
		return err
	}
	if c.store, err = c.openStore(ctx); err != nil {
		return err
	}
	c.closers = append(c.closers, c.store)
	if c.machine, err = local.FindMachine(c.o.Slots); err != nil || !c.o.Recover {
		return err
	}
	return c.recover()
}

// openStore fails if the database is damaged. With Options.Recover, it renames a damaged database and creates a
// new one.
func (c *controller) openStore(ctx context.Context) (*store.Store, error) {
	s, err := c.awaitStore(ctx)
	if err == nil || !c.o.Recover || !errors.Is(err, store.ErrDamaged) {
		return s, err
	}
	c.say("%v", err)
	aside, err := store.SetAside(c.o.Dir)
	if err != nil {
		return nil, err
	}
	c.say("moved the database to %s", aside)
	return store.Open(c.o.Dir)
}

func (c *controller) awaitStore(ctx context.Context) (*store.Store, error) {
	s, err := store.Open(c.o.Dir)
	if errors.Is(err, store.ErrBrief) {
		c.say("waiting: %v", err)
	}
	for errors.Is(err, store.ErrBrief) {
		time.Sleep(100 * time.Millisecond)
		if s, err = store.Open(c.o.Dir); err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return s, err
}

func (c *controller) recover() error {
	node := c.machine.Node()
	ids, err := statedir.Rebuild(c.store, &statedir.Folders{Dir: c.o.Dir}, &node)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	c.say("jobs recovered from their directories: %d: %v", len(ids), ids)
	return nil
}

func (c *controller) run(ctx context.Context) error {
	unix, loopback, commands, err := c.listen()
	if err != nil {
		return err
	}
	if err := c.build(loopback.Addr().String()); err != nil {
		return err
	}
	metrics, err := c.listenMetrics()
	if err != nil {
		return err
	}
	c.agents = agentapi.New(c.backend.Agents(), agentapi.DefaultOptions())
	server := control.New(c)
	if c.users != nil {
		server.Share(c.users.group)
	}
	g, ctx := errgroup.WithContext(ctx)
	if metrics != nil {
		g.Go(func() error { return driver.ServeMetrics(ctx, metrics, c.metrics) })
	}
	g.Go(func() error { return c.agents.Serve(unix) })
	g.Go(func() error { return c.agents.Serve(loopback) })
	g.Go(func() error { return server.Serve(commands) })
	if c.meter != nil {
		g.Go(func() error { c.meter.Follow(ctx, c.measure); return c.meter.Append(JournalFolder(c.o.Dir)) })
	}
	ended := newEnds()
	g.Go(func() error { return c.keepPruning(ctx, ended.many) })
	g.Go(func() error { return c.driver.Run(ctx, c.agents.Forgetter(), ended) })
	g.Go(func() error {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		return errors.Join(server.Shutdown(end), c.agents.Shutdown(end))
	})
	c.say("%s: %d %s slots, policy %s, a plan every %v", c.machine.Name, len(c.machine.Slots), c.machine.Type, c.o.Policy, c.o.Round)
	if c.users == nil {
		c.say("jobs run as %s; only %[1]s and root can submit", account.Name(os.Geteuid()))
	} else {
		c.say("jobs run as the submitting user; root and members of group %s can submit", c.o.Group)
	}
	if c.o.Ready != nil {
		c.o.Ready()
	}
	return g.Wait()
}

func (c *controller) build(address string) error {
	l := local.DefaultOptions()
	l.Dir, l.Machine, l.Supervisor, l.Cgroup = c.o.Dir, c.machine, c.o.Supervisor, cgroup(c.o.Cgroup, supervisor.Delegated)
	if l.Cgroup == "" {
		c.say("no cgroup: %s", local.Escapes)
	}
	l.Grace, l.Report, l.Quiet = c.o.Grace, c.o.Report, c.o.Quiet
	if c.users != nil {
		l.Quotas = c.users.quotas
	}
	l.Socket, l.URL = filepath.Join(c.o.Dir, agentSocket), "http://"+address
	var err error
	if c.backend, err = local.Open(c.store, l); err != nil {
		return err
	}
	registry, metrics, err := driver.NewMetrics(c.o.Tool)
	if err != nil {
		return err
	}
	c.metrics = registry
	c.meter = c.newMeter()
	if err := c.resumeCaps(time.Now()); err != nil {
		return err
	}
	c.driver = driver.New(driver.Options{
		Queue: queueName, Policy: c.o.Policy, Settings: c.o.Settings, Round: c.o.Round, Tool: c.o.Tool,
		Journals: filepath.Join(c.o.Dir, journals), Predict: true, Metrics: metrics, Traces: c.o.Traces,
	})
	if err := c.driver.Attach(c.backend, nil); err != nil {
		return err
	}
	c.closers = append(c.closers, c.driver)
	return nil
}

func cgroup(asked string, delegated func() string) string {
	if asked == "auto" {
		return delegated()
	}
	return asked
}

// settings sets lambda, the penalty of Sia and oxgang for giving a job nothing. With 1.1 and few GPUs the first
// job keeps all; with 2, a second job always starts. Deviation: lambda is 2 unless set, because one machine is
// small. Users have equal shares under oxgang.
func settings(o *Options) map[string]string {
	all := make(map[string]string, len(o.Settings)+2)
	if o.Policy == "sia" || o.Policy == "oxgang" {
		all["lambda"] = "2"
	}
	if o.Policy == "oxgang" {
		all["guarantee"] = "equal"
	}
	maps.Copy(all, o.Settings)
	return all
}

func (c *controller) say(format string, args ...any) {
	fmt.Fprintln(c.o.Log, printable.Line(fmt.Sprintf(format, args...)))
}

func (c *controller) listen() (unix, loopback, commands net.Listener, err error) {
	keep := func(l net.Listener, err error) (net.Listener, error) {
		if err == nil {
			c.closers = append(c.closers, closeTwice{l})
		}
		return l, err
	}
	users, jobs := c.access()
	if commands, err = keep(control.Listen(filepath.Join(c.o.Dir, controlSocket), users)); err != nil {
		return nil, nil, nil, err
	}
	if unix, err = keep(control.Listen(filepath.Join(c.o.Dir, agentSocket), jobs)); err != nil {
		return nil, nil, nil, err
	}
	loopback, err = keep(net.Listen("tcp", c.o.Listen))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("agent API: %w", err)
	}
	return unix, loopback, commands, nil
}

func (c *controller) listenMetrics() (net.Listener, error) {
	if c.o.Metrics == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", c.o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	c.closers = append(c.closers, closeTwice{l})
	c.say("metrics: http://%s/metrics", l.Addr())
	return l, nil
}

type closeTwice struct{ net.Listener }

func (l closeTwice) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
