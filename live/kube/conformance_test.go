package kube

import (
	"context"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

// stepped is a backend whose executor and whose twin act while it waits for what is next.
type stepped struct {
	*Backend
	twin *kubetest.Cluster
}

// Next implements scheduler.Backend.
func (s *stepped) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return driver.Wait(ctx, nil, func() (scheduler.Event, time.Duration, error) {
		if err := s.pass(ctx); err != nil {
			return nil, 0, err
		}
		s.twin.Settle()
		s.twin.Work()
		ev, wait, err := s.Take(deadline)
		return ev, min(wait, observe.Recheck), err
	})
}

// The backend of a cluster is like any other. The nodes that the policy of the suite is told count
// no CPUs and memory: it gives jobs none, and such plans are refused where nodes count them.
func TestConformance(t *testing.T) {
	const most = 5 * time.Minute // however busy the machine is
	schedulertest.Run(t, func(t testing.TB) scheduler.Backend {
		twin := newTwin()
		for _, a := range []kubetest.Ask{{Name: "one", Workers: 1, GPUs: 1, Looks: 30}, {Name: "two", Workers: 2, GPUs: 1, Looks: 80}, {Name: "four", Workers: 1, GPUs: 4, Looks: 1}} {
			twin.Submit(queue, &a)
		}
		t.Cleanup(func() {
			if err := twin.Wrong(); err != nil {
				t.Error(err)
			}
		})
		w := open(t, twin, options(v1alpha1.Resize))
		w.Drain()
		return &stepped{w, twin}
	}, func(ctx context.Context, b scheduler.Backend) error {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		c, err := cluster.New([]cluster.Node{
			{ID: "n0", GPUType: "A100", Capacity: cluster.Resources{GPUs: 4}},
			{ID: "n1", GPUType: "A100", Capacity: cluster.Resources{GPUs: 4}},
		})
		if err != nil {
			return err
		}
		return schedulertest.DriveEvery(2*time.Second, c)(ctx, b)
	})
}

func TestNext_waits_for_background_work(t *testing.T) {
	w := open(t, newTwin(), options(v1alpha1.Resize))
	w.Drain()
	schedulertest.RunDrained(t, w)
}
