package view

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/status"
)

// A Looker reads the state of a cluster, with the user's rights.
type Looker struct {
	*Kubectl
	// Namespace is the only one to read; empty: all.
	Namespace string
	// Fallback is read instead if the user may not list all pods; empty: an error.
	Fallback string
	narrowed bool
	also     *object // nil: none
}

// A Look is what the user may see of a cluster at one time.
type Look struct {
	At        time.Time
	Namespace string // empty: all
	Queues    []Queue
	Plans     []Plan
	Jobs      []liveJob     // by queue, then in plan order
	Ended     []status.Job  // latest first
	Nodes     []status.Node // visible nodes with GPUs
	// Whole is true if all nodes and pods are visible.
	Whole    bool
	hidden   bool // pods are not visible
	also     *object
	machines []machine
	Lacks    []string // sentences on what the user may not read
	// Silent is status.Status.SilentSince.
	Silent time.Time
}

// Look reads the cluster. It returns ErrForbidden if the user may not list the pods, and ErrNoKind if the cluster lacks
// Oxgang's queues.
func (l *Looker) Look(ctx context.Context) (*Look, error) {
	if l.absent == nil {
		l.absent = make(map[string]time.Time)
	}
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
		err = at.lacks(&err, "pods: planned jobs are shown; what runs is not known")
	}
	if err != nil {
		return nil, err
	}
	at.narrow(l)
	for _, kind := range c.hidden {
		at.Lacks = append(at.Lacks, "You may not list "+kind+".")
	}
	if err := errors.Join(at.listNodes(ctx, l.Kubectl, c), at.listen(ctx, l.Kubectl)); err != nil {
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

func (at *Look) lacks(err *error, what string) error {
	if errors.Is(*err, ErrForbidden) {
		at.Lacks, *err = append(at.Lacks, "You may not list "+what+"."), nil
	}
	return *err
}

func (at *Look) narrow(l *Looker) {
	switch at.Namespace = l.Namespace; {
	case l.narrowed:
		at.Lacks = append(at.Lacks, "You may not list the pods of all namespaces: only namespace "+l.Namespace+" is shown, so idle GPUs are not known.")
	case l.Namespace != "":
		at.Lacks = append(at.Lacks, "Only namespace "+l.Namespace+" is shown, so idle GPUs are not known.")
	}
}

func (at *Look) listNodes(ctx context.Context, k *Kubectl, c *cluster) error {
	if at.Namespace != "" || at.hidden {
		return nil
	}
	machines, err := list[machine](ctx, k, "nodes")
	if errors.Is(err, ErrForbidden) {
		return at.lacks(&err, "nodes, so idle GPUs are not known")
	}
	if err != nil {
		return err
	}
	at.Nodes, at.Whole, at.machines = c.nodes(machines, at.Queues), true, machines
	return nil
}

func (at *Look) watch(resource string) {
	for i := range at.Queues {
		if q := &at.Queues[i]; at.Whole && q.watches() {
			at.count(q)
			q.overlaps(at.machines, at.Queues, resource)
		}
	}
}

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

// Mode returns the mode of a queue, or "" if it is not visible.
func (at *Look) Mode(queue string) string {
	for i := range at.Queues {
		if at.Queues[i].Meta.Name == queue {
			return at.Queues[i].Spec.Mode
		}
	}
	return ""
}

// Plan returns the plan of a queue, or nil if it is not visible.
func (at *Look) Plan(queue string) *Plan {
	for i := range at.Plans {
		if at.Plans[i].Meta.Name == queue {
			return &at.Plans[i]
		}
	}
	return nil
}
