package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/nodepool"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/scheduler"
)

// takeIn turns what the watches show into events. The caller holds the lock.
func (w *World) takeIn(s *observe.Observation) {
	w.shown, w.shownAt = s.Versions, time.Now()
	w.catchUp(s)
	there := make(map[job.ID]bool, len(s.Jobs))
	for i := range s.Jobs {
		f := &s.Jobs[i]
		there[job.ID(f.Parsed.UID)] = true
		w.takeJob(s, f)
	}
	for _, e := range slices.Clone(w.table.Order) {
		if !there[e.ID()] {
			e.Pods, e.Helpers, e.Stale = nil, nil, false
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
	for uid := range w.told {
		if _, shown := s.Versions[uid]; !shown {
			delete(w.told, uid)
		}
	}
	w.enrol()
	w.sight = s
	w.nodes.Rented.Nodes = nodepool.Cloned(s.Groups)
	w.takeNodes(s)
}

// catchUp forgets those writes that the watches have shown.
func (w *World) catchUp(s *observe.Observation) {
	for uid, version := range w.writer.Unseen {
		if seen, there := s.Versions[string(uid)]; !there || seen >= version {
			delete(w.writer.Unseen, uid)
		}
	}
	if len(w.writer.Unseen) == 0 {
		w.inbox.Wake()
	}
}

// takeJob takes in how a job stands.
func (w *World) takeJob(s *observe.Observation, f *observe.ObservedJob) {
	id := job.ID(f.Parsed.UID)
	e := w.table.ByID[id]
	if e == nil {
		if e = w.enter(s, f); e == nil {
			return
		}
	}
	if f.Parsed.OptOut { // what runs of it is somebody else's from now on
		e.Pods, e.Helpers, e.Stale = nil, nil, false
		w.end(e, scheduler.Cancelled, "it has opted out")
		return
	}
	pods := s.Pods[f.Parsed.UID]
	if e.Stale = w.unseen(f, pods); e.Stale {
		return
	}
	e.Object, e.Parsed, e.Pods, e.Helpers = f.Object, f.Parsed, pods, s.Helpers[f.Parsed.UID]
	if e.Ending.IsZero() && e.Done() > 0 {
		e.Ending = time.Now()
	}
	if e.Late != nil && f.Object.GetAnnotations()[v1alpha1.Epoch] == strconv.FormatInt(w.table.Plan.Spec.Epoch, 10) {
		e.Late = nil
	}
	switch {
	case e.Ended:
	case f.Parsed.Ended != nil:
		w.end(e, f.Parsed.Ended.Outcome, f.Parsed.Ended.Detail)
	default:
		if err := e.WholeWorkers(&e.Held); err != nil { // its workers ask for other GPUs than when it was planned
			w.lose(e, err.Error())
		}
		w.describe(e)
		w.watch(e)
	}
}

// unseen reports whether something was written of a job that the watches do not show yet.
func (w *World) unseen(f *observe.ObservedJob, pods []*corev1.Pod) bool {
	if w.writer.Unseen[types.UID(f.Parsed.UID)] > 0 {
		return true
	}
	return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return w.writer.Unseen[p.UID] > 0 })
}

// enter takes in a job that was not known; nil: it is not to be.
func (w *World) enter(s *observe.Observation, f *observe.ObservedJob) *jobstate.Job {
	id := job.ID(f.Parsed.UID)
	if w.table.Over[id] || f.Parsed.Ended != nil || !s.Ours[f.Parsed.UID] {
		return nil
	}
	e := &jobstate.Job{Adapter: f.Adapter, Object: f.Object, Parsed: f.Parsed, Spec: w.spec(f.Parsed), Held: jobstate.Grant{Generation: f.Parsed.Generation}}
	e.Since = time.Now()
	e.Begun, e.CompleteAt = e.Since, e.Since // pods that are starting have their time from now on
	w.table.ByID[id] = e
	w.table.Order = append(w.table.Order, e)
	if old, known := w.table.Past[id]; known {
		delete(w.table.Past, id)
		old.Restore(e)
		e.Spec = e.Agent.Described(e.Spec, e)
		if e.Node() != "" && !e.Started() {
			e.Late = e.Held.Placement
		}
		w.inbox.Emit(scheduler.Restored{Spec: e.Spec, Status: e.Status, Batch: e.Held.Batch, Reports: slices.Clone(e.Reports)})
		return e
	}
	w.inbox.Emit(scheduler.Submitted{Spec: e.Spec})
	return e
}

// spec returns a job as the scheduler is to see it. One of which nothing more is changed once
// it has started keeps what it holds.
func (w *World) spec(j *jobadapter.Job) *job.Spec {
	spec := *j.Spec
	spec.Queue = w.o.Queue.Name
	if w.o.Mode() == v1alpha1.Admit {
		spec.NonPreemptive = true
	}
	return &spec
}

// describe tells the scheduler what a job is, if its object says something new. What its
// program said holds until it says otherwise.
func (w *World) describe(e *jobstate.Job) {
	if e.Parsed.Spec == nil { // its annotations were spoilt: what they were holds
		return
	}
	spec := e.Limited(e.Agent.Described(w.spec(e.Parsed), e))
	if e.Agent.Silent {
		spec = jobstate.Rigid(spec, e)
	}
	if !e.Wants() && e.BacksOff(time.Now()) {
		spec.GPUTypes, spec.GPUsPerReplica = []cluster.GPUType{nowhere}, nil
	}
	if !reflect.DeepEqual(spec, e.Spec) {
		e.Spec = spec
		w.inbox.Emit(scheduler.Described{Spec: spec})
	}
}

// nowhere is a GPU type that no cluster has: jobs of which nothing can be planned now are told
// to want it.
const nowhere = "(none: it is tried again later)"

// watch takes in how the pods of a job stand.
func (w *World) watch(e *jobstate.Job) {
	if !w.o.Acts() {
		if e.Wants() {
			w.trains(e, nil)
		}
		return
	}
	now := time.Now()
	if !e.Started() || e.Parsed.Suspended || e.Made() >= e.Workers() {
		e.CompleteAt = now
	}
	if !e.Started() {
		e.Begun, e.UpSince = now, time.Time{}
		return
	}
	n := e.Done() // they are not made again
	for _, p := range e.Pods {
		if e.Present(p) && jobstate.Ready(p) {
			n++
		}
	}
	switch {
	case e.Parsed.Suspended: // Kueue has not let it go yet
		e.Begun, e.UpSince = now, time.Time{}
		return
	case n < e.Workers():
		e.UpSince = time.Time{}
		if e.TrainsIn != e.Held.Generation && now.Sub(e.Begun) > w.o.Start {
			w.lose(e, fmt.Sprintf("%d of %d pods run %v after the start%s", n, e.Workers(), w.o.Start, e.Obstacle()))
		}
		return
	case e.UpSince.IsZero():
		e.UpSince = now
	}
	if !e.Agent.Spoke && now.Sub(e.UpSince) >= w.o.Quiet || e.Restored {
		w.trains(e, nil)
	}
	w.hearTrainer(e)
}

// trains tells the scheduler, once for each generation, that a job trains.
func (w *World) trains(e *jobstate.Job, from *float64) {
	if e.TrainsIn == e.Held.Generation {
		return
	}
	e.TrainsIn, e.Failures, e.Setback = e.Held.Generation, 0, ""
	first := job.Report{Job: e.ID(), Configuration: e.Held.Configuration, Progress: e.Progress()}
	if from != nil {
		first.Progress = *from
	}
	w.inbox.Emit(scheduler.Reported{Report: first})
}

// takeNodes tells the scheduler of nodes, loans and rentals that have changed, and of the jobs
// that have lost GPUs by it: on each node that has fewer than are planned there, those submitted
// last.
func (w *World) takeNodes(s *observe.Observation) {
	w.meet(s)
	w.nodes.Review(s)
	w.nodes.ExpectPods()
	nodes, rentals := w.nodes.Rentals(w.nodes.Usable(s))
	c, err := cluster.New(nodes)
	if err != nil { // of two nodes with one name, say: what was known holds
		w.o.Log.Warn("the nodes cannot be taken in, so those that were known hold", "queue", w.o.Queue.Name, "err", err)
		return
	}
	loans := w.nodes.LoanStatus()
	switch {
	case !reflect.DeepEqual(c.Nodes(), w.cluster.Nodes()):
		w.dispossess(c)
		w.cluster = c
	case slices.Equal(rentals, w.nodes.Rented.Told) && nodepool.SameLoans(loans, w.nodes.Loans.Told):
		return
	}
	w.nodes.Rented.Told, w.nodes.Loans.Told = rentals, loans
	w.inbox.Emit(scheduler.NodesChanged{Cluster: w.cluster, Rentals: rentals, Loans: loans})
}

// meet ends the world if there are GPUs of a type that there were none of when it was opened,
// lent or not.
func (w *World) meet(s *observe.Observation) {
	strange := func(n *cluster.Node) bool { return !slices.Contains(w.types, n.GPUType) }
	found := false
	for i := range s.Nodes {
		found = found || strange(&s.Nodes[i])
	}
	for i := range s.Lender.Servers {
		found = found || strange(&s.Lender.Servers[i].Node)
	}
	if found && w.ends == nil {
		w.ends = ErrTypes
		w.inbox.Wake()
	}
}

// dispossess takes from jobs, last submitted first, what nodes do not have any more.
func (w *World) dispossess(c *cluster.Cluster) {
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
				w.lose(e, fmt.Sprintf("node %s has %d GPUs left of %d that were planned", share.Node, has, planned[share.Node]))
				for _, s := range e.Held.Placement {
					planned[s.Node] -= s.GPUs
				}
				break
			}
		}
	}
}

// gpus returns how many GPUs a node has; 0 if it is not there.
func gpus(c *cluster.Cluster, id cluster.NodeID) int {
	if i, there := c.Index(id); there {
		return c.Nodes()[i].Capacity.GPUs
	}
	return 0
}
