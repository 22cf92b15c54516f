package kube

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/job"
)

// Reasons that come before those of policies, in this order.
const (
	Misconfigured   = "Misconfigured"   // only a change of the job, or of its queue, helps
	NotManaged      = "NotManaged"      // somebody else started it, or it has opted out
	WaitingForQuota = "WaitingForQuota" // Kueue has not admitted it
	QueueFull       = "QueueFull"       // its namespace, or the queue, has too many jobs
	StepFailed      = "StepFailed"      // the plan could not be carried out for it
	NotStarted      = "NotStarted"      // the plan has GPUs for it, and other pods are still there
)

// A publisher tells users the state of their jobs, by conditions and events. mu guards it.
type publisher struct {
	o          *config.Options
	client     client.Client
	mu         sync.Locker
	table      *jobstate.Table
	refuses    func(*observe.ObservedJob) string
	full       func(*observe.ObservedJob) string
	told       map[string]string // the last reason that people were told, and what would help, by uid
	wrote      map[string]uint64 // the version of each object that has what was told, by uid
	quietUntil time.Time         // until then they are told nothing
}

// A verdict is what users are told about a job.
type verdict struct {
	object          jobstate.Object
	scheduled       bool
	reason, message string
	unblock         string // what would help, which the message has; empty: not known
	observed        string // what exists of the job, which the message ends with; empty: what is planned
	again           bool   // the reason was told before: only what would help, or what exists, is new
	before          string // what was told before
}

// said returns what differs if people are to be told again.
func (v *verdict) said() string { return v.reason + "\n" + v.unblock + "\n" + v.observed }

// mostFull is how many jobs are told at a time that the queue is full: who submits thousands keeps
// nobody else from being told, or started.
const mostFull = 8

// verdicts returns the verdicts that are new, and records them as told. It leaves out jobs whose
// objects a step writes now, because one of the two writes would be refused as a conflict.
func (w *publisher) verdicts(s *observe.Observation, steps []execute.Step) []verdict {
	if !w.o.Writes() || time.Now().Before(w.quietUntil) {
		return nil
	}
	said := make(map[string]v1alpha1.JobAllocation, len(w.table.Plan.Spec.Allocations))
	for _, a := range w.table.Plan.Spec.Allocations {
		said[a.UID] = a
	}
	busy := make(map[string]bool, len(steps))
	for i := range steps {
		busy[steps[i].Job.Parsed.UID] = true
	}
	var all []verdict
	beyond := 0
	for i := range s.Jobs {
		f := &s.Jobs[i]
		if busy[f.Parsed.UID] {
			continue
		}
		a := said[f.Parsed.UID]
		v := w.verdict(s, f, &a)
		if s.Beyond[f.Parsed.UID] {
			if v = (verdict{object: f.Object, reason: QueueFull, message: w.full(f)}); beyond == mostFull && w.told[f.Parsed.UID] != v.said() {
				continue
			}
		}
		if v.reason == "" || f.Parsed.Ended != nil || w.told[f.Parsed.UID] == v.said() && !w.erased(f.Object) {
			continue
		}
		v.before = w.told[f.Parsed.UID]
		v.again = v.again || strings.HasPrefix(v.before, v.reason+"\n")
		w.told[f.Parsed.UID] = v.said()
		if v.reason == QueueFull {
			beyond++
		}
		all = append(all, v)
	}
	return all
}

// verdict returns the main reason for the state of a job.
func (w *publisher) verdict(s *observe.Observation, f *observe.ObservedJob, a *v1alpha1.JobAllocation) verdict {
	v := verdict{object: f.Object, scheduled: a.GPUs > 0}
	e := w.table.ByID[job.ID(f.Parsed.UID)]
	switch why := w.refuses(f); {
	case why != "":
		v.scheduled, v.reason, v.message = false, Misconfigured, why
	case w.o.Acts() && !s.Ours[f.Parsed.UID] && !s.Beyond[f.Parsed.UID], f.Parsed.OptOut:
		v.scheduled, v.reason = false, NotManaged
		v.observe(s, f, unmanaged(f.Parsed))
	case f.Parsed.Kueue && f.Parsed.Suspended && !f.Parsed.Gated && a.GPUs > 0: // else it is stopped by a plan
		v.scheduled, v.reason, v.message = false, WaitingForQuota, "Kueue has not admitted it yet"
	case e != nil && w.fails(e, &v):
	default:
		v.reason, v.message, v.unblock = Word(a.Reason), a.Message, a.Unblock
		if v.unblock != "" {
			v.message += "; " + v.unblock
		}
		if !w.o.Acts() {
			v.observe(s, f, fmt.Sprintf("planned: %s (%s)", jobstate.PlannedOf(a), v.message))
		}
	}
	return v
}

// fails sets the reason why the plan is not carried out for a job, and reports whether there is one.
func (w *publisher) fails(e *jobstate.Job, v *verdict) bool {
	switch now := time.Now(); {
	case e.Trouble != "":
		v.reason, v.message = StepFailed, e.Trouble
	case e.Wants() && e.Fit.Why != "":
		v.reason, v.message = StepFailed, "its CPUs and memory are not as planned: "+e.Fit.Why
	case e.Wants() && now.Before(e.Limit.Until):
		v.reason, v.message = StepFailed, fmt.Sprintf("it gets no more than %d GPUs for now, because more of its pods cannot come: %s", e.Limit.GPUs, e.Limit.Why)
	case e.Setback != "" && now.Before(e.NotBefore):
		v.reason, v.message = StepFailed, fmt.Sprintf("it was given up %d times, the last time because %s; it is tried again", e.Failures, e.Setback)
	case w.o.Acts() && e.Wants() && !e.Started():
		v.reason, v.message, v.again = NotStarted, "it is started on "+e.Held.Planned()+" when all pods that are to leave these are gone", true
	}
	return v.reason != ""
}

// unmanaged says why a job is not managed.
func unmanaged(j *jobadapter.Job) string {
	if j.OptOut {
		return "it has opted out, and is left alone; its GPUs count as taken"
	}
	return "the scheduler did not start it, and leaves it alone; its GPUs count as taken"
}

// observe sets a message that ends with what exists of a job.
func (v *verdict) observe(s *observe.Observation, f *observe.ObservedJob, message string) {
	v.observed = jobstate.ObservedOf(f.Parsed, s.Workers(f.Parsed.UID)).String()
	v.message = message + "; observed: " + v.observed
}

// Word returns a policy's reason as one word: "waiting: price too high" is PriceTooHigh.
func Word(reason string) string {
	_, rest, waits := strings.Cut(reason, ": ")
	if !waits {
		rest = reason
	}
	var b strings.Builder
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '-' || r == ',' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// silence is how long no conditions are written after some were refused: each is one write per job.
const silence = 10 * time.Second

// publish tells people: a condition on the job's object, and an event once that is written. A
// RayJob has no conditions, only events.
func (w *publisher) publish(ctx context.Context, v *verdict) {
	seen, err := v.object.Unpack()
	if err != nil {
		w.untold(v, err)
		return
	}
	if seen.GetKind() != "RayJob" && !w.write(ctx, v, seen) {
		return
	}
	if w.o.Events != nil && !v.again {
		kind := corev1.EventTypeNormal
		if v.reason == Misconfigured || v.reason == StepFailed {
			kind = corev1.EventTypeWarning
		}
		w.o.Events.Eventf(seen, nil, kind, v.reason, "Schedule", "%s", v.message)
	}
}

// write writes the condition on the job's object, and reports whether that was news.
func (w *publisher) write(ctx context.Context, v *verdict, seen *unstructured.Unstructured) bool {
	next := seen.DeepCopy()
	if !setCondition(next, v.scheduled, v.reason, v.message) {
		w.has(seen)
		return false // a leader before has told them
	}
	err := w.client.Status().Patch(ctx, next, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}), client.FieldOwner(execute.FieldOwner))
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		w.untold(v, err)
		return false
	}
	w.has(next)
	return true
}

// putOff records that verdicts were not told: a later pass does it.
func (w *publisher) putOff(all []verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		if uid := string(all[i].object.Meta().GetUID()); all[i].before == "" {
			delete(w.told, uid)
		} else {
			w.told[uid] = all[i].before
		}
	}
}

// untold records that a condition was not written. It is tried again with the object as it is
// then. If the failure was no conflict, it is tried only after some silence.
func (w *publisher) untold(v *verdict, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.told, string(v.object.Meta().GetUID()))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return
	}
	w.quietUntil = time.Now().Add(jobstate.LeaveAlone(silence, err))
	w.o.Log.Warn("a condition was not written", "job", v.object.Meta().GetNamespace()+"/"+v.object.Meta().GetName(), "err", err)
}

// erased reports whether somebody has taken our condition off an object since it was written: Trainer writes all conditions of a
// TrainJob as it saw them a moment before.
//
// Every new version of an object is looked at once: where our condition is there, that version counts as the one that has it.
func (w *publisher) erased(seen jobstate.Object) bool {
	uid := string(seen.Meta().GetUID())
	written, known := w.wrote[uid]
	if !known || observe.Version(seen.Meta()) <= written {
		return false
	}
	o, err := seen.Unpack()
	if err != nil {
		return false
	}
	gone := lacksCondition(o)
	if !gone {
		w.wrote[uid] = observe.Version(o)
	}
	return gone
}

// has records that an object has what was told.
func (w *publisher) has(o *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote[string(o.GetUID())] = observe.Version(o)
}
