package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// A running queue is one that is being served.
type running struct {
	of    string // which versions of the Queue and of the ClusterPolicy
	stop  context.CancelFunc
	done  chan struct{}
	world *kube.World // nil: it has none yet
	ended error       // why it can be served by this process no more; nil: it is
}

// again is how often the leader looks at the queues without news.
const again = 10 * time.Second

// Start implements manager.Runnable: it serves each Queue as it is now, and agents, until ctx
// is done.
func (l *leader) Start(ctx context.Context) error {
	if err := l.certify(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.serveAgents(ctx) })
	g.Go(func() error { return l.serveQueues(ctx) })
	return g.Wait()
}

// serveQueues serves each Queue as it is now until ctx is done.
func (l *leader) serveQueues(ctx context.Context) error {
	woken, err := l.watch(ctx)
	if err != nil {
		return err
	}
	defer l.stopAll()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		if err := l.supervise(ctx); err != nil {
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

// watch begins to watch everything that matters. The channel gets an item when Queues or the
// ClusterPolicy change; worlds hear of everything else.
func (l *leader) watch(ctx context.Context) (<-chan struct{}, error) {
	woken := make(chan struct{}, 1)
	for _, o := range []client.Object{&v1alpha1.Queue{}, &v1alpha1.ClusterPolicy{}} {
		if err := l.hear(ctx, o, func() { eventqueue.Wake(woken) }); err != nil {
			return nil, err
		}
	}
	objects := []client.Object{&corev1.Node{}, &corev1.Pod{}}
	for _, k := range jobadapter.Kinds {
		_, err := l.manager.GetRESTMapper().RESTMapping(k.GVK().GroupKind(), k.GVK().Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.GVK().Kind, err)
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(k.GVK())
		objects = append(objects, o)
		l.known = append(l.known, k.GVK())
	}
	for _, o := range objects {
		if err := l.hear(ctx, o, l.notifyWorlds); err != nil {
			return nil, err
		}
	}
	l.awaits("")
	return woken, nil
}

// comeUp is how long a watch is given until it shows what is there.
const comeUp = 2 * time.Minute

// hear calls news whenever an object of the kind of o changes. It returns when the watch shows
// what is there, and an error if objects may not be listed or that takes longer than comeUp:
// a process that knows nothing is to make room for one that does.
func (l *leader) hear(ctx context.Context, o client.Object, news func()) error {
	gvk, err := l.manager.GetClient().GroupVersionKindFor(o)
	if err != nil {
		return err
	}
	l.awaits(gvk.Kind)
	ctx, done := context.WithTimeoutCause(ctx, comeUp, fmt.Errorf("not all objects were seen in %v", comeUp))
	defer done()
	some := metav1.PartialObjectMetadataList{}
	some.SetGroupVersionKind(gvk)
	if err := l.manager.GetAPIReader().List(ctx, &some, client.Limit(1)); err != nil { // a watch would only try again
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	i, err := l.manager.GetCache().GetInformer(ctx, o)
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, errors.Join(err, context.Cause(ctx)))
	}
	_, err = i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { news() }, UpdateFunc: func(_, _ any) { news() }, DeleteFunc: func(any) { news() },
	})
	return err
}

// notifyWorlds wakes all worlds: something in the cluster has changed.
func (l *leader) notifyWorlds() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.running {
		if r.world != nil {
			r.world.News()
		}
	}
}

// supervise starts and stops what serves queues, as they are now.
func (l *leader) supervise(ctx context.Context) error {
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
	for i := range queues.Items {
		q := &queues.Items[i]
		reason, message := l.active(ctx, q, common, served)
		l.condition(ctx, q, reason, message)
		if reason == Serving {
			served = append(served, q)
			wanted[q.Name] = fmt.Sprintf("%s %d %d", q.UID, q.Generation, common.Generation)
		}
	}
	l.stopBut(wanted)
	l.publish(ctx, served)
	for _, q := range served {
		if err := l.start(ctx, q, common, wanted[q.Name]); err != nil {
			return err
		}
	}
	return nil
}

// common returns what all queues have in common.
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

// accept says of the ClusterPolicy that it holds.
func (l *leader) accept(ctx context.Context, c *v1alpha1.ClusterPolicy) {
	next := c.DeepCopy()
	next.Status.ObservedGeneration = c.Generation
	meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{
		Type: v1alpha1.PolicyAccepted, Status: metav1.ConditionTrue, Reason: "Holds", Message: "it holds for all queues", ObservedGeneration: c.Generation,
	})
	if equality.Semantic.DeepEqual(next.Status, c.Status) {
		return
	}
	if err := l.manager.GetClient().Status().Patch(ctx, next, client.MergeFrom(c)); err != nil {
		l.log.Warn("the status of the ClusterPolicy was not written", "err", err)
	}
}

// Why a queue is served or not: reasons of its condition Active.
const (
	Serving   = "Serving"
	TurnedOff = "Off"
	Paused    = "Paused"
	Overlaps  = "Overlaps"  // an older queue selects nodes of it
	Invalid   = "Invalid"   // its policy or settings are not known
	Forbidden = "Forbidden" // the scheduler lacks a right that it needs
)

// active returns whether a queue is to be served, and why not.
func (l *leader) active(ctx context.Context, q *v1alpha1.Queue, common *v1alpha1.ClusterPolicy, older []*v1alpha1.Queue) (reason, message string) {
	if q.Spec.Mode == v1alpha1.Off {
		return TurnedOff, "spec.mode is Off"
	}
	if common.Spec.Paused {
		return Paused, "spec.paused of the ClusterPolicy stops all queues"
	}
	if why := rents(q, older); why != "" {
		return Invalid, why
	}
	if _, _, err := driver.NewPolicy(q.Spec.Policy.Name, settings(q)); err != nil {
		return Invalid, err.Error()
	}
	if !l.mayLend(ctx, q) {
		return Forbidden, "spec.loans needs the right to patch nodes, which the scheduler has not: install it with rbac.loans, or take spec.loans away"
	}
	var nodes corev1.NodeList
	if err := l.manager.GetClient().List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return Invalid, err.Error()
	}
	for i := range nodes.Items {
		for _, o := range older {
			if n := &nodes.Items[i]; selects(q, n) && selects(o, n) {
				return Overlaps, fmt.Sprintf("node %s is one of queue %s, too, which is older", n.Name, o.Name)
			}
		}
	}
	return Serving, "plans are made every " + round(q).String()
}

// selects reports whether a node is a queue's own, or its lender's.
func selects(q *v1alpha1.Queue, n *corev1.Node) bool {
	return inventory.Selects(q.Spec.NodeSelector, n) || q.Spec.Loans != nil && inventory.Selects(q.Spec.Loans.NodeSelector, n)
}

// condition says of a queue whether it is served, and how many jobs and GPUs it has, if that
// is news. A failure is made good at the next look; of a queue that is only observed nothing
// is written.
func (l *leader) condition(ctx context.Context, q *v1alpha1.Queue, reason, message string) {
	if q.Spec.Mode == v1alpha1.Observe {
		return
	}
	next := q.DeepCopy()
	c := metav1.Condition{Type: v1alpha1.QueueActive, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: q.Generation}
	if reason == Serving {
		c.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&next.Status.Conditions, c)
	next.Status.ObservedGeneration = q.Generation
	l.count(&next.Status, q.Name)
	if equality.Semantic.DeepEqual(next.Status, q.Status) {
		return
	}
	if err := l.manager.GetClient().Status().Patch(ctx, next, client.MergeFrom(q)); err != nil {
		l.log.Warn("the status of a queue was not written", "queue", q.Name, "err", err)
	}
}

// count sets the numbers of a queue's status.
func (l *leader) count(s *v1alpha1.QueueStatus, queue string) {
	l.mu.Lock()
	r := l.running[queue]
	var w *kube.World
	if r != nil {
		w = r.world
	}
	l.mu.Unlock()
	if w == nil {
		return
	}
	running, waiting, gpus, used := w.Counts()
	s.Running, s.Waiting, s.GPUs, s.GPUsUsed = int32(running), int32(waiting), int32(gpus), int32(used)
}

// stopBut ends what serves queues that are not wanted, or not as they are served, and forgets
// their metrics.
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

// start serves a queue from now on, if it is not served. It returns an error if this process
// cannot serve it any more.
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

// err returns why a queue is served no more by this process; nil: it is served, or tried to.
func (r *running) err() error {
	select {
	case <-r.done:
		return r.ended
	default:
		return nil
	}
}

// final reports whether an error says that this process is to end: another leader is there, or
// watches, which all queues share, have missed something.
func final(err error) bool { return errors.Is(err, kube.ErrFenced) || errors.Is(err, kube.ErrWatches) }
