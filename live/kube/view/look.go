package view

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/status"
)

// A Looker looks at a cluster again and again, with the user's own rights. It is not for concurrent use.
type Looker struct {
	*Kubectl
	// Namespace is the only one that is asked for; empty: all.
	Namespace string
	// Fallback is asked for instead of all where the user may not list the pods of all; empty: it is an error.
	Fallback string
	narrowed bool    // to Fallback
	also     *object // a job that is looked at whether a queue has it or not; nil: none
}

// A Look is what a user may see of a cluster at one time.
type Look struct {
	At        time.Time
	Namespace string // the only one that was asked for; empty: all
	Queues    []Queue
	Plans     []Plan
	Jobs      []Seen        // of queues, that have not ended: by queue, then as the plans have them
	Ended     []status.Job  // jobs of queues whose objects are still there, the latest first
	Nodes     []status.Node // that have GPUs, and are seen
	// Whole: all nodes and all pods are seen, so what nobody holds is idle.
	Whole    bool
	hidden   bool // pods are not seen
	also     *object
	machines []machine
	Lacks    []string // what the user may not see, and what is not known for that, in sentences
}

// Look returns what the user may see now; what he may not see is in Lacks. The error is ErrForbidden if he may not list the pods of the
// namespace, and ErrNoKind if the cluster has no queues.
func (l *Looker) Look(ctx context.Context) (*Look, error) {
	l.remember()
	at := &Look{At: time.Now(), also: l.also}
	var err error
	if at.Queues, err = l.Queues(ctx); at.lacks(&err, "queues: their modes and policies are not known") != nil {
		return nil, err
	}
	if at.Plans, err = l.Plans(ctx); at.lacks(&err, "plans: when jobs start and end, and what would help them, is not known") != nil {
		return nil, err
	}
	c, err := l.cluster(ctx, l.Namespace)
	if errors.Is(err, ErrForbidden) && l.Namespace == "" && l.Fallback != "" {
		l.Namespace, l.narrowed = l.Fallback, true
		c, err = l.cluster(ctx, l.Namespace)
	}
	if errors.Is(err, ErrForbidden) && (at.Plans != nil || l.also != nil) {
		c, at.hidden = new(cluster), true
		err = at.lacks(&err, "pods: what runs is not known, and what is planned is shown")
	}
	if err != nil {
		return nil, err
	}
	at.narrow(l)
	for _, kind := range c.hidden {
		at.Lacks = append(at.Lacks, "You may not list "+kind+".")
	}
	if err := at.listNodes(ctx, l.Kubectl, c); err != nil {
		return nil, err
	}
	workloads, err := l.quotas(ctx, c, l.Namespace)
	if err != nil {
		return nil, err
	}
	at.fill(c, workloads)
	at.watch(c.policy.Resource)
	return at, nil
}

// lacks takes an error that says that the user may not list something for a fact.
func (at *Look) lacks(err *error, what string) error {
	if errors.Is(*err, ErrForbidden) {
		at.Lacks, *err = append(at.Lacks, "You may not list "+what+"."), nil
	}
	return *err
}

// narrow says what is not known for looking at one namespace alone.
func (at *Look) narrow(l *Looker) {
	switch at.Namespace = l.Namespace; {
	case l.narrowed:
		at.Lacks = append(at.Lacks, "You may not list the pods of all namespaces: only namespace "+l.Namespace+" is shown, and which GPUs are idle is not known.")
	case l.Namespace != "":
		at.Lacks = append(at.Lacks, "Only namespace "+l.Namespace+" was asked for: which GPUs are idle is not known.")
	}
}

// listNodes fills in the nodes, if all pods are seen.
func (at *Look) listNodes(ctx context.Context, k *Kubectl, c *cluster) error {
	if at.Namespace != "" || at.hidden {
		return nil
	}
	machines, err := list[machine](ctx, k, "nodes")
	if errors.Is(err, ErrForbidden) {
		return at.lacks(&err, "nodes: which GPUs are idle is not known")
	}
	if err != nil {
		return err
	}
	at.Nodes, at.Whole, at.machines = c.nodes(machines, at.Queues), true, machines
	return nil
}

// watch fills in what exists of queues of which nothing is written.
func (at *Look) watch(resource string) {
	for i := range at.Queues {
		if q := &at.Queues[i]; at.Whole && q.watches() {
			at.count(q)
			q.overlaps(at.machines, at.Queues, resource)
		}
	}
}

// quotas returns the Workloads of Kueue, if a job waits that may have one.
func (k *Kubectl) quotas(ctx context.Context, c *cluster, namespace string) ([]object, error) {
	if !slices.ContainsFunc(c.objects, func(o object) bool { return o.Spec.Suspend && o.Meta.Labels[kueueLabel] != "" && o.ended() == "" }) {
		return nil, nil
	}
	all, err := list[object](ctx, k, append([]string{workloads}, scope(namespace)...)...)
	if err != nil && unseen(err) {
		return nil, nil
	}
	return all, err
}

// Mode returns the mode of a queue; empty: it is not seen.
func (at *Look) Mode(queue string) string {
	for i := range at.Queues {
		if at.Queues[i].Meta.Name == queue {
			return at.Queues[i].Spec.Mode
		}
	}
	return ""
}

// Plan returns the plan of a queue; nil: it is not seen.
func (at *Look) Plan(queue string) *Plan {
	for i := range at.Plans {
		if at.Plans[i].Meta.Name == queue {
			return &at.Plans[i]
		}
	}
	return nil
}
