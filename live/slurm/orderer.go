package slurm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Slurm reads a Slurm cluster and sends commands to it.
type Slurm interface {
	commands
	reader
}

// Recommend returns what the scheduler would do with each job that has asked to be managed, and the observed state.
func Recommend(ctx context.Context, s Slurm, c *Config) ([]Advice, *Observation, error) {
	o, err := lookAt(ctx, s, c.bounds())
	if err != nil {
		return nil, nil, err
	}
	all, err := advise(ctx, o, c)
	return all, o, err
}

// An Orderer is the scheduler in mode order, in which it only changes the order of waiting jobs.
type Orderer struct {
	slurm  Slurm
	writer *Writer
	read   func() (*Config, error) // called in every round
	log    *slog.Logger
	now    Config // last valid configuration
	epoch  int64
	idle   bool
	said   string
}

func newOrderer(s Slurm, read func() (*Config, error), log *slog.Logger) (*Orderer, error) {
	c, err := read()
	if err != nil {
		return nil, err
	}
	w := &Writer{Slurm: s, Log: log, PerMinute: c.Commands, Dry: c.Dry}
	return &Orderer{slurm: s, writer: w, read: read, log: log, now: *c, epoch: time.Now().UnixNano()}, nil
}

// Run repeats rounds until ctx is done or another scheduler takes over, and returns the reason. At the end it undoes
// its changes, unless another scheduler has taken over.
func (r *Orderer) Run(ctx context.Context) error {
	tick := time.NewTicker(r.now.Round)
	defer tick.Stop()
	for {
		err := r.Round(ctx)
		if errors.Is(err, errOvertaken) {
			return err
		}
		r.report(err)
		select {
		case <-ctx.Done():
			if err := r.release(ctx); err != nil {
				return fmt.Errorf("could not undo all changes: %w", err)
			}
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (r *Orderer) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != r.said && text != "" {
		r.log.Warn("this round failed; nothing is changed", "err", text)
	}
	r.said = text
}

// Round observes Slurm, plans and sends commands once. In mode Off it undoes earlier commands. It returns ErrOvertaken,
// wrapped, if another scheduler has started since.
func (r *Orderer) Round(ctx context.Context) error {
	mode, why := r.reload()
	if mode == off && r.idle {
		return nil
	}
	advice, o, err := Recommend(ctx, r.slurm, &r.now)
	if o == nil {
		return err
	}
	if o.Epoch > r.epoch {
		return fmt.Errorf("partition %s: %w", r.now.Partition, errOvertaken)
	}
	r.writer.Forget(func(id client.ID) bool {
		return slices.ContainsFunc(o.Jobs, func(j Job) bool { return j.ID == id })
	})
	if mode == off {
		steps := undoSteps(o)
		r.log.Info("the scheduler is off", "why", why, "commands to undo", len(steps))
		r.idle = len(steps) == 0
		return r.carry(ctx, steps)
	}
	if r.idle = false; err != nil {
		return err
	}
	steps, bounded := orderSteps(o, line(advice), r.now.Nice, r.epoch)
	if len(bounded) > 0 {
		r.log.Info("the limit of nice values keeps jobs from their places", "jobs", len(bounded), "nice", r.now.Nice)
	}
	return r.carry(ctx, steps)
}

func (r *Orderer) reload() (mode, string) {
	c, err := r.read()
	if err != nil {
		r.log.Warn("cannot read the configuration; the last one stays in force", "err", err)
		return r.now.mode()
	}
	r.now.Mode, r.now.Accounts, r.now.Nice, r.now.Stop = c.Mode, c.Accounts, c.Nice, c.Stop
	r.writer.PerMinute, r.writer.Dry = c.Commands, c.Dry
	return r.now.mode()
}

func line(all []Advice) []client.ID {
	first := slices.DeleteFunc(slices.Clone(all), func(a Advice) bool { return a.Place == 0 })
	slices.SortFunc(first, func(a, b Advice) int { return a.Place - b.Place })
	ids := make([]client.ID, len(first))
	for i := range first {
		ids[i] = first[i].Job.ID
	}
	return ids
}

func (r *Orderer) carry(ctx context.Context, steps []step) error {
	for i := range steps {
		err := r.writer.Do(ctx, &steps[i])
		switch {
		case err == nil || errors.Is(err, errRefused):
		case errors.Is(err, errBusy):
			return nil
		default:
			return err
		}
	}
	return nil
}

const leave = 30 * time.Second

func (r *Orderer) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leave)
	defer cancel()
	_, err := ReleasePartition(ctx, r.slurm, &r.now, r.log)
	return err
}

// ReleasePartition undoes the changes of any scheduler to jobs of the partition, and returns the number of commands.
func ReleasePartition(ctx context.Context, s Slurm, c *Config, log *slog.Logger) (int, error) {
	o, err := lookAt(ctx, s, c.bounds())
	if err != nil {
		return 0, err
	}
	steps := undoSteps(o)
	w := &Writer{Slurm: s, Log: log, PerMinute: len(steps), Dry: c.Dry}
	var errs []error
	for i := range steps {
		if err := w.Do(ctx, &steps[i]); err != nil {
			errs = append(errs, fmt.Errorf("job %s: %w", steps[i].Job, err))
		}
	}
	return len(steps), errors.Join(errs...)
}
