package slurm

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

var quiet = slog.New(slog.DiscardHandler)

// options are those of a Backend on a Slurm in memory.
func options(s *slurmtest.Slurm) backendOptions {
	o := defaultOptions()
	o.Bounds, o.Slurm, o.Log, o.Poll = Bounds{Partition: "gpu"}, s, quiet, time.Second
	o.Writer = &Writer{Slurm: s, PerMinute: 1000, Log: quiet}
	return o
}

func open(t testing.TB, s *slurmtest.Slurm) *Backend {
	t.Helper()
	w, err := openBackend(context.Background(), options(s))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func twoNodes() *slurmtest.Slurm {
	return slurmtest.New(slurmtest.Node("n1", "a100", 4), slurmtest.Node("n2", "a100", 4))
}

// stepped is a Backend whose executor acts while it waits for what is next.
type stepped struct{ *Backend }

// Next implements scheduler.Backend.
func (s *stepped) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return driver.Wait(ctx, nil, func() (scheduler.Event, time.Duration, error) {
		if err := s.pass(ctx); err != nil {
			return nil, 0, err
		}
		ev, wait, err := s.Take(deadline)
		return ev, min(wait, s.o.Poll), err
	})
}

// A Slurm is a backend like any other.
func TestConformance(t *testing.T) {
	const most = time.Minute // however busy the machine is
	schedulertest.Run(t, func(t testing.TB) scheduler.Backend {
		s := twoNodes()
		for i, c := range []string{"oxgang:elastic;min=1;max=4", "oxgang:elastic;min=2;max=8", "oxgang:elastic;min=4;max=4"} {
			s.Submit(slurmtest.Ask{Comment: c, Work: float64(i), Begin: time.Hour})
		}
		t.Cleanup(func() {
			if err := s.Wrong(); err != nil {
				t.Error(err)
			}
		})
		w := open(t, s)
		if err := w.pass(t.Context()); err != nil { // it holds them
			t.Fatal(err)
		}
		if err := w.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Drain()
		return &stepped{w}
	}, func(ctx context.Context, b scheduler.Backend) error {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		c, err := cluster.New([]cluster.Node{
			{ID: "n1", GPUType: "a100", Capacity: cluster.Resources{GPUs: 4}}, {ID: "n2", GPUType: "a100", Capacity: cluster.Resources{GPUs: 4}},
		})
		if err != nil {
			return err
		}
		return schedulertest.DriveEvery(2*time.Second, c)(ctx, b)
	})
}

func TestNext_waits_for_background_work(t *testing.T) {
	w := open(t, twoNodes())
	w.Drain()
	schedulertest.RunDrained(t, w)
}
