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
	"github.com/oxgang/oxgang/scheduler"
)

// takeIn turns what the watches show into events. The caller holds the lock.
func (w *World) takeIn(s *sight) {
	w.shown, w.shownAt = s.fresh, time.Now()
	w.catchUp(s)
	there := make(map[job.ID]bool, len(s.jobs))
	for i := range s.jobs {
		f := &s.jobs[i]
		there[job.ID(f.job.UID)] = true
		w.takeJob(s, f)
	}
	for _, e := range slices.Clone(w.order) {
		if !there[e.id()] {
			e.pods, e.aides, e.stale = nil, nil, false
			w.end(e, scheduler.Cancelled, "its object was deleted")
		}
		w.forget(e)
	}
	for id := range w.over {
		if !there[id] && w.jobs[id] == nil {
			delete(w.over, id)
		}
	}
	for uid := range w.readings { // also of objects that are part of a job
		if _, shown := s.fresh[uid]; !shown {
			delete(w.readings, uid)
			delete(w.told, uid)
		}
	}
	w.enrol()
	w.sight = s
	w.takeNodes(s)
}

// catchUp forgets those writes that the watches have shown.
func (w *World) catchUp(s *sight) {
	for uid, version := range w.written {
		if seen, there := s.fresh[string(uid)]; !there || seen >= version {
			delete(w.written, uid)
		}
	}
	if len(w.written) == 0 {
		w.inbox.Wake()
	}
}

// takeJob takes in how a job stands.
func (w *World) takeJob(s *sight, f *found) {
	id := job.ID(f.job.UID)
	e := w.jobs[id]
	if e == nil {
		if e = w.enter(s, f); e == nil {
			return
		}
	}
	if f.job.OptOut { // what runs of it is somebody else's from now on
		e.pods, e.aides, e.stale = nil, nil, false
		w.end(e, scheduler.Cancelled, "it has opted out")
		return
	}
	pods := s.pods[f.job.UID]
	if e.stale = w.unseen(f, pods); e.stale {
		return
	}
	e.object, e.job, e.pods, e.aides = f.object, f.job, pods, s.aides[f.job.UID]
	if e.ending.IsZero() && e.done() > 0 {
		e.ending = time.Now()
	}
	if e.late != nil && f.object.GetAnnotations()[v1alpha1.Epoch] == strconv.FormatInt(w.plan.Spec.Epoch, 10) {
		e.late = nil
	}
	switch {
	case e.ended:
	case f.job.Ended != nil:
		w.end(e, f.job.Ended.Outcome, f.job.Ended.Detail)
	default:
		if err := e.fits(&e.held); err != nil { // its workers ask for other GPUs than when it was planned
			w.lose(e, err.Error())
		}
		w.describe(e)
		w.watch(e)
	}
}

// unseen reports whether something was written of a job that the watches do not show yet.
func (w *World) unseen(f *found, pods []*corev1.Pod) bool {
	if w.written[types.UID(f.job.UID)] > 0 {
		return true
	}
	return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return w.written[p.UID] > 0 })
}

// enter takes in a job that was not known; nil: it is not to be.
func (w *World) enter(s *sight, f *found) *entry {
	id := job.ID(f.job.UID)
	if w.over[id] || f.job.Ended != nil || !s.ours[f.job.UID] {
		return nil
	}
	e := &entry{kind: f.kind, object: f.object, job: f.job, spec: w.spec(f.job), held: grant{generation: f.job.Generation}}
	e.since = time.Now()
	e.begun, e.whole = e.since, e.since // pods that are starting have their time from now on
	w.jobs[id] = e
	w.order = append(w.order, e)
	if old, known := w.past[id]; known {
		delete(w.past, id)
		old.restore(e)
		e.spec = e.agent.described(e.spec, e)
		if e.node() != "" && !e.started() {
			e.late = e.held.placement
		}
		w.inbox.Emit(scheduler.Restored{Spec: e.spec, Status: e.status, Batch: e.held.batch, Reports: slices.Clone(e.reports)})
		return e
	}
	w.inbox.Emit(scheduler.Submitted{Spec: e.spec})
	return e
}

// spec returns a job as the scheduler is to see it. One of which nothing more is changed once
// it has started keeps what it holds.
func (w *World) spec(j *jobadapter.Job) *job.Spec {
	spec := *j.Spec
	spec.Queue = w.o.Queue.Name
	if w.o.mode() == v1alpha1.Admit {
		spec.NonPreemptive = true
	}
	return &spec
}

// describe tells the scheduler what a job is, if its object says something new. What its
// program said holds until it says otherwise.
func (w *World) describe(e *entry) {
	if e.job.Spec == nil { // its annotations were spoilt: what they were holds
		return
	}
	spec := e.limited(e.agent.described(w.spec(e.job), e))
	if e.agent.silent {
		spec = rigid(spec, e)
	}
	if !e.wants() && e.backsOff(time.Now()) {
		spec.GPUTypes, spec.GPUsPerReplica = []cluster.GPUType{nowhere}, nil
	}
	if !reflect.DeepEqual(spec, e.spec) {
		e.spec = spec
		w.inbox.Emit(scheduler.Described{Spec: spec})
	}
}

// nowhere is a GPU type that no cluster has: jobs of which nothing can be planned now are told
// to want it.
const nowhere = "(none: it is tried again later)"

// watch takes in how the pods of a job stand.
func (w *World) watch(e *entry) {
	if !w.o.acts() {
		if e.wants() {
			w.trains(e, nil)
		}
		return
	}
	now := time.Now()
	if !e.started() || e.job.Suspended || e.made() >= e.workers() {
		e.whole = now
	}
	if !e.started() {
		e.begun, e.up = now, time.Time{}
		return
	}
	n := e.done() // they are not made again
	for _, p := range e.pods {
		if e.present(p) && ready(p) {
			n++
		}
	}
	switch {
	case e.job.Suspended: // Kueue has not let it go yet
		e.begun, e.up = now, time.Time{}
		return
	case n < e.workers():
		e.up = time.Time{}
		if e.told != e.held.generation && now.Sub(e.begun) > w.o.Start {
			w.lose(e, fmt.Sprintf("%d of %d pods run %v after the start%s", n, e.workers(), w.o.Start, e.obstacle()))
		}
		return
	case e.up.IsZero():
		e.up = now
	}
	if !e.agent.spoke && now.Sub(e.up) >= w.o.Quiet || e.restored {
		w.trains(e, nil)
	}
	w.hearTrainer(e)
}

// obstacle returns what keeps a pod of the planned generation from running, for people.
func (e *entry) obstacle() string {
	for _, p := range e.pods {
		for _, c := range p.Status.Conditions {
			if e.present(p) && c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
				return fmt.Sprintf(": pod %s: %s", p.Name, c.Message)
			}
		}
	}
	if n := e.made(); n < e.workers() {
		return fmt.Sprintf(": %d were made (see the events of the job; a ResourceQuota, perhaps)", n)
	}
	return ""
}

// trains tells the scheduler, once for each generation, that a job trains.
func (w *World) trains(e *entry, from *float64) {
	if e.told == e.held.generation {
		return
	}
	e.told, e.failures, e.setback = e.held.generation, 0, ""
	first := job.Report{Job: e.id(), Configuration: e.held.Configuration, Progress: e.progress()}
	if from != nil {
		first.Progress = *from
	}
	w.inbox.Emit(scheduler.Reported{Report: first})
}

// progress returns what is believed of a job's progress when it starts without saying.
func (e *entry) progress() float64 {
	if e.spec.NoCheckpoint {
		return 0
	}
	return e.status.Progress
}

// takeNodes tells the scheduler of nodes, loans and rentals that have changed, and of the jobs
// that have lost GPUs by it: on each node that has fewer than are planned there, those submitted
// last.
func (w *World) takeNodes(s *sight) {
	w.meet(s)
	w.review(s)
	w.fleet.nodes = s.fleet
	w.expectPods()
	nodes, rentals := w.lease(w.nodes(s))
	c, err := cluster.New(nodes)
	if err != nil { // of two nodes with one name, say: what was known holds
		w.o.Log.Warn("the nodes cannot be taken in, so those that were known hold", "queue", w.o.Queue.Name, "err", err)
		return
	}
	loans := w.tidings()
	switch {
	case !reflect.DeepEqual(c.Nodes(), w.cluster.Nodes()):
		w.dispossess(c)
		w.cluster = c
	case slices.Equal(rentals, w.fleet.rentals) && sameLoans(loans, w.loans.told):
		return
	}
	w.fleet.rentals, w.loans.told = rentals, loans
	w.inbox.Emit(scheduler.NodesChanged{Cluster: w.cluster, Rentals: rentals, Loans: loans})
}

// meet ends the world if there are GPUs of a type that there were none of when it was opened,
// lent or not.
func (w *World) meet(s *sight) {
	strange := func(n *cluster.Node) bool { return !slices.Contains(w.types, n.GPUType) }
	found := false
	for i := range s.nodes {
		found = found || strange(&s.nodes[i])
	}
	for i := range s.lender.Servers {
		found = found || strange(&s.lender.Servers[i].Node)
	}
	if found && w.ends == nil {
		w.ends = ErrTypes
		w.inbox.Wake()
	}
}

// dispossess takes from jobs, last submitted first, what nodes do not have any more.
func (w *World) dispossess(c *cluster.Cluster) {
	planned := make(map[cluster.NodeID]int)
	for _, e := range w.order {
		if !e.wants() {
			continue
		}
		for _, share := range e.held.placement {
			planned[share.Node] += share.GPUs
		}
	}
	for _, e := range slices.Backward(w.order) {
		for _, share := range e.held.placement {
			if has := gpus(c, share.Node); e.wants() && planned[share.Node] > has {
				w.lose(e, fmt.Sprintf("node %s has %d GPUs left of %d that were planned", share.Node, has, planned[share.Node]))
				for _, s := range e.held.placement {
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
