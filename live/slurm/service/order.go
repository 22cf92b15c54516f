package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Slurm is read and given commands.
type Slurm interface {
	slurm.Commands
	Jobs(ctx context.Context) ([]client.Job, error)
	Nodes(ctx context.Context) ([]client.Node, error)
}

// look observes a partition.
func look(ctx context.Context, s Slurm, b *slurm.Bounds) (*slurm.Observation, error) {
	jobs, err := s.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return slurm.Observe(time.Now(), jobs, nodes, b), nil
}

// Recommend returns what would be done with each job that takes part, and what was observed. It writes
// nothing.
func Recommend(ctx context.Context, s Slurm, c *Config) ([]Advice, *slurm.Observation, error) {
	o, err := look(ctx, s, c.bounds())
	if err != nil {
		return nil, nil, err
	}
	all, err := advise(ctx, o, c)
	return all, o, err
}

// An Orderer exchanges the places of waiting jobs, in mode order.
type Orderer struct {
	slurm  Slurm
	writer *slurm.Writer
	read   func() (*Config, error) // called in every round
	log    *slog.Logger
	now    Config // that holds: the last that could be read
	epoch  int64
	idle   bool // nothing of the scheduler is left
	said   string
}

// NewOrderer returns an Orderer that reads its configuration with read in every round. It returns an
// error if that cannot be read now.
func NewOrderer(s Slurm, read func() (*Config, error), log *slog.Logger) (*Orderer, error) {
	c, err := read()
	if err != nil {
		return nil, err
	}
	w := &slurm.Writer{Slurm: s, Log: log, PerMinute: c.Commands, Dry: c.Dry}
	return &Orderer{slurm: s, writer: w, read: read, log: log, now: *c, epoch: time.Now().UnixNano()}, nil
}

// Run has rounds until ctx is done, or another scheduler is found, and returns why it ended. Then it
// undoes what it did, unless that other scheduler has taken it over.
func (r *Orderer) Run(ctx context.Context) error {
	tick := time.NewTicker(r.now.Round)
	defer tick.Stop()
	for {
		err := r.Round(ctx)
		if errors.Is(err, slurm.ErrOvertaken) {
			return err
		}
		r.report(err)
		select {
		case <-ctx.Done():
			if err := r.release(ctx); err != nil {
				return fmt.Errorf("not all could be undone: %w", err)
			}
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// report logs an error that is not the one of the round before.
func (r *Orderer) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != r.said && text != "" {
		r.log.Warn("nothing is done in this round", "err", text)
	}
	r.said = text
}

// Round observes, plans and gives commands once. It returns slurm.ErrOvertaken, wrapped, and does nothing,
// where a later scheduler has written; and an error, having done nothing, where Slurm does not answer
// or the policy cannot plan.
func (r *Orderer) Round(ctx context.Context) error {
	mode, why := r.reload()
	if mode == Off && r.idle {
		return nil
	}
	advice, o, err := Recommend(ctx, r.slurm, &r.now)
	if o == nil {
		return err
	}
	if o.Epoch > r.epoch {
		return fmt.Errorf("partition %s: %w", r.now.Partition, slurm.ErrOvertaken)
	}
	r.writer.Forget(func(id client.ID) bool {
		return slices.ContainsFunc(o.Jobs, func(j slurm.Job) bool { return j.ID == id })
	})
	if mode == Off {
		steps := slurm.Undo(o)
		r.log.Info("the scheduler is off", "why", why, "commands to undo", len(steps))
		r.idle = len(steps) == 0
		return r.carry(ctx, steps)
	}
	if r.idle = false; err != nil {
		return err
	}
	steps, bounded := slurm.OrderSteps(o, line(advice), r.now.Nice, r.epoch)
	if len(bounded) > 0 {
		r.log.Info("the bound of nice values keeps jobs from their places", "jobs", len(bounded), "nice", r.now.Nice)
	}
	return r.carry(ctx, steps)
}

// reload takes over the configuration, and returns the mode that holds and why, if it is not the
// configured one. One that cannot be read changes nothing.
func (r *Orderer) reload() (Mode, string) {
	c, err := r.read()
	if err != nil {
		r.log.Warn("the last configuration holds", "err", err)
		return r.now.mode()
	}
	r.now.Mode, r.now.Accounts, r.now.Nice, r.now.Stop = c.Mode, c.Accounts, c.Nice, c.Stop
	r.writer.PerMinute, r.writer.Dry = c.Commands, c.Dry
	return r.now.mode()
}

// line returns the jobs that wait, in the order in which they should start.
func line(all []Advice) []client.ID {
	first := slices.DeleteFunc(slices.Clone(all), func(a Advice) bool { return a.Place == 0 })
	slices.SortFunc(first, func(a, b Advice) int { return a.Place - b.Place })
	ids := make([]client.ID, len(first))
	for i := range first {
		ids[i] = first[i].Job.ID
	}
	return ids
}

// carry gives commands as long as the limit allows. What Slurm refuses is logged by the writer.
func (r *Orderer) carry(ctx context.Context, steps []slurm.Step) error {
	for i := range steps {
		err := r.writer.Do(ctx, &steps[i])
		switch {
		case err == nil || errors.Is(err, slurm.ErrRefused):
		case errors.Is(err, slurm.ErrBusy):
			return nil
		default:
			return err
		}
	}
	return nil
}

// leave is how long undoing may take when the service ends.
const leave = 30 * time.Second

// release undoes what was done, although ctx is done.
func (r *Orderer) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leave)
	defer cancel()
	_, err := Release(ctx, r.slurm, &r.now, r.log)
	return err
}

// Release undoes what schedulers did to jobs of a partition, and returns the number of commands. It
// returns an error that joins all that Slurm refused.
func Release(ctx context.Context, s Slurm, c *Config, log *slog.Logger) (int, error) {
	o, err := look(ctx, s, c.bounds())
	if err != nil {
		return 0, err
	}
	steps := slurm.Undo(o)
	w := &slurm.Writer{Slurm: s, Log: log, PerMinute: len(steps), Dry: c.Dry}
	var errs []error
	for i := range steps {
		if err := w.Do(ctx, &steps[i]); err != nil {
			errs = append(errs, fmt.Errorf("job %s: %w", steps[i].Job, err))
		}
	}
	return len(steps), errors.Join(errs...)
}
