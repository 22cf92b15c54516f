package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/status"
	model "github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A liveJob is a job of a queue that has not ended.
type liveJob struct {
	status.Job
	names  []string
	made   time.Time
	plan   *Allocation
	object *object
}

func (at *Look) fill(c *cluster, workloads []object) {
	left := c.queued()
	if o := at.also; o != nil {
		if left[o.Meta.UID] = o; !slices.ContainsFunc(c.objects, func(l object) bool { return l.Meta.UID == o.Meta.UID }) {
			c.objects = append(c.objects, *o)
		}
	}
	for i := range at.Plans {
		p := &at.Plans[i]
		for k := range p.Spec.Allocations {
			a := &p.Spec.Allocations[k]
			o := left[a.UID]
			if at.Namespace != "" && a.Namespace != at.Namespace || o == nil && c.listed[a.Kind] || o != nil && o.ended() != "" {
				continue
			}
			delete(left, a.UID)
			at.add(c, liveJob{Job: status.Job{Queue: p.Meta.Name, UID: a.UID, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}, plan: a, object: o})
		}
	}
	for i := range c.objects {
		m := &c.objects[i].Meta
		switch o := left[m.UID]; {
		case o == nil:
		case o.ended() != "":
			at.Ended = append(at.Ended, o.end())
		default:
			at.add(c, liveJob{Job: status.Job{Queue: m.Labels[queueLabel], UID: m.UID, Kind: o.Kind, Namespace: m.Namespace, Name: m.Name}, object: o})
		}
	}
	slices.SortStableFunc(at.Jobs, func(a, b liveJob) int { return cmp.Compare(a.Queue, b.Queue) })
	slices.SortFunc(at.Ended, func(a, b status.Job) int { return cmp.Or(b.Finished.Compare(a.Finished), cmp.Compare(a.ID, b.ID)) })
	at.name()
	at.share(c)
	for i := range at.Jobs {
		at.complete(&at.Jobs[i], workloads)
	}
}

func (c *cluster) queued() map[string]*object {
	all := make(map[string]*object)
	for i := range c.objects {
		if o := &c.objects[i]; o.Meta.Labels[queueLabel] != "" && !o.part() {
			all[o.Meta.UID] = o
		}
	}
	return all
}

func (at *Look) add(c *cluster, s liveJob) {
	if s.Asked = "not known"; s.object != nil {
		s.Submitted, s.Asked = s.object.Meta.Created, s.object.asks(c.policy.Resource)
	}
	at.Jobs = append(at.Jobs, s)
}

func (at *Look) name() {
	count := make(map[job.ID]int)
	for i := range at.Jobs {
		s := &at.Jobs[i]
		s.ID = job.ID(s.Namespace + "/" + s.Name)
		count[s.ID]++
	}
	for i := range at.Jobs {
		if s := &at.Jobs[i]; count[s.ID] > 1 {
			s.ID = job.ID(s.Namespace + "/" + strings.ToLower(s.Kind) + "/" + s.Name)
		}
	}
}

func (at *Look) share(c *cluster) {
	jobs, nodes, names := make(map[string]*liveJob), make(map[string]*status.Node), c.names()
	for i := range at.Jobs {
		jobs[at.Jobs[i].UID] = &at.Jobs[i]
	}
	for i := range at.Nodes {
		nodes[at.Nodes[i].Name] = &at.Nodes[i]
	}
	for i := range c.pods {
		p := &c.pods[i]
		gpus := p.gpus(c.policy.Resource)
		if gpus == 0 || p.ended() {
			continue
		}
		holder := job.ID(c.nameOf(p, names))
		for _, uid := range c.owners(p) {
			if s := jobs[uid]; s != nil {
				holder = s.ID
				s.count(p, gpus)
			}
		}
		n := nodes[p.Spec.NodeName]
		if n == nil {
			continue
		}
		n.Used += gpus
		k, there := slices.BinarySearchFunc(n.Held, holder, func(h status.Holder, id job.ID) int { return cmp.Compare(h.Job, id) })
		if !there {
			n.Held = slices.Insert(n.Held, k, status.Holder{Job: holder})
		}
		n.Held[k].GPUs += gpus
	}
}

func (s *liveJob) count(p *pod, gpus int) {
	if s.Pods++; p.runs() {
		s.Ready++
	}
	if p.Meta.Created.After(s.made) {
		s.made = p.Meta.Created
	}
	if p.Spec.NodeName == "" {
		return
	}
	s.GPUs += gpus
	i, _ := slices.BinarySearch(s.names, p.Meta.Name)
	s.names = slices.Insert(s.names, i, p.Meta.Name)
	i, there := slices.BinarySearchFunc(s.Nodes, p.Spec.NodeName, func(s status.Share, name string) int { return cmp.Compare(s.Node, name) })
	if !there {
		s.Nodes = slices.Insert(s.Nodes, i, status.Share{Node: p.Spec.NodeName})
	}
	s.Nodes[i].GPUs += gpus
}

func (at *Look) complete(s *liveJob, workloads []object) {
	suspended := s.object != nil && s.object.Spec.Suspend
	switch {
	case at.hidden:
		s.Unseen = true
	case s.Pods == 0:
		s.Phase = job.Waiting.String()
	case suspended:
		s.Phase = "stopping"
	case s.Ready < s.Pods:
		s.Phase = "starting"
	default:
		s.Phase = job.Running.String()
	}
	if s.Since = s.made; s.Since.IsZero() && s.object != nil {
		s.Since = s.object.waits()
	}
	for i := range at.Nodes {
		if n := &at.Nodes[i]; len(s.Nodes) > 0 && n.Name == s.Nodes[len(s.Nodes)-1].Node {
			s.GPUType = n.Type
		}
	}
	why := at.why(s, workloads)
	s.Reason, s.Sentence = why.Reason, cmp.Or(why.Message, why.Reason)
	if s.plan != nil {
		at.planned(s, &why)
	}
}

func (at *Look) planned(s *liveJob, why *Reason) {
	s.Plan = &status.Plan{GPUs: s.plan.GPUs, GPUType: model.GPUType(s.plan.GPUType)}
	for _, n := range s.plan.Nodes {
		s.Plan.Nodes = append(s.Plan.Nodes, status.Share{Node: n.Name, GPUs: n.GPUs})
	}
	if p := at.Plan(s.Queue); p != nil {
		s.Plan.Round = p.Spec.Round
	}
	if s.GPUType == "" && s.GPUs == s.Plan.GPUs && slices.Equal(s.Nodes, s.Plan.Nodes) {
		s.GPUType = s.Plan.GPUType
	}
	recommended := at.Mode(s.Queue) == "Recommend"
	if recommended {
		s.Sentence = fmt.Sprintf("mode Recommend only shows the plan, which would give it %s: %s", gpus(strconv.Itoa(s.Plan.GPUs)), s.Sentence)
	}
	if !why.fromPlan() {
		return
	}
	s.Unblock = s.plan.Unblock
	if s.plan.ETA != nil && !recommended {
		s.End = expected(s.plan.ETA.End, at.At)
		if !s.Holds() {
			s.Start = expected(s.plan.ETA.Start, at.At)
		}
	}
}

// If a queue makes no plans, reasons from earlier plans are out of date.
func (at *Look) why(s *liveJob, workloads []object) Reason {
	best := at.published(s, workloads)
	if idle := at.idle(s.Queue); idle.Reason != "" && best.fromPlan() {
		return idle
	}
	if best.Reason != "" {
		return best
	}
	return at.unplanned()
}

func (at *Look) idle(queue string) Reason {
	for i := range at.Queues {
		q := &at.Queues[i]
		switch c := q.Condition("Active"); {
		case q.Meta.Name != queue:
		case q.Spec.Mode == "Observe":
			return Reason{Reason: "Observed", Message: "queue " + queue + " is in mode Observe: plans are not shown; use mode Recommend to show them"}
		case q.Spec.Mode == "Off":
			return Reason{Reason: "Off", Message: "queue " + queue + " is off (spec.mode)"}
		case c != nil && c.Status == "False":
			return Reason{Reason: c.Reason, Message: "queue " + queue + " makes no plans: " + c.Message, Since: c.Changed}
		}
	}
	return Reason{}
}

func (at *Look) published(s *liveJob, workloads []object) Reason {
	var found []Reason
	if s.object != nil {
		mode := at.Mode(s.Queue)
		found = append(found, s.condition(mode))
		if mode == "" && (at.Queues != nil && s.plan == nil || s.Queue == "") {
			found = append(found, noQueue(s.Queue))
		}
		if s.object.Spec.Suspend && s.object.Meta.Labels[kueueLabel] != "" {
			found = append(found, quotaOf(workloads, s.UID))
		}
	}
	if s.plan != nil {
		found = append(found, Reason{Reason: s.plan.Reason, Message: s.plan.Message})
	}
	return Dominant(found...)
}

func (o *object) end() status.Job {
	c, m := conditionOf(o.Status.Conditions, o.ended()), &o.Meta
	j := status.Job{
		ID: job.ID(m.Namespace + "/" + m.Name), Kind: o.Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID, Queue: m.Labels[queueLabel], Submitted: m.Created,
		Phase: job.Completed.String(), Outcome: "done", Finished: c.Changed,
	}
	if c.Type == "Failed" {
		j.Phase, j.Outcome, j.Detail = job.Failed.String(), "failed", c.Message
	}
	return j
}

func (o *object) waits() time.Time {
	since := o.Meta.Created
	if c := conditionOf(o.Status.Conditions, "Suspended"); c != nil && c.Status == "True" && c.Changed.After(since) {
		since = c.Changed
	}
	return since
}

func (o *object) asks(resource string) string {
	less, more := o.Meta.Annotations[minGPUs], o.Meta.Annotations[maxGPUs]
	switch {
	case less != "" && more != "" && less != more:
		return less + " to " + gpus(more)
	case less != "" && less == more:
		return gpus(less)
	case less != "":
		return "at least " + gpus(less)
	case more != "":
		return "at most " + gpus(more)
	}
	workers, each := o.workers(), o.Spec.Template.gpus(resource)
	if o.Kind != "Job" || workers == 0 || each == 0 {
		return "see its " + o.Kind
	}
	return gpus(strconv.Itoa(workers * each))
}

func gpus(n string) string {
	if n == "1" {
		return "1 GPU"
	}
	return n + " GPUs"
}

func (o *object) workers() int {
	var sized struct{ Asked, Granted struct{ Workers int } }
	if json.Unmarshal([]byte(o.Meta.Annotations[askedFor]), &sized) == nil && sized.Granted.Workers == o.Spec.Parallelism {
		return sized.Asked.Workers
	}
	return o.Spec.Parallelism
}
