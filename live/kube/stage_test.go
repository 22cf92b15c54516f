package kube

import (
	"context"
	"errors"
	"sync"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
)

// A stage is a twin of a cluster with a backend of it that executes, and a scheduler that runs,
// in a bubble. A leader that ends is followed by another.
type stage struct {
	t       teller
	twin    *kubetest.Cluster
	o       jobstate.Options
	policy  string
	backend *Backend
	stop    context.CancelFunc
	gone    sync.WaitGroup
	watch   []scheduler.Observer // besides the backend
}

// A teller hears what goes on.
type teller interface{ Log(...any) }

// newStage starts a leader.
func newStage(t teller, twin *kubetest.Cluster, o jobstate.Options, policyName string) *stage {
	s := &stage{t: t, twin: twin, o: o, policy: policyName}
	s.lead()
	return s
}

// lead starts a leader that runs until it is stopped.
func (s *stage) lead() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.gone.Go(func() {
		for ctx.Err() == nil {
			if err := s.serve(ctx); ctx.Err() == nil {
				s.t.Log("a leader ends: ", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
}

// serve leads once.
func (s *stage) serve(ctx context.Context) error {
	w, err := Open(ctx, s.twin.Client(), s.twin.Direct(), s.o)
	if err != nil {
		return err
	}
	sched, err := planner(w, s.policy, 10*time.Second)
	if err != nil {
		return err
	}
	s.backend = w
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error)
	go func() {
		defer cancel()
		done <- w.Execute(ctx)
	}()
	err = sched.Run(ctx, w, append([]scheduler.Observer{w}, s.watch...)...)
	cancel()
	return errors.Join(err, <-done)
}

func planner(w *Backend, name string, round time.Duration) (*scheduler.Scheduler, error) {
	p, placer, err := decides(name)
	if err != nil {
		return nil, err
	}
	o := scheduler.DefaultOptions()
	o.Round, o.Profile, o.Estimate.Share = round, false, true
	sched, err := scheduler.New(p, placer, w.Cluster(), o)
	if err != nil {
		return nil, err
	}
	w.Follow(round, func(now time.Time) []*policy.Job { return sched.Snapshot(now).Jobs })
	return sched, nil
}

func decides(name string) (policy.Policy, placement.Placer, error) {
	entry, err := registry.Find(name)
	if err != nil {
		return nil, nil, err
	}
	p, err := entry.New(nil)
	if err != nil {
		return nil, nil, err
	}
	placer, err := entry.NewPlacer("", registry.PlacerOptions{})
	return p, placer, err
}

// crash ends the leader, whatever it is at, and starts another.
func (s *stage) crash() {
	s.end()
	s.lead()
}

func (s *stage) end() {
	s.stop()
	s.gone.Wait()
}

// live lets time pass, and the twin work once a second.
func (s *stage) live(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second)
		synctest.Wait()
		s.twin.Settle()
		s.twin.Work()
	}
}
