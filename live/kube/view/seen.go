package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Seen is a job of a queue, as a Look has it.
type Seen struct {
	Job
	ID      string    // namespace/name; namespace/kind/name where several kinds have one of that name
	Asked   string    // what was submitted, in words
	Created time.Time // zero: not known
	Held    []Share   // of nodes that its pods are on, those that do not run yet among them
	Pods    []string  // that have GPUs on nodes, by name
	Why     Reason    // the dominant reason; the zero Reason: none is known
	object  *object   // nil: it is not seen
}

// An End is the end of a job.
type End struct {
	ID                           string // namespace/name
	Kind, Namespace, Name, Queue string
	At                           time.Time
	Failed                       bool
	Message                      string
}

// fill fills in the jobs of queues, and who has which GPU.
func (at *Look) fill(c *cluster, workloads []object) {
	observed, left := c.observed(), c.queued()
	if o := at.also; o != nil {
		if left[o.Meta.UID] = o; !slices.ContainsFunc(c.objects, func(l object) bool { return l.Meta.UID == o.Meta.UID }) {
			c.objects = append(c.objects, *o)
		}
	}
	for _, j := range Jobs(at.Plans, at.Namespace) {
		o := left[j.UID]
		delete(left, j.UID)
		if o == nil && c.listed[j.Kind] || o != nil && o.ended() != "" {
			continue // it has ended since the plan was made
		}
		at.add(c, j, o, observed[j.UID])
	}
	for i := range c.objects { // in their order
		if o := left[c.objects[i].Meta.UID]; o != nil && o.ended() == "" {
			at.add(c, Job{Queue: o.Meta.Labels[queueLabel], Allocation: Allocation{UID: o.Meta.UID, Kind: o.Kind, Namespace: o.Meta.Namespace, Name: o.Meta.Name}}, o, observed[o.Meta.UID])
		}
	}
	for _, o := range c.queued() {
		if o.ended() != "" {
			at.Ended = append(at.Ended, o.end())
		}
	}
	slices.SortStableFunc(at.Jobs, func(a, b Seen) int { return cmp.Compare(a.Queue, b.Queue) })
	slices.SortFunc(at.Ended, func(a, b End) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	at.name()
	at.share(c)
	for i := range at.Jobs {
		at.Jobs[i].Why = at.why(&at.Jobs[i], workloads)
	}
}

// queued returns the jobs of queues, by uid.
func (c *cluster) queued() map[string]*object {
	all := make(map[string]*object)
	for i := range c.objects {
		if o := &c.objects[i]; o.Meta.Labels[queueLabel] != "" && !o.part() {
			all[o.Meta.UID] = o
		}
	}
	return all
}

// add adds a job; o is nil if its object is not seen.
func (at *Look) add(c *cluster, j Job, o *object, seen *Observed) {
	s := Seen{Job: j, object: o}
	if !at.hidden {
		s.observe(o, seen)
	}
	if o != nil {
		s.Created, s.Asked = o.Meta.Created, o.asks(c.policy.Resource)
	}
	at.Jobs = append(at.Jobs, s)
}

// name gives each job an ID of its own.
func (at *Look) name() {
	count := make(map[string]int)
	for i := range at.Jobs {
		s := &at.Jobs[i]
		s.ID = s.Namespace + "/" + s.Name
		count[s.ID]++
	}
	for i := range at.Jobs {
		if s := &at.Jobs[i]; count[s.ID] > 1 {
			s.ID = s.Namespace + "/" + strings.ToLower(s.Kind) + "/" + s.Name
		}
	}
}

// share says of each node who has its GPUs, and of each job which GPUs it has.
func (at *Look) share(c *cluster) {
	jobs, nodes, names := make(map[string]*Seen), make(map[string]*Node), c.names()
	for i := range at.Jobs {
		jobs[at.Jobs[i].UID] = &at.Jobs[i]
	}
	for i := range at.Nodes {
		nodes[at.Nodes[i].Name] = &at.Nodes[i]
	}
	for i := range c.pods {
		p := &c.pods[i]
		gpus := p.gpus(c.policy.Resource)
		if gpus == 0 || p.ended() || p.Spec.NodeName == "" {
			continue
		}
		holder := c.nameOf(p, names)
		for _, uid := range c.owners(p) {
			if s := jobs[uid]; s != nil {
				holder, s.Held = s.ID, added(s.Held, p.Spec.NodeName, gpus)
				s.Pods = append(s.Pods, p.Meta.Name)
			}
		}
		if n := nodes[p.Spec.NodeName]; n != nil {
			n.Held = added(n.Held, holder, gpus)
		}
	}
	for i := range at.Jobs {
		slices.Sort(at.Jobs[i].Pods)
	}
}

// added returns shares by name, with some more.
func added(all []Share, name string, gpus int) []Share {
	i, there := slices.BinarySearchFunc(all, name, func(s Share, name string) int { return cmp.Compare(s.Name, name) })
	if !there {
		all = slices.Insert(all, i, Share{Name: name})
	}
	all[i].GPUs += gpus
	return all
}

// why returns the dominant reason of a job.
func (at *Look) why(s *Seen, workloads []object) Reason {
	found := []Reason{{Reason: s.Allocation.Reason, Message: s.Message}}
	if s.object != nil {
		mode := at.Mode(s.Queue)
		all := []Reason{s.condition(mode)}
		if mode == "" && (at.Queues != nil && !s.Planned || s.Queue == "") {
			all = append(all, noQueue(s.Queue))
		}
		if s.object.Spec.Suspend && s.object.Meta.Labels[kueueLabel] != "" {
			all = append(all, quotaOf(workloads, s.UID))
		}
		found = append(all, found...)
	}
	if best := Dominant(found...); best.Reason != "" {
		return best
	}
	return at.unplanned(s)
}

// end returns how a job ended.
func (o *object) end() End {
	c := conditionOf(o.Status.Conditions, o.ended())
	return End{ID: o.Meta.Namespace + "/" + o.Meta.Name, Kind: o.Kind, Namespace: o.Meta.Namespace, Name: o.Meta.Name, Queue: o.Meta.Labels[queueLabel], At: c.Changed, Failed: c.Type == "Failed", Message: c.Message}
}

// asks returns what somebody submitted, in words: how many GPUs, where the object says so.
func (o *object) asks(resource string) string {
	less, more := o.Meta.Annotations[minGPUs], o.Meta.Annotations[maxGPUs]
	switch {
	case less != "" && more != "" && less != more:
		return less + " to " + more + " GPUs"
	case less != "" && less == more:
		return less + " GPUs"
	case less != "":
		return "at least " + less + " GPUs"
	case more != "":
		return "at most " + more + " GPUs"
	}
	workers, each := o.workers(), o.Spec.Template.gpus(resource)
	if o.Kind != "Job" || workers == 0 || each == 0 {
		return "as its " + o.Kind + " says"
	}
	return fmt.Sprintf("%d GPUs", workers*each)
}

// workers returns how many a Job had before the scheduler sized it.
func (o *object) workers() int {
	var sized struct{ Asked, Granted struct{ Workers int } }
	if json.Unmarshal([]byte(o.Meta.Annotations[askedFor]), &sized) == nil && sized.Granted.Workers == o.Spec.Parallelism {
		return sized.Asked.Workers
	}
	return o.Spec.Parallelism
}
