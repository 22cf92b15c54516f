package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
)

// Open takes over a queue: it makes its epoch the newest, waits until the watches behind c
// have seen everything that was there then, and returns the world as the Plan has it. Jobs
// that the Plan knows come back as Restored. direct reads from the API server itself, and
// never from a watch.
func Open(ctx context.Context, c client.Client, direct client.Reader, o Options) (*World, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	w := &World{
		o: o, client: c, direct: direct, work: make(chan struct{}, 1), inbox: eventqueue.New(), jobs: map[job.ID]*entry{},
		over: map[job.ID]bool{}, written: map[types.UID]uint64{}, told: map[string]string{}, readings: map[string]reading{}, loans: newLoans(),
	}
	var err error
	if w.plan, err = w.succeed(ctx); err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	w.past = pastOf(w.plan)
	if err := w.catchUpWith(ctx); err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	s, err := w.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.enterNodes(s); err != nil {
		return nil, fmt.Errorf("kube: queue %s: %w", o.Queue.Name, err)
	}
	w.takeIn(s)
	w.dispossess(w.cluster) // of what nodes lost while nobody led
	return w, nil
}

// enterNodes notes the nodes that there are when a world is opened, rented or not, and lent or
// not. Of those that are rented or on loan the scheduler hears by an event.
func (w *World) enterNodes(s *sight) (err error) {
	all := slices.DeleteFunc(slices.Clone(s.nodes), func(n cluster.Node) bool { return n.Tenure != cluster.Owned })
	if w.cluster, err = cluster.New(all); err != nil {
		return err
	}
	for i := range s.lender.Servers {
		all = append(all, s.lender.Servers[i].Node)
	}
	if w.whole, err = cluster.New(append(all, offered(w.groups())...)); err != nil {
		return err
	}
	for _, t := range w.whole.Types() {
		w.types = append(w.types, t.Type)
	}
	return nil
}

// succeed reads the Plan, or makes it, and takes the next epoch; in a mode that writes nothing
// it reads it only.
func (w *World) succeed(ctx context.Context) (*v1alpha1.Plan, error) {
	for {
		p := &v1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: w.o.Queue.Name}}
		err := w.direct.Get(ctx, client.ObjectKeyFromObject(p), p)
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return nil, err
		}
		if !w.o.writes() {
			return p, nil
		}
		p.Spec.Epoch++
		p.Spec.Leader = w.o.Identity
		if missing {
			err = w.client.Create(ctx, p)
		} else {
			err = w.client.Update(ctx, p)
		}
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return p, err
		}
	}
}

// catchUpWith waits until the watches show every pod, node and job that the API server has
// now, as new as it has it, but for what is deleted meanwhile: no watch will show that.
func (w *World) catchUpWith(ctx context.Context) error {
	want, err := w.there(ctx)
	if err != nil {
		return err
	}
	for {
		shown, err := w.await(ctx, want, time.Second)
		if shown || err != nil {
			return err
		}
		left, err := w.there(ctx)
		if err != nil {
			return err
		}
		maps.DeleteFunc(want, func(uid string, _ uint64) bool { return left[uid] == 0 })
	}
}

// await reports whether the watches show all that is wanted within a time.
func (w *World) await(ctx context.Context, want map[string]uint64, within time.Duration) (bool, error) {
	for end := time.Now().Add(within); time.Now().Before(end); {
		s, err := w.look(ctx)
		if err != nil {
			return false, err
		}
		if s.shows(want) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("the watches have not caught up: %w", ctx.Err())
		case <-time.After(lag):
		}
	}
	return false, nil
}

// there returns the version of every pod, node and job that the API server has, by uid.
func (w *World) there(ctx context.Context) (map[string]uint64, error) {
	kinds := []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Node")}
	for _, k := range w.o.Kinds {
		kinds = append(kinds, k.GVK())
	}
	all := make(map[string]uint64)
	for i, k := range kinds {
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(k)
		var of []client.ListOption
		if i > 1 {
			of = append(of, w.named())
		}
		err := w.direct.List(ctx, &list, of...)
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("%s: %w", k.Kind, err)
		}
		for j := range list.Items {
			all[string(list.Items[j].UID)] = version(&list.Items[j])
		}
	}
	return all, nil
}

// shows reports whether every object is seen at least as new as it was.
func (s *sight) shows(want map[string]uint64) bool {
	for uid, version := range want {
		if seen, there := s.fresh[uid]; !there || seen < version {
			return false
		}
	}
	return true
}

// A past is what the leader before left of a job.
type past struct {
	allocation v1alpha1.JobAllocation
	state      v1alpha1.JobState
}

// pastOf returns what a plan says of each job.
func pastOf(p *v1alpha1.Plan) map[job.ID]past {
	all := make(map[job.ID]past, len(p.Spec.Allocations))
	for _, a := range p.Spec.Allocations {
		all[job.ID(a.UID)] = past{allocation: a}
	}
	for _, s := range p.Status.Jobs {
		if old, known := all[job.ID(s.UID)]; known {
			old.state = s
			all[job.ID(s.UID)] = old
		}
	}
	return all
}

// restore makes an entry what the leader before knew of the job.
func (p *past) restore(e *entry) {
	a, s := &p.allocation, &p.state
	e.held = grant{generation: max(a.Generation, e.job.Generation)}
	e.status = job.Status{
		Phase: job.Waiting, Submitted: s.Submitted.Time, Since: s.Since.Time,
		Service: time.Duration(s.ServiceMillis) * time.Millisecond, GPUService: time.Duration(s.GPUServiceMillis) * time.Millisecond,
		Restarts: int(s.Restarts), Progress: float64(s.ProgressMilli) / 1000, Epoch: int(s.Epoch),
	}
	if s.Submitted.IsZero() { // the leader before did not come to saying it
		e.status.Submitted, e.status.Since = e.job.Created, e.job.Created
	}
	if s.Started != nil {
		e.status.FirstStarted = s.Started.Time
	}
	e.failures, e.reports = int(s.Failures), reports(s)
	e.agent.hello = hello(s)
	e.agent.spoke = e.agent.hello != nil
	if a.GPUs == 0 {
		return
	}
	e.held, e.restored = granted(a), true
	e.agent.says(e.agent.hello, e)
	e.status.Phase, e.status.Allocation, e.status.Placement = job.Restoring, e.held.Allocation, e.held.placement
}

// granted returns what a plan gives a job.
func granted(a *v1alpha1.JobAllocation) grant {
	g := grant{generation: a.Generation}
	g.Configuration = cluster.Configuration{Nodes: len(a.Nodes), GPUs: int(a.GPUs), GPUType: cluster.GPUType(a.GPUType)}
	g.CPUs, g.Memory = float64(a.MilliCPUs)/1000, a.MemoryBytes
	for _, n := range a.Nodes {
		part := float64(n.GPUs) / float64(a.GPUs)
		g.placement = append(g.placement, cluster.Share{
			Node:      cluster.NodeID(n.Name),
			Resources: cluster.Resources{GPUs: int(n.GPUs), CPUs: g.CPUs * part, Memory: int64(float64(g.Memory) * part)},
		})
	}
	if a.Batch != nil {
		g.batch = job.BatchSize{Local: int(a.Batch.Local), Accumulation: int(a.Batch.Accumulation)}
	}
	return g
}
