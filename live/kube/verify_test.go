package kube

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/observe"
)

// holdThen does something that watches do not show.
func holdThen(twin *kubetest.Cluster, do func()) {
	twin.Hold()
	time.Sleep(2 * time.Second) // until it has been looked
	do()
}

// What watches have missed ends the process, whatever it was; what they show late does not,
// nor does anything that happens meanwhile, or an API server that does not answer.
func TestVerify(t *testing.T) {
	down := false
	for _, c := range []struct {
		name    string
		happens func(*kubetest.Cluster) // every second
		missed  bool
	}{
		{name: "nothing"},
		{name: "a job that is gone", missed: true, happens: func(twin *kubetest.Cluster) {
			if twin.Job("a") != nil {
				holdThen(twin, func() { twin.Delete("a") })
			}
		}},
		{name: "a job that has come", missed: true, happens: func(twin *kubetest.Cluster) {
			if twin.Job("b") == nil {
				holdThen(twin, func() { twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 1}) })
			}
		}},
		{name: "a node that is not ready", missed: true, happens: func(twin *kubetest.Cluster) {
			if !down {
				holdThen(twin, func() { twin.SetReady("n0", false) })
			}
			down = true
		}},
		{name: "what is shown late", happens: func(twin *kubetest.Cluster) {
			holdThen(twin, func() {
				twin.Delete("c")
				twin.Submit(queue, &kubetest.Ask{Name: "c", Workers: 1, GPUs: 1})
			})
			time.Sleep(observe.Late / 3)
			twin.Release()
			time.Sleep(2 * time.Second)
		}},
		{name: "jobs that come and go at once", happens: func(twin *kubetest.Cluster) {
			twin.Submit(queue, &kubetest.Ask{Name: "d", Workers: 1, GPUs: 1})
			time.Sleep(700 * time.Millisecond)
			twin.Delete("d")
		}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			w, _ := one(t, twin, v1alpha1.Resize)
			ctx, cancel := context.WithTimeout(t.Context(), 2*(observe.Relist+observe.Late))
			var gone sync.WaitGroup
			defer gone.Wait()
			defer cancel()
			gone.Go(func() {
				for ctx.Err() == nil {
					if c.happens != nil {
						c.happens(twin)
					}
					observe.Wait(ctx, time.Second)
				}
			})
			began := time.Now()
			err := w.Execute(ctx)
			if took := time.Since(began); errors.Is(err, observe.ErrWatches) != c.missed || c.missed && took > observe.Relist+observe.Late+10*time.Second {
				t.Errorf("%v after %v, want that watches missed something within a period: %v", err, took, c.missed)
			}
		})
	}
}
