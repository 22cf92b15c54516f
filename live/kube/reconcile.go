package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// The caller holds the lock.
func (w *Backend) reconcile(s *observe.Observation) {
	w.catchUp(s)
	w.table.Labels = s.Labels
	there := make(map[job.ID]bool, len(s.Jobs))
	for i := range s.Jobs {
		f := &s.Jobs[i]
		there[job.ID(f.Parsed.UID)] = !f.Parsed.OptOut // it may come back
		w.takeJob(s, f)
	}
	for _, e := range slices.Clone(w.table.Order) {
		if !there[e.ID] {
			e.Pods, e.Helpers, e.StaleSince = nil, nil, time.Time{}
			w.end(e, scheduler.Cancelled, "its object was deleted")
		}
		w.forget(e)
	}
	for id := range w.table.Over {
		if !there[id] && w.table.ByID[id] == nil {
			delete(w.table.Over, id)
		}
	}
	w.observer.Forget(s)
	for uid := range w.publisher.published {
		if _, shown := s.Versions[uid]; !shown {
			delete(w.publisher.published, uid)
			delete(w.publisher.versions, uid)
		}
	}
	w.members = membersOf(w.table.Order)
	w.latest.observation = s
	w.nodes.Rented.Nodes = execute.Cloned(s.Groups)
	w.takeNodes(s)
}

func (w *Backend) catchUp(s *observe.Observation) {
	for uid, version := range w.writer.Unseen {
		if seen, there := s.Versions[string(uid)]; !there || seen >= version {
			delete(w.writer.Unseen, uid)
		}
	}
	if len(w.writer.Unseen) == 0 {
		w.Events.Wake()
	}
}

// The last submitted jobs lose GPUs where a node has fewer than planned.
func (w *Backend) takeNodes(s *observe.Observation) {
	w.checkTypes(s)
	w.nodes.Review(s)
	w.nodes.ExpectPods()
	nodes, rentals := w.nodes.Rentals(w.nodes.Usable(s))
	c, err := cluster.New(nodes)
	if err != nil {
		w.o.Log.Warn("the nodes are invalid; the previous ones stay in use", "queue", w.o.Queue.Name, "err", err)
		return
	}
	loans := w.nodes.LoanStatus()
	switch {
	case !reflect.DeepEqual(c.Nodes(), w.extent.cluster.Nodes()):
		w.dispossess(c)
		w.extent.cluster = c
	case slices.Equal(rentals, w.nodes.Rented.Published) && execute.SameLoans(loans, w.nodes.Loans.Published):
		return
	}
	w.nodes.Rented.Published, w.nodes.Loans.Published = rentals, loans
	w.Events.Emit(scheduler.NodesChanged{Cluster: w.extent.cluster, Rentals: rentals, Loans: loans})
}

func (w *Backend) checkTypes(s *observe.Observation) {
	strange := func(n *cluster.Node) bool { return !slices.Contains(w.extent.types, n.GPUType) }
	found := false
	for i := range s.Nodes {
		found = found || strange(&s.Nodes[i])
	}
	for i := range s.Lender.Servers {
		found = found || strange(&s.Lender.Servers[i].Node)
	}
	if found && w.Ends() == nil {
		w.End(ErrTypes)
	}
}

func (w *Backend) dispossess(c *cluster.Cluster) {
	planned := make(map[cluster.NodeID]int)
	for _, e := range w.table.Order {
		if !e.Wants() {
			continue
		}
		for _, share := range e.Held.Placement {
			planned[share.Node] += share.GPUs
		}
	}
	for _, e := range slices.Backward(w.table.Order) {
		for _, share := range e.Held.Placement {
			if has := gpus(c, share.Node); e.Wants() && planned[share.Node] > has {
				w.lose(e, fmt.Sprintf("node %s has only %d of the %s planned there", share.Node, has, printable.Count(planned[share.Node], "GPU")))
				for _, s := range e.Held.Placement {
					planned[s.Node] -= s.GPUs
				}
				break
			}
		}
	}
}

func gpus(c *cluster.Cluster, id cluster.NodeID) int {
	if i, there := c.Index(id); there {
		return c.Nodes()[i].Capacity.GPUs
	}
	return 0
}

func (w *jobEvents) takeJob(s *observe.Observation, f *observe.ObservedJob) {
	id := job.ID(f.Parsed.UID)
	e := w.table.ByID[id]
	if e == nil {
		if e = w.enter(s, f); e == nil {
			return
		}
	}
	if f.Parsed.OptOut {
		e.Pods, e.Helpers, e.StaleSince = nil, nil, time.Time{}
		w.end(e, scheduler.Cancelled, "it has opted out")
		return
	}
	pods := s.Pods[f.Parsed.UID]
	if w.unseen(f, pods) {
		if !e.Stale() {
			e.StaleSince = time.Now()
		}
		return
	}
	e.StaleSince, e.Types, e.Parts, e.Nowhere = time.Time{}, f.Types, f.Parts, f.Nowhere
	e.Object, e.Parsed, e.Pods, e.Helpers = f.Object, f.Parsed, pods, s.Helpers[f.Parsed.UID]
	if e.Ending.IsZero() && e.Done() > 0 {
		e.Ending = time.Now()
	}
	if e.Late != nil && f.Object.Meta().GetAnnotations()[v1alpha1.Epoch] == strconv.FormatInt(w.table.Plan.Spec.Epoch, 10) {
		e.Late = nil
	}
	switch {
	case e.Ended():
	case f.Parsed.Ended != nil:
		w.end(e, f.Parsed.Ended.Outcome, f.Parsed.Ended.Detail)
	default:
		if err := e.WholeWorkers(&e.Held); err != nil { // its workers' requests have changed since the plan
			w.lose(e, err.Error())
		}
		switch {
		case e.Parsed.OnHold:
			w.lose(e, "somebody suspended it")
		case e.Parsed.Kind == "Job" && e.Parsed.Workers < 1:
			w.lose(e, "its parallelism is 0")
		}
		w.describe(e)
		w.watch(e)
	}
}

func (w *jobEvents) unseen(f *observe.ObservedJob, pods []*corev1.Pod) bool {
	if w.writer.Unseen[types.UID(f.Parsed.UID)] > 0 {
		return true
	}
	return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return w.writer.Unseen[p.UID] > 0 })
}

func (w *jobEvents) enter(s *observe.Observation, f *observe.ObservedJob) *jobstate.Job {
	id := job.ID(f.Parsed.UID)
	if !s.Ours[f.Parsed.UID] {
		return nil
	}
	e := &jobstate.Job{Entry: driver.Entry{ID: id}, Adapter: f.Adapter, Object: f.Object, Parsed: f.Parsed, Types: f.Types, Parts: f.Parts, Nowhere: f.Nowhere, Spec: w.spec(f.Parsed), Held: jobstate.Grant{Generation: f.Parsed.Generation}}
	e.Since = time.Now()
	e.Begun, e.CompleteAt = e.Since, e.Since // starting pods get their full time
	w.table.Add(e)
	if old, known := w.past(s, f); known {
		delete(w.table.Past, id)
		old.Restore(e)
		e.Spec = w.bounded(e.Agent.Described(e.Spec, e))
		if e.Parsed.Spec == nil || w.beyond(e.Spec) { // invalid while it runs: it keeps its GPUs
			e.Spec = driver.Rigid(e.Spec, e.Held.GPUs)
		}
		if e.Node() != "" && !e.Started() {
			e.Late = e.Held.Placement
		}
		w.Events.Emit(scheduler.Restored{Spec: e.Spec, Status: e.Status, Batch: e.Held.Batch, Reports: slices.Clone(e.Reports)})
		return e
	}
	e.Spec = w.located(e, e.Spec, false)
	w.Events.Emit(scheduler.Submitted{Spec: e.Spec})
	return e
}

func (w *jobEvents) past(s *observe.Observation, f *observe.ObservedJob) (jobstate.Past, bool) {
	old, known := w.table.Past[job.ID(f.Parsed.UID)]
	if known && old.Allocation.Generation >= f.Parsed.Generation {
		return old, true
	}
	now, runs := jobstate.Adopted(f.Parsed, s.Pods[f.Parsed.UID], s.TypeOf)
	if !runs {
		return old, known
	}
	w.o.Log.Warn("adopted a running job that is not in the Plan", "queue", w.o.Queue.Name, "job", f.Parsed.Namespace+"/"+f.Parsed.Name, "gpus", now.Allocation.GPUs)
	return now.With(old), true
}

func (w *Backend) settle() {
	for id := range w.nodes.Loans.Back {
		if _, planned := slices.BinarySearchFunc(w.table.Plan.Spec.Loans, string(id), execute.NameOf); !planned {
			delete(w.nodes.Loans.Back, id)
		}
	}
	w.takeNodes(w.latest.observation)
}
