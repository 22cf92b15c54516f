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

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/job"
)

// Reasons that override the policy's reason, in this order.
const (
	Misconfigured   = "Misconfigured"   // the job or its queue must be changed
	notManaged      = "NotManaged"      // started by others, or opted out
	waitingForQuota = "WaitingForQuota" // Kueue has not admitted it
	queueFull       = "QueueFull"       // its namespace or queue has too many jobs
	Unschedulable   = "Unschedulable"   // kube-scheduler accepts its pods on no node, or has not placed them
	StepFailed      = "StepFailed"
	notStarted      = "NotStarted" // other pods still use its planned GPUs
)

type publisher struct {
	o          *jobstate.Options
	client     client.Client
	mu         sync.Locker
	table      *jobstate.Table
	refuses    func(*observe.ObservedJob) string
	full       func(*observe.ObservedJob) string
	published  map[string]string // by uid
	versions   map[string]uint64 // of objects with our condition, by uid
	quietUntil time.Time
}

type verdict struct {
	object          jobstate.Object
	scheduled       bool
	reason, message string
	unblock         string // what would help; empty: not known
	observed        string // the job's actual pods; empty: not shown
	again           bool   // only details are new
	before          string
}

func (v *verdict) text() string { return v.reason + "\n" + v.unblock + "\n" + v.observed }

// placementDelay is how long kube-scheduler may take for a pod until the condition reports it.
const placementDelay = 5 * time.Second

// mostFull is how many jobs at a time get the reason QueueFull.
const mostFull = 8

// verdicts omits jobs with a step, because one of the two writes would conflict.
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
			if v = (verdict{object: f.Object, reason: queueFull, message: w.full(f)}); beyond == mostFull && w.published[f.Parsed.UID] != v.text() {
				continue
			}
		}
		if v.reason == "" || f.Parsed.Ended != nil || w.published[f.Parsed.UID] == v.text() && !w.erased(f.Object) {
			continue
		}
		v.before = w.published[f.Parsed.UID]
		v.again = v.again || strings.HasPrefix(v.before, v.reason+"\n")
		w.published[f.Parsed.UID] = v.text()
		if v.reason == queueFull {
			beyond++
		}
		all = append(all, v)
	}
	return all
}

func (w *publisher) verdict(s *observe.Observation, f *observe.ObservedJob, a *v1alpha1.JobAllocation) verdict {
	v := verdict{object: f.Object, scheduled: a.GPUs > 0}
	e := w.table.ByID[job.ID(f.Parsed.UID)]
	switch why := w.refuses(f); {
	case f.Parsed.OnHold:
		v.scheduled, v.reason, v.message = false, notManaged, why
	case why != "":
		v.scheduled, v.reason, v.message = false, Misconfigured, why
	case w.o.Acts() && !s.Ours[f.Parsed.UID] && !s.Beyond[f.Parsed.UID], f.Parsed.OptOut:
		v.scheduled, v.reason = false, notManaged
		v.observe(s, f, unmanaged(f.Parsed))
	case f.Parsed.Kueue && f.Parsed.Suspended && !f.Parsed.Gated && a.GPUs > 0: // otherwise a plan has stopped it
		v.scheduled, v.reason, v.message = false, waitingForQuota, "Kueue has not admitted it yet"
	case e != nil && w.failure(e, &v):
	default:
		v.reason, v.message, v.unblock = word(a.Reason), a.Message+shortfall(e, a), a.Unblock
		if v.unblock != "" {
			v.message += "; " + v.unblock
		}
		if !w.o.Acts() {
			v.observe(s, f, fmt.Sprintf("planned: %s (%s)", jobstate.PlannedOf(a), v.message))
		}
	}
	return v
}

func (w *publisher) failure(e *jobstate.Job, v *verdict) bool {
	switch now := time.Now(); {
	case !e.Wants() && e.Nowhere != "":
		v.scheduled, v.reason, v.message = false, Unschedulable, e.Nowhere
	case e.Trouble != "":
		v.reason, v.message = StepFailed, e.Trouble
	case e.Wants() && e.Fit.Why != "":
		v.reason, v.message = StepFailed, "its CPUs and memory differ from the plan: "+e.Fit.Why
	case e.Wants() && now.Before(e.Limit.Until):
		v.reason, v.message = StepFailed, fmt.Sprintf("limited to %s for now, because it cannot have more pods: %s", printable.Count(e.Limit.GPUs, "GPU"), e.Limit.Why)
	case e.Setback != "" && now.Before(e.NotBefore):
		v.reason, v.message = StepFailed, fmt.Sprintf("%s in a row failed; it will be retried; last failure: %s", printable.Count(e.Failures, "start"), e.Setback)
	case w.o.Acts() && e.Unplaced(now) > placementDelay:
		v.reason, v.again = Unschedulable, true
		v.message = fmt.Sprintf("only %d of %d pods have a node; other jobs get its GPUs if that lasts %v%s", e.Placed(), e.Workers(), e.PlaceWithin(w.o.Start), e.Obstacle())
	case w.o.Acts() && e.Wants() && !e.Started():
		v.reason, v.message, v.again = notStarted, "starts on "+e.Held.Planned()+" once the previous pods there are gone", true
	}
	return v.reason != ""
}

func shortfall(e *jobstate.Job, a *v1alpha1.JobAllocation) string {
	if e == nil || e.Parsed.Spec == nil || a.GPUs == 0 || int(a.GPUs) >= e.Parsed.Spec.GPUs {
		return ""
	}
	text := fmt.Sprintf("; these are %d of the %s that it requests", a.GPUs, printable.Count(e.Parsed.Spec.GPUs, "GPU"))
	if len(e.Reports) == 0 {
		text += ", because its program has not reported its speed"
	}
	return text
}

func unmanaged(j *jobadapter.Job) string {
	if j.OptOut {
		return "it has opted out; its GPUs count as used"
	}
	return "the scheduler did not start it and does not change it; its GPUs count as used"
}

func (v *verdict) observe(s *observe.Observation, f *observe.ObservedJob, message string) {
	v.observed = jobstate.ObservedOf(f.Parsed, s.Workers(f.Parsed.UID)).String()
	v.message = message + "; observed: " + v.observed
}

// word converts a policy's reason into one word for a condition: "waiting: price too high" becomes PriceTooHigh.
func word(reason string) string {
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

// silence is the pause after rejected conditions.
const silence = 10 * time.Second

func (w *publisher) publish(ctx context.Context, v *verdict) {
	seen, err := v.object.Unpack()
	if err != nil {
		w.unpublished(v, err)
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

func (w *publisher) write(ctx context.Context, v *verdict, seen *unstructured.Unstructured) bool {
	next := seen.DeepCopy()
	if !setCondition(next, v.scheduled, v.reason, v.message) {
		w.recordPublished(seen)
		return false
	}
	err := w.client.Status().Patch(ctx, next, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}), client.FieldOwner(execute.FieldOwner))
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		w.unpublished(v, err)
		return false
	}
	w.recordPublished(next)
	return true
}

func (w *publisher) putOff(all []verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		if uid := string(all[i].object.Meta().GetUID()); all[i].before == "" {
			delete(w.published, uid)
		} else {
			w.published[uid] = all[i].before
		}
	}
}

func (w *publisher) unpublished(v *verdict, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.published, string(v.object.Meta().GetUID()))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return
	}
	w.quietUntil = time.Now().Add(jobstate.LeaveAlone(silence, err))
	w.o.Log.Warn("a condition was not written", "job", v.object.Meta().GetNamespace()+"/"+v.object.Meta().GetName(), "err", err)
}

// erased reports whether someone has removed our condition, as Trainer does: it writes all conditions from an older
// read.
func (w *publisher) erased(seen jobstate.Object) bool {
	uid := string(seen.Meta().GetUID())
	written, known := w.versions[uid]
	if !known || observe.Version(seen.Meta()) <= written {
		return false
	}
	o, err := seen.Unpack()
	if err != nil {
		return false
	}
	gone := lacksCondition(o)
	if !gone {
		w.versions[uid] = observe.Version(o)
	}
	return gone
}

func (w *publisher) recordPublished(o *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[string(o.GetUID())] = observe.Version(o)
}
