package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/kube/wire"
)

// Full resource names, because other groups also have queues.
const (
	queues = "queues.oxgang.dev"
	plans  = "plans.oxgang.dev"
)

type meta struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	UID         string            `json:"uid,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Created     time.Time         `json:"creationTimestamp,omitzero"`
	Deleted     *time.Time        `json:"deletionTimestamp,omitempty"`
	Owners      []owner           `json:"ownerReferences,omitempty"`
}

type owner struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

func (m *meta) controller() owner {
	for _, o := range m.Owners {
		if o.Controller {
			return o
		}
	}
	return owner{}
}

// A Condition is a condition of an object.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Changed time.Time `json:"lastTransitionTime"`
}

func conditionOf(all []Condition, kind string) *Condition {
	for i := range all {
		if all[i].Type == kind {
			return &all[i]
		}
	}
	return nil
}

// A Queue is a pool of nodes, and its state.
type Queue struct {
	Meta meta `json:"metadata"`
	Spec struct {
		Mode         string            `json:"mode"`
		NodeSelector map[string]string `json:"nodeSelector"`
		Namespaces   []struct {
			Name string `json:"name"`
		} `json:"namespaces"`
		Policy struct {
			Name string `json:"name"`
		} `json:"policy"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions"`
		Running    int         `json:"running"`
		Waiting    int         `json:"waiting"`
		GPUs       int         `json:"gpus"`
		GPUsUsed   int         `json:"gpusUsed"`
	} `json:"status"`
}

// Condition returns the condition of a type, or nil.
func (q *Queue) Condition(kind string) *Condition { return conditionOf(q.Status.Conditions, kind) }

// A Plan is the latest decision for the queue of the same name.
type Plan struct {
	Meta meta `json:"metadata"`
	Spec struct {
		Epoch       int64        `json:"epoch"`
		Round       int64        `json:"round"`
		Time        *time.Time   `json:"time"`
		Leader      string       `json:"leader"`
		Policy      string       `json:"policy"`
		Allocations []Allocation `json:"allocations"`
		Packed      []byte       `json:"packed,omitempty"`
		Prices      []Price      `json:"prices"`
	} `json:"spec"`
}

// A Price is the price of a GPU of one type, in thousandths of the policy's objective.
type Price struct {
	GPUType string `json:"gpuType"`
	Milli   int64  `json:"milli"`
}

// An Allocation is a plan's decision for one job.
type Allocation struct {
	UID       string  `json:"uid"`
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	GPUs      int     `json:"gpus"`
	GPUType   string  `json:"gpuType,omitempty"`
	Nodes     []Share `json:"nodes,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	Message   string  `json:"message,omitempty"`
	Unblock   string  `json:"unblock,omitempty"`
	ETA       *ETA    `json:"eta,omitempty"`
}

// A Share is an allocation's part of one node.
type Share struct {
	Name string `json:"name"`
	GPUs int    `json:"gpus"`
}

// An ETA predicts when a job starts and ends; nil: not known.
type ETA struct {
	Start *Range `json:"start,omitempty"`
	End   *Range `json:"end,omitempty"`
}

// A Range contains the time with a probability of 80 %; Likely is the median. nil: not known.
type Range struct {
	Earliest *time.Time `json:"earliest,omitempty"`
	Likely   *time.Time `json:"likely,omitempty"`
	Latest   *time.Time `json:"latest,omitempty"`
}

// Queues returns all queues.
func (k *Kubectl) Queues(ctx context.Context) ([]Queue, error) { return list[Queue](ctx, k, queues) }

// Plans returns all plans.
func (k *Kubectl) Plans(ctx context.Context) ([]Plan, error) {
	all, err := list[Plan](ctx, k, plans)
	for i := range all {
		err = errors.Join(err, all[i].unpack())
	}
	return all, err
}

// Plan returns the plan of a queue.
func (k *Kubectl) Plan(ctx context.Context, queue string) (*Plan, error) {
	p, err := get[Plan](ctx, k, plans, queue)
	if err != nil {
		return nil, err
	}
	return p, p.unpack()
}

func (p *Plan) unpack() error {
	rest, err := wire.UnpackList[Allocation](p.Spec.Packed)
	if err != nil {
		return fmt.Errorf("plan %s: %w", p.Meta.Name, err)
	}
	p.Spec.Allocations, p.Spec.Packed = append(p.Spec.Allocations, rest...), nil
	return nil
}

// Names returns the names of the planned jobs in the given namespace.
func Names(plans []Plan, namespace string) (all []string) {
	for i := range plans {
		for _, a := range plans[i].Spec.Allocations {
			if a.Namespace == namespace {
				all = append(all, a.Name)
			}
		}
	}
	return all
}

// Raw returns kubectl's output, in the given format, of the queue's plan, or of all queues if queue is "".
func (k *Kubectl) Raw(ctx context.Context, queue, format string) ([]byte, error) {
	if queue == "" {
		return k.Get(ctx, queues, "-o", format)
	}
	return k.Get(ctx, plans, queue, "-o", format)
}

func list[T any](ctx context.Context, k *Kubectl, args ...string) ([]T, error) {
	l, err := get[struct {
		Items []T `json:"items"`
	}](ctx, k, args...)
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

func get[T any](ctx context.Context, k *Kubectl, args ...string) (*T, error) {
	text, err := k.Get(ctx, append(args, "-o", "json")...)
	if err != nil {
		return nil, err
	}
	o := new(T)
	if err := json.Unmarshal(text, o); err != nil {
		return nil, fmt.Errorf("kubectl get %s: %w", args[0], err)
	}
	return o, nil
}
