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

const (
	queueLabel = "oxgang.dev/queue"
	scheduled  = "oxgang.dev/Scheduled"
	kueueLabel = "kueue.x-k8s.io/queue-name"
	minGPUs    = "oxgang.dev/min-gpus"
	maxGPUs    = "oxgang.dev/max-gpus"
	askedFor   = "oxgang.dev/asked"
	workloads  = "workloads.kueue.x-k8s.io"
)

// Reasons that take precedence, in this order.
const (
	Misconfigured   = "Misconfigured"
	notManaged      = "NotManaged"
	WaitingForQuota = "WaitingForQuota"
)

func tier(reason string) int {
	switch reason {
	case Misconfigured:
		return 0
	case notManaged:
		return 1
	case WaitingForQuota:
		return 2
	}
	return 3
}

// A Reason explains why a job waits or runs.
type Reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when the condition's status last changed; zero: not known.
	Since time.Time `json:"since,omitzero"`
}

// fromPlan reports whether the policy gave the reason; other reasons explain why a job is in no plan.
func (r *Reason) fromPlan() bool { return tier(r.Reason) > tier(WaitingForQuota) }

// Dominant returns the most important reason, or the zero Reason.
func Dominant(all ...Reason) Reason {
	var best Reason
	for _, r := range all {
		if r.Reason != "" && (best.Reason == "" || tier(r.Reason) < tier(best.Reason)) {
			best = r
		}
	}
	return best
}

type object struct {
	Version string `json:"apiVersion"`
	Kind    string `json:"kind"`
	Meta    meta   `json:"metadata"`
	Spec    struct {
		Suspend     bool `json:"suspend"`
		Parallelism int  `json:"parallelism"`
		Template    pod  `json:"template"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions"`
	} `json:"status"`
}

// Creators of objects of the same name come first: TrainJob before JobSet, RayJob before Job.
var kinds = []jobKind{
	{"TrainJob", "trainjobs.trainer.kubeflow.org"},
	{"RayJob", "rayjobs.ray.io"},
	{"JobSet", "jobsets.jobset.x-k8s.io"},
	{"Job", "jobs.batch"},
}

type jobKind struct{ kind, resource string }

// Explain returns the state of a job. name may be "kind/name". It returns ErrNotFound without such a job.
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
	at.Jobs = slices.DeleteFunc(at.Jobs, func(s liveJob) bool { return s.UID != o.Meta.UID })
	at.Ended = slices.DeleteFunc(at.Ended, func(j status.Job) bool { return j.UID != o.Meta.UID })
	return at.Status(namespace), nil
}

func acts(mode string) bool { return mode == "Admit" || mode == "Resize" }

func (o *object) ended() string {
	for _, c := range o.Status.Conditions {
		if c.Status == "True" && (c.Type == "Complete" || c.Type == "Completed" || c.Type == "Failed") {
			return c.Type
		}
	}
	return ""
}

func splitKind(name string) (kind, rest string) {
	if kind, rest, ok := strings.Cut(name, "/"); ok {
		return kind, rest
	}
	return "", name
}

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

// In mode Recommend the message is the plan's, without the observed state.
func (s *liveJob) condition(mode string) Reason {
	c := conditionOf(s.object.Status.Conditions, scheduled)
	if c == nil {
		return Reason{}
	}
	r := Reason{c.Reason, c.Message, c.Changed}
	if s.plan != nil && mode != "" && !acts(mode) && r.fromPlan() {
		r.Message = s.plan.Message
	}
	return r
}

func (at *Look) unplanned() Reason {
	if at.Plans == nil {
		return Reason{Reason: "Unplanned", Message: "it has no published reason, and you may not list plans"}
	}
	return Reason{Reason: "Unplanned", Message: "not in a plan yet"}
}

func noQueue(name string) Reason {
	if name == "" {
		return Reason{Reason: Misconfigured, Message: "it names no queue: set its label " + queueLabel}
	}
	return Reason{Reason: Misconfigured, Message: fmt.Sprintf("its label %s names queue %q, which does not exist", queueLabel, name)}
}

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
