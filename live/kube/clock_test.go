package kube

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A rounds observer counts rounds.
type rounds struct{ n atomic.Int64 }

func (*rounds) Event(time.Time, scheduler.Event)                           {}
func (r *rounds) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) { r.n.Add(1) }

// leap sets the clock of the machine on which a leader runs, and returns how many rounds of ten seconds there
// were in the two minutes since, and after how many a job ran that was submitted then; -1: it does not.
func leap(t *testing.T, by time.Duration) (made, until int) {
	var moved atomic.Int64
	newQueue = func() *driver.Queue {
		began := time.Now()
		return driver.NewQueueWithClock(driver.Clock{
			Wall:    func() time.Time { return time.Now().Add(time.Duration(moved.Load())) },
			Elapsed: func() time.Duration { return time.Since(began) },
		})
	}
	defer func() { newQueue = driver.NewQueue }()
	twin, count := newTwin(), &rounds{}
	twin.Submit(queue, &kubetest.Ask{Name: "first", Workers: 2, GPUs: 2})
	s := &stage{t: t, twin: twin, o: options(v1alpha1.Resize), policy: "fifo", watch: []scheduler.Observer{count}}
	s.lead()
	defer s.end()
	s.live(35 * time.Second)
	moved.Store(int64(by))
	before := count.n.Load()
	twin.Submit(queue, &kubetest.Ask{Name: "second", Workers: 2, GPUs: 2})
	until = -1
	for range 120 {
		if s.live(time.Second); until < 0 && places(twin, "second") != "" {
			until = int(count.n.Load() - before)
		}
	}
	return int(count.n.Load() - before), until
}

// A clock that is set neither stops the rounds of a queue nor makes more of them, and a job that comes
// then runs after two at most.
func TestClock_is_set(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, -time.Hour, 0, time.Hour, 24 * time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if made, until := leap(t, by); made < 11 || made > 14 || until < 0 || until > 2 {
					t.Errorf("%d rounds in two minutes, want 12 and at most two more; the job that came ran after %d, want at most 2", made, until)
				}
			})
		})
	}
}
