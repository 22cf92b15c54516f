package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/status"
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

// Explain returns the state of one job of a namespace: "name", or "kind/name" where several kinds have one. What the user may not see
// is left out. The error is ErrNotFound if there is no such job.
func (l *Looker) Explain(ctx context.Context, namespace, name string) (*status.Status, error) {
	kind, name := splitKind(name)
	o, err := l.job(ctx, kind, namespace, name)
	if err != nil {
		return nil, err
	}
	l.Namespace, l.also = namespace, o
	at, err := l.Look(ctx)
	if err != nil {
		return nil, err
	}
	at.Jobs = slices.DeleteFunc(at.Jobs, func(s Seen) bool { return s.UID != o.Meta.UID })
	at.Ended = slices.DeleteFunc(at.Ended, func(j status.Job) bool { return j.UID != o.Meta.UID })
	return at.Status(namespace), nil
}

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

// condition returns the reason that a job's condition has. Where the queue's mode carries no plan
// out, its message also has what was observed as it was written: the plan has the rest alone.
func (s *Seen) condition(mode string) Reason {
	c := conditionOf(s.object.Status.Conditions, scheduled)
	if c == nil {
		return Reason{}
	}
	r := Reason{c.Reason, c.Message, c.Changed}
	if s.plan != nil && mode != "" && !acts(mode) && r.FromPlan() {
		r.Message = s.plan.Message
	}
	return r
}

// unplanned returns why a job has no reason.
func (at *Look) unplanned(s *Seen) Reason {
	switch mode := at.Mode(s.Queue); {
	case mode == "Observe":
		return Reason{Reason: "Observed", Message: "queue " + s.Queue + " is in mode Observe: plans are made, and not shown; mode Recommend shows them"}
	case mode == "Off":
		return Reason{Reason: "Off", Message: "queue " + s.Queue + " is off: spec.mode"}
	case at.Plans == nil:
		return Reason{Reason: "Unplanned", Message: "no reason is written on it, and you may not list plans"}
	}
	return Reason{Reason: "Unplanned", Message: "no plan has it yet"}
}

// noQueue returns the reason of a job that names a queue which does not exist.
func noQueue(name string) Reason {
	if name == "" {
		return Reason{Reason: Misconfigured, Message: "it names no queue, which its label " + queueLabel + " would"}
	}
	return Reason{Reason: Misconfigured, Message: fmt.Sprintf("its label %s names queue %q, which does not exist", queueLabel, name)}
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
