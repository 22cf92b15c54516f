package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/driver"
)

// A Service serves a partition in the configured mode.
type Service struct {
	Slurm Slurm
	Read  func() (*Config, error) // reads the configuration, in every round
	Log   *slog.Logger
	Tool  string // name and version, for journals
}

// Run schedules until ctx is done or another scheduler takes over, and returns the reason. It undoes its changes when
// the mode changes and at the end, unless another scheduler has taken over.
func (s *Service) Run(ctx context.Context) error {
	for {
		c, err := s.Read()
		if err != nil {
			return err
		}
		if mode, _ := c.mode(); mode == resize {
			err = s.resize(ctx, c)
		} else {
			err = s.order(ctx)
		}
		if err != nil {
			return err
		}
	}
}

var errMode = errors.New("the mode was changed")

func (s *Service) order(ctx context.Context) error {
	r, err := newOrderer(s.Slurm, s.Read, s.Log)
	if err != nil {
		return err
	}
	return s.until(ctx, &r.now, func(m mode) bool { return m != resize }, r.Run)
}

func (s *Service) until(ctx context.Context, c *Config, own func(mode) bool, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, c.Round, own, cancel)
	}()
	err := run(ctx)
	changed := errors.Is(context.Cause(ctx), errMode)
	cancel(nil)
	<-watched
	if changed && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *Service) watch(ctx context.Context, every time.Duration, own func(mode) bool, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c, err := s.Read()
		if err != nil {
			continue // keep the last configuration
		}
		if mode, why := c.mode(); !own(mode) {
			s.Log.Info("the mode has changed", "mode", mode, "why", why)
			cancel(errMode)
			return
		}
	}
}

func (s *Service) resize(ctx context.Context, c *Config) error {
	err := s.until(ctx, c, func(m mode) bool { return m == resize }, func(ctx context.Context) error { return s.drive(ctx, c) })
	if errors.Is(err, errOvertaken) {
		return err
	}
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), leave)
	defer cancel()
	if _, undo := ReleasePartition(soon, s.Slurm, c, s.Log); undo != nil {
		return errors.Join(err, fmt.Errorf("could not undo all changes: %w", undo))
	}
	return err
}

func (s *Service) drive(ctx context.Context, c *Config) error {
	o := defaultOptions()
	o.Bounds, o.Slurm, o.Poll, o.Grace, o.Log = *c.bounds(), s.Slurm, c.Poll, c.Grace, s.Log
	o.Writer = &Writer{Slurm: s.Slurm, Log: s.Log, PerMinute: c.Commands, Dry: c.Dry}
	if c.serves() {
		o.Silence = cmp.Or(c.Agents.Silence, o.Silence)
		o.Agents, o.Reports = c.Agents.Share, reportStore(filepath.Join(c.State, "agents"))
	}
	w, err := openBackend(ctx, o)
	if err != nil {
		return err
	}
	_, metrics, err := driver.NewMetrics(s.Tool)
	if err != nil {
		return err
	}
	do := driver.Options{
		Queue: c.Partition, Policy: c.policy(), Settings: c.settings(), Round: c.Round, Tool: s.Tool, Log: s.Log,
		Metrics: metrics,
	}
	if c.State != "" {
		do.Journals = filepath.Join(c.State, "journals")
		if err := own(c.State, 0o700); err != nil {
			return fmt.Errorf("state: %w", err)
		}
	}
	d := driver.New(do)
	if err := d.Attach(w, nil); err != nil {
		return err
	}
	return errors.Join(s.run(ctx, c, w, d), d.Close())
}

func (s *Service) run(ctx context.Context, c *Config, w *Backend, d *driver.Driver) error {
	if !c.serves() {
		return d.Run(ctx)
	}
	api, err := newAPI(c, w.agents(), s.Log)
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return api.run(ctx) })
	g.Go(func() error { return d.Run(ctx, api.server.Forgetter()) })
	return g.Wait()
}
