package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/status"
	model "github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// clock is how times are written.
const clock = "2006-01-02 15:04:05 UTC"

// mostEnded bounds how many ends a Status has.
const mostEnded = 20

// Status returns what was seen.
func (at *Look) Status(title string) *status.Status {
	s := &status.Status{Backend: status.Kubernetes, Title: title, At: at.At, Policy: at.policies(), Notes: at.Lacks, Nodes: at.nodes(), GPUs: at.gpus()}
	for i := range at.Queues {
		q := at.queue(&at.Queues[i])
		if q.Active != "" && q.Active != "True" && q.Mode != "Off" {
			s.Attention = append(s.Attention, "queue "+q.Name+": "+q.Message)
		}
		s.Queues = append(s.Queues, q)
	}
	for i := range at.Jobs {
		s.Jobs = append(s.Jobs, at.job(&at.Jobs[i]))
	}
	for _, e := range at.Ended[:min(len(at.Ended), mostEnded)] {
		end := status.Job{ID: job.ID(e.ID), Name: e.Name, Kind: e.Kind, Namespace: e.Namespace, Queue: e.Queue, Phase: job.Completed.String(), Outcome: "done", Finished: e.At}
		if e.Failed {
			end.Phase, end.Outcome, end.Detail = job.Failed.String(), "failed", e.Message
		}
		s.Ended = append(s.Ended, end)
	}
	s.Fill()
	return s
}

// policies returns the policy of each queue, its mode, and of when its plan is: all that is shown of decisions is as old.
func (at *Look) policies() string {
	var all []string
	for i := range at.Queues {
		q := &at.Queues[i]
		text := fmt.Sprintf("%s (queue %s, mode %s", q.Spec.Policy.Name, q.Meta.Name, q.Spec.Mode)
		if p := at.Plan(q.Meta.Name); p != nil && p.Spec.Time != nil {
			text += fmt.Sprintf(", round %d of %s", p.Spec.Round, p.Spec.Time.UTC().Format(clock))
		}
		all = append(all, text+")")
	}
	return cmp.Or(strings.Join(all, "; "), "not known")
}

// queue returns a queue, and what its last plan says of all its jobs.
func (at *Look) queue(q *Queue) status.Queue {
	s := &q.Status
	v := status.Queue{
		Name: q.Meta.Name, Mode: q.Spec.Mode, Policy: q.Spec.Policy.Name, Unseen: q.watches() && !at.Whole,
		Running: s.Running, Waiting: s.Waiting, GPUs: s.GPUs, Held: s.GPUsUsed,
	}
	if c := q.Condition("Active"); c != nil {
		v.Active, v.Message = c.Status, c.Message
	}
	for _, n := range q.Spec.Namespaces {
		v.Namespaces = append(v.Namespaces, n.Name)
	}
	if p := at.Plan(v.Name); p != nil {
		v.Round = p.Spec.Round
		if p.Spec.Time != nil {
			v.Planned = *p.Spec.Time
		}
		for _, price := range p.Spec.Prices {
			v.Prices = append(v.Prices, status.Price{Type: model.GPUType(price.GPUType), Price: float64(price.Milli) / 1000})
		}
	}
	return v
}

// nodes returns the nodes. Where not all pods are seen, these are the ones that jobs are on.
func (at *Look) nodes() (all []status.Node) {
	if at.Whole {
		for i := range at.Nodes {
			n := &at.Nodes[i]
			v := status.Node{Name: n.Name, Queue: n.Queue, Type: model.GPUType(n.GPUType), GPUs: max(n.GPUs, n.Used), Used: n.Used, Closed: n.Closed}
			if n.Queue == "" {
				v.Closed = strings.TrimPrefix(v.Closed+", of no queue", ", ")
			}
			for _, h := range n.Held {
				v.Held = append(v.Held, status.Holder{Job: job.ID(h.Name), GPUs: h.GPUs})
			}
			all = append(all, v)
		}
		return all
	}
	where := make(map[string]int)
	for i := range at.Jobs {
		s := &at.Jobs[i]
		for _, h := range at.where(s) {
			n, there := where[h.Name]
			if !there {
				n, where[h.Name] = len(all), len(all)
				all = append(all, status.Node{Name: h.Name, Queue: s.Queue, Type: model.GPUType(s.GPUType)})
			}
			all[n].Used += h.GPUs
			all[n].Held = append(all[n].Held, status.Holder{Job: job.ID(s.ID), GPUs: h.GPUs})
		}
	}
	slices.SortFunc(all, func(a, b status.Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// where returns what a job has of nodes or, if pods are not seen, is planned to have.
func (at *Look) where(s *Seen) []Share {
	if at.hidden {
		return s.Allocation.Nodes
	}
	return s.Held
}

// gpus counts the GPUs of each queue by type. Nothing is known where not all pods are seen.
func (at *Look) gpus() (all []status.GPUs) {
	for i := range at.Nodes {
		n := &at.Nodes[i]
		if n.Queue == "" {
			continue
		}
		kind := model.GPUType(n.GPUType)
		k := slices.IndexFunc(all, func(g status.GPUs) bool { return g.Queue == n.Queue && g.Type == kind })
		if k < 0 {
			k, all = len(all), append(all, status.GPUs{Queue: n.Queue, Type: kind})
		}
		all[k].Total, all[k].Held = all[k].Total+max(n.GPUs, n.Used), all[k].Held+n.Used
		if n.Closed != "" {
			all[k].Unusable += n.Idle()
		}
	}
	return all
}

// phases are the states of a Job in the words of a Status.
var phases = map[string]string{"waits": "waiting", "starts": "starting", "runs": "running", "stops": "stopping"}

// job returns a job: what exists of it, and what the plan says of it.
func (at *Look) job(s *Seen) status.Job {
	j := status.Job{
		ID: job.ID(s.ID), Name: s.Name, Kind: s.Kind, Namespace: s.Namespace, UID: s.UID, Queue: s.Queue, Phase: phases[s.State], Unseen: at.hidden || s.Observed == nil,
		Asked: cmp.Or(s.Asked, "not known"), Submitted: s.Created, Since: s.since(), Reason: s.Why.Reason, Sentence: at.sentence(s), Nodes: placementOf(s.Held),
	}
	for _, share := range s.Held {
		j.GPUs += share.GPUs
		for i := range at.Nodes {
			if n := &at.Nodes[i]; n.Name == share.Name && n.GPUType != "" {
				j.GPUType = model.GPUType(n.GPUType)
			}
		}
	}
	if s.Observed != nil {
		j.Pods, j.Ready = s.Observed.Pods, s.Observed.Ready
	}
	if j.Unseen {
		j.Phase = ""
	}
	if s.Planned {
		j.Plan = &status.Plan{GPUs: s.GPUs, GPUType: model.GPUType(s.GPUType), Nodes: placementOf(s.Allocation.Nodes)}
		if p := at.Plan(s.Queue); p != nil {
			j.Plan.Round = p.Spec.Round
		}
		if j.GPUType == "" && j.GPUs == j.Plan.GPUs && slices.Equal(j.Nodes, j.Plan.Nodes) {
			j.GPUType = j.Plan.GPUType
		}
	}
	if !s.Why.FromPlan() || !s.Planned {
		return j
	}
	j.Unblock = s.Unblock
	if s.ETA != nil && at.Mode(s.Queue) != "Recommend" {
		j.End = expected(s.ETA.End, at.At)
		if !j.Holds() {
			j.Start = expected(s.ETA.Start, at.At)
		}
	}
	return j
}

func placementOf(all []Share) (to []status.Share) {
	for _, s := range all {
		to = append(to, status.Share{Node: s.Name, GPUs: s.GPUs})
	}
	return to
}

// since returns from when on a job has been as it is: one with pods since the last of them was made; zero: not known.
func (s *Seen) since() time.Time {
	all := []time.Time{s.Since, {}, s.Created}
	if s.Observed != nil {
		all[1] = s.Observed.Since
	}
	for _, t := range all {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// sentence says why a job is as it is, and what is planned where that is something else.
func (at *Look) sentence(s *Seen) string {
	why := cmp.Or(s.Why.Message, s.Why.Reason)
	if s.Planned && at.Mode(s.Queue) == "Recommend" {
		return fmt.Sprintf("planned: %d GPUs, which mode Recommend does not carry out: %s", s.GPUs, why)
	}
	return why
}

// probability is that of the ranges of a plan.
const probability = 0.8

// expected returns a range of a plan; one that is over says so. What the plan leaves open is not filled in.
func expected(r *Range, now time.Time) (e status.Range) {
	switch {
	case r == nil || r.Earliest == nil && r.Latest == nil:
		return e
	case r.Latest != nil && r.Latest.Before(now):
		return status.Range{Unknown: "the plan expected it by " + r.Latest.UTC().Format(clock)}
	}
	for _, p := range []struct {
		to   *time.Time
		from *time.Time
	}{{&e.Early, r.Earliest}, {&e.Likely, r.Likely}, {&e.Late, r.Latest}} {
		if p.from != nil {
			*p.to = *p.from
		}
	}
	e.Probability = probability
	return e
}

// Status returns the jobs of a plan, as it has them.
func (p *Plan) Status() *status.Status {
	at := &Look{At: time.Now(), Plans: []Plan{*p}}
	for _, j := range Jobs(at.Plans, "") {
		at.Jobs = append(at.Jobs, Seen{Job: j, Why: Reason{Reason: j.Reason, Message: j.Message}})
	}
	return at.Status(p.Meta.Name)
}
