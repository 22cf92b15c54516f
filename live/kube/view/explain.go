package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Names that objects carry; live/kube/api/v1alpha1 says what they mean.
const (
	queueLabel = "oxgang.dev/queue"
	scheduled  = "oxgang.dev/Scheduled"
	kueueLabel = "kueue.x-k8s.io/queue-name"
	minGPUs    = "oxgang.dev/min-gpus"
	maxGPUs    = "oxgang.dev/max-gpus"
	askedFor   = "oxgang.dev/asked"
	workloads  = "workloads.kueue.x-k8s.io"
)

// Reasons that come before all others, in this order.
const (
	Misconfigured   = "Misconfigured"   // the job cannot be read, or its queue does not exist
	NotManaged      = "NotManaged"      // somebody else started it, or it has opted out
	WaitingForQuota = "WaitingForQuota" // Kueue has no quota for it yet
)

// tier returns the rank of a reason; lower ones come first.
func tier(reason string) int {
	switch reason {
	case Misconfigured:
		return 0
	case NotManaged:
		return 1
	case WaitingForQuota:
		return 2
	}
	return 3
}

// A Reason is why a job has no GPUs, or has what it has.
type Reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is from when on its condition has been true, or false; zero: not known.
	Since time.Time `json:"since,omitzero"`
}

// FromPlan reports whether the reason is one of the policy, which decided on the job; a mistake or
// quota keeps it from that, and then no plan says what would help, or when.
func (r *Reason) FromPlan() bool { return tier(r.Reason) > tier(WaitingForQuota) }

// Dominant returns the reason that comes first, among equals the first argument; the zero Reason if
// there is none.
func Dominant(all ...Reason) Reason {
	var best Reason
	for _, r := range all {
		if r.Reason != "" && (best.Reason == "" || tier(r.Reason) < tier(best.Reason)) {
			best = r
		}
	}
	return best
}

// An Explanation is the state of a job, and why it is so.
type Explanation struct {
	Kind  string `json:"kind"`
	Queue string `json:"queue,omitempty"`
	Meta  Meta   `json:"-"`
	Name  string `json:"name"` // namespace/name
	Reason
	// Plan is what the last plan says; nil: it has no such job, or the user may not see it.
	Plan  *Allocation `json:"plan,omitempty"`
	Round int64       `json:"round,omitempty"`
	// Observed is what exists of it; nil: the user may not see its pods.
	Observed *Observed `json:"observed,omitempty"`
	// Suspended: its controller makes no pods. Ended is how it ended; empty: it has not.
	Suspended bool   `json:"suspended,omitempty"`
	Ended     string `json:"ended,omitempty"`
	// Mode is that of its queue; empty: the user may not see it, or there is none.
	Mode string `json:"mode,omitempty"`
	// Scheduled: it has GPUs, as the plan says, or else its own condition.
	Scheduled bool `json:"scheduled"`
}

// An object is what is read of a job's object.
type object struct {
	Version string `json:"apiVersion"`
	Kind    string `json:"kind"`
	Meta    Meta   `json:"metadata"`
	Spec    struct {
		Suspend     bool `json:"suspend"`
		Parallelism int  `json:"parallelism"` // of a Job
		Template    pod  `json:"template"`    // of a Job
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions"`
	} `json:"status"`
}

// kinds are the kinds of job, with their names in kubectl. Kinds that create objects of the same
// name come first: a TrainJob creates a JobSet, a RayJob the Job that submits it.
var kinds = []jobKind{
	{"TrainJob", "trainjobs.trainer.kubeflow.org"},
	{"RayJob", "rayjobs.ray.io"},
	{"JobSet", "jobsets.jobset.x-k8s.io"},
	{"Job", "jobs.batch"},
}

// A jobKind is a kind of job, with its name in kubectl.
type jobKind struct{ kind, resource string }

// Explain returns the state of a job of a namespace: "name", or "kind/name" where several
// kinds have one. What the user may not see is left out. The error is ErrNotFound if there is
// no such job.
func (k *Kubectl) Explain(ctx context.Context, namespace, name string) (*Explanation, error) {
	all, err := k.Plans(ctx)
	if err != nil && !errors.Is(err, ErrForbidden) {
		return nil, err
	}
	kind, name := splitKind(name)
	e := &Explanation{Name: namespace + "/" + name}
	for i := range all {
		for j := range all[i].Spec.Allocations {
			a := &all[i].Spec.Allocations[j]
			if a.Namespace == namespace && a.Name == name && (kind == "" || strings.EqualFold(kind, a.Kind)) {
				e.Plan, e.Queue, e.Round, kind = a, all[i].Meta.Name, all[i].Spec.Round, a.Kind
			}
		}
	}
	o, err := k.job(ctx, kind, namespace, name)
	if err != nil {
		return nil, err
	}
	e.Kind, e.Meta, e.Suspended, e.Ended = o.Kind, o.Meta, o.Spec.Suspend, o.ended()
	if e.Plan != nil && e.Plan.UID != o.Meta.UID { // an older job of that name
		e.Plan, e.Queue, e.Round = nil, "", 0
	}
	if e.Queue == "" {
		e.Queue = o.Meta.Labels[queueLabel]
	}
	if err := k.observe(ctx, e); err != nil {
		return nil, err
	}
	return e, k.reason(ctx, e, o)
}

// observe fills in what exists of a job, as far as the user may see it.
func (k *Kubectl) observe(ctx context.Context, e *Explanation) error {
	c, err := k.cluster(ctx, e.Meta.Namespace)
	switch {
	case err == nil:
		e.Observed = c.observed()[e.Meta.UID]
		if e.Observed == nil {
			e.Observed = new(Observed)
		}
	case !unseen(err):
		return err
	}
	return nil
}

// Acts reports whether the queue's mode lets the scheduler carry out what it plans.
func (e *Explanation) Acts() bool { return acts(e.Mode) }

func acts(mode string) bool { return mode == "Admit" || mode == "Resize" }

// ended returns how a job ended; empty: it has not.
func (o *object) ended() string {
	for _, c := range o.Status.Conditions {
		if c.Status == "True" && (c.Type == "Complete" || c.Type == "Completed" || c.Type == "Failed") {
			return c.Type
		}
	}
	return ""
}

// splitKind cuts "jobset/name".
func splitKind(name string) (kind, rest string) {
	if kind, rest, ok := strings.Cut(name, "/"); ok {
		return kind, rest
	}
	return "", name
}

// job returns the object of a job; kind may be empty.
func (k *Kubectl) job(ctx context.Context, kind, namespace, name string) (*object, error) {
	for _, known := range kinds {
		if kind != "" && !strings.EqualFold(kind, known.kind) {
			continue
		}
		o, err := get[object](ctx, k, known.resource, name, "-n", namespace)
		if err == nil {
			o.Kind = known.kind
			return o, nil
		}
		if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNoKind) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("job %s/%s: %w", namespace, name, ErrNotFound)
}

// reason fills in the dominant reason: that of the condition, unless something that comes
// before it is seen.
func (k *Kubectl) reason(ctx context.Context, e *Explanation, o *object) error {
	queue := k.queued(ctx, e)
	found := []Reason{e.condition(o), queue}
	if o.Spec.Suspend && o.Meta.Labels[kueueLabel] != "" {
		quota, err := k.quota(ctx, o)
		if err != nil {
			return err
		}
		found = append(found, quota)
	}
	if e.Plan != nil {
		found = append(found, Reason{Reason: e.Plan.Reason, Message: e.Plan.Message})
		e.Scheduled = e.Plan.GPUs > 0
	}
	e.Reason = Dominant(found...)
	if e.Reason.Reason == "" {
		e.Reason = e.unplanned()
	}
	return nil
}

// condition returns the reason that a job's condition has. Where the queue's mode carries no plan
// out, its message also has what was observed as it was written: the plan has the rest alone.
func (e *Explanation) condition(o *object) Reason {
	c := conditionOf(o.Status.Conditions, scheduled)
	if c == nil {
		return Reason{}
	}
	e.Scheduled = c.Status == "True"
	r := Reason{c.Reason, c.Message, c.Changed}
	if e.Plan != nil && e.Mode != "" && !e.Acts() && r.FromPlan() {
		r.Message = e.Plan.Message
	}
	return r
}

// unplanned returns why a job has no reason.
func (e *Explanation) unplanned() Reason {
	switch {
	case e.Ended != "":
		return Reason{Reason: "Ended", Message: "it has ended"}
	case e.Mode == "Observe":
		return Reason{Reason: "Observed", Message: "queue " + e.Queue + " is in mode Observe: plans are made, and not shown; mode Recommend shows them"}
	case e.Mode == "Off":
		return Reason{Reason: "Off", Message: "queue " + e.Queue + " is off: spec.mode"}
	}
	return Reason{Reason: "Unplanned", Message: "no plan has it yet"}
}

// queued returns what is wrong with the queue that a job names, as far as it can be seen.
func (k *Kubectl) queued(ctx context.Context, e *Explanation) Reason {
	if e.Queue == "" {
		return Reason{Reason: Misconfigured, Message: "it names no queue, which its label " + queueLabel + " would"}
	}
	q, err := get[Queue](ctx, k, queues, e.Queue)
	switch {
	case err == nil:
		e.Mode = q.Spec.Mode
	case e.Plan == nil && errors.Is(err, ErrNotFound):
		return noQueue(e.Queue)
	}
	return Reason{}
}

// noQueue returns the reason of a job that names a queue which does not exist.
func noQueue(name string) Reason {
	return Reason{Reason: Misconfigured, Message: fmt.Sprintf("its label %s names queue %q, which does not exist", queueLabel, name)}
}

// quota returns the reason that Kueue holds a job back for; the zero Reason: it does not, or
// the user may not see it.
func (k *Kubectl) quota(ctx context.Context, o *object) (Reason, error) {
	all, err := list[object](ctx, k, workloads, "-n", o.Meta.Namespace)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoKind) {
		return Reason{}, nil
	}
	return quotaOf(all, o.Meta.UID), err
}

// quotaOf returns the reason that one of Kueue's Workloads holds a job back for; the zero Reason: none does.
func quotaOf(all []object, uid string) Reason {
	for i := range all {
		for _, owner := range all[i].Meta.Owners {
			c := conditionOf(all[i].Status.Conditions, "QuotaReserved")
			if owner.UID == uid && c != nil && c.Status == "False" {
				return Reason{WaitingForQuota, c.Message, c.Changed}
			}
		}
	}
	return Reason{}
}
