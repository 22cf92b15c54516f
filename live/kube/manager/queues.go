package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
)

type running struct {
	of      string // of its Queue and ClusterPolicy
	stop    context.CancelFunc
	done    chan struct{}
	backend *kube.Backend
	driver  *driver.Driver
	ended   error // why this process cannot serve it any more; valid after done is closed
}

const resync = 10 * time.Second

func (l *leader) Start(ctx context.Context) error {
	if err := l.certify(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.serveAgents(ctx) })
	g.Go(func() error { return l.serveQueues(ctx) })
	g.Go(func() error { return l.serveQuestions(ctx) })
	return g.Wait()
}

func (l *leader) serveQueues(ctx context.Context) error {
	woken, err := l.watch(ctx)
	if err != nil {
		return err
	}
	defer l.stopAll()
	tick := time.NewTicker(resync)
	defer tick.Stop()
	for {
		if err := l.reconcile(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-tick.C:
		}
	}
}

func (l *leader) reconcile(ctx context.Context) error {
	var queues v1alpha1.QueueList
	if err := l.manager.GetClient().List(ctx, &queues); err != nil {
		return fmt.Errorf("queues: %w", err)
	}
	slices.SortFunc(queues.Items, func(a, b v1alpha1.Queue) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	common, err := l.common(ctx)
	if err != nil {
		return err
	}
	wanted := make(map[string]string)
	var served []*v1alpha1.Queue
	var stopped []func()
	for i := range queues.Items {
		q := &queues.Items[i]
		reason, message := l.active(ctx, q, common, served)
		l.logRefused(q.Name, reason, message)
		if reason != serving {
			stopped = append(stopped, func() { l.condition(ctx, q, reason, message) })
			continue
		}
		l.condition(ctx, q, reason, message)
		served = append(served, q)
		wanted[q.Name] = fmt.Sprintf("%s %d %d", q.UID, q.Generation, common.Generation)
	}
	l.stopBut(wanted)
	for _, tell := range stopped { // after the stop: the status Paused promises that nothing more is written
		tell()
	}
	l.publish(ctx, served)
	for _, q := range served {
		if err := l.start(ctx, q, common, wanted[q.Name]); err != nil {
			return err
		}
	}
	return nil
}

func (l *leader) logRefused(queue, reason, message string) {
	if reason != forbidden {
		delete(l.refused, queue)
		return
	}
	if l.refused[queue] != message {
		l.log.Warn("a queue is not served", "queue", queue, "reason", reason, "message", message)
	}
	if l.refused == nil {
		l.refused = make(map[string]string)
	}
	l.refused[queue] = message
}

func (l *leader) common(ctx context.Context) (*v1alpha1.ClusterPolicy, error) {
	c := &v1alpha1.ClusterPolicy{}
	err := l.manager.GetClient().Get(ctx, client.ObjectKey{Name: "default"}, c)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cluster policy: %w", err)
	}
	if err == nil {
		l.accept(ctx, c)
	}
	c.Spec.GPUResource = cmp.Or(c.Spec.GPUResource, "nvidia.com/gpu")
	if len(c.Spec.GPUTypeLabels) == 0 {
		c.Spec.GPUTypeLabels = []string{"nvidia.com/gpu.product"}
	}
	return c, nil
}

func (l *leader) stopBut(wanted map[string]string) {
	l.mu.Lock()
	ended := make(map[string]*running)
	for name, r := range l.running {
		if wanted[name] != r.of {
			ended[name] = r
			delete(l.running, name)
		}
	}
	l.mu.Unlock()
	for name, r := range ended {
		r.stop()
		<-r.done
		l.metrics.Forget(name)
	}
}

func (l *leader) stopAll() { l.stopBut(nil) }

func (l *leader) start(ctx context.Context, q *v1alpha1.Queue, common *v1alpha1.ClusterPolicy, of string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.running[q.Name]; r != nil {
		return r.err()
	}
	ctx, stop := context.WithCancel(ctx)
	r := &running{of: of, stop: stop, done: make(chan struct{})}
	l.running[q.Name] = r
	c := &queueController{l: l, q: q.DeepCopy(), common: common, r: r}
	go func() {
		defer close(r.done)
		r.ended = c.serve(ctx)
	}()
	return nil
}

func (r *running) err() error {
	select {
	case <-r.done:
		return r.ended
	default:
		return nil
	}
}

func final(err error) bool {
	return errors.Is(err, planstore.ErrFenced) || errors.Is(err, observe.ErrWatches)
}
