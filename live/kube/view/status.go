package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/status"
	model "github.com/oxgang/oxgang/model/cluster"
)

const clock = "2006-01-02 15:04:05 UTC"

const mostEnded = 20

// Status returns the state of the cluster as a document for tables and pages.
func (at *Look) Status(title string) *status.Status {
	s := &status.Status{Backend: status.Kubernetes, Title: title, At: at.At, Policy: at.policies(), Notes: at.Lacks, Nodes: at.nodes(), GPUs: at.gpus(), SilentSince: at.Silent}
	for i := range at.Queues {
		q := at.queue(&at.Queues[i])
		if q.Active != "" && q.Active != "True" && q.Mode != "Off" {
			s.Attention = append(s.Attention, "queue "+q.Name+": "+q.Message)
		}
		s.Queues = append(s.Queues, q)
	}
	for i := range at.Jobs {
		s.Jobs = append(s.Jobs, at.Jobs[i].Job)
	}
	s.Ended = at.Ended[:min(len(at.Ended), mostEnded)]
	s.Fill()
	return s
}

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

func (at *Look) nodes() (all []status.Node) {
	if at.Whole {
		all = slices.Clone(at.Nodes)
		for i := range all {
			n := &all[i]
			if n.GPUs = max(n.GPUs, n.Used); n.Queue == "" {
				n.Closed = strings.TrimPrefix(n.Closed+", in no queue", ", ")
			}
		}
		return all
	}
	where := make(map[string]int)
	for i := range at.Jobs {
		s := &at.Jobs[i]
		nodes, kind := s.Nodes, s.GPUType
		if at.hidden && s.Plan != nil {
			nodes, kind = s.Plan.Nodes, s.Plan.GPUType
		}
		for _, h := range nodes {
			n, there := where[h.Node]
			if !there {
				n, where[h.Node] = len(all), len(all)
				all = append(all, status.Node{Name: h.Node, Queue: s.Queue, Type: kind})
			}
			all[n].Used += h.GPUs
			all[n].Held = append(all[n].Held, status.Holder{Job: s.ID, GPUs: h.GPUs})
		}
	}
	slices.SortFunc(all, func(a, b status.Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (at *Look) gpus() (all []status.GPUs) {
	for i := range at.Nodes {
		n := &at.Nodes[i]
		if n.Queue == "" {
			continue
		}
		k := slices.IndexFunc(all, func(g status.GPUs) bool { return g.Queue == n.Queue && g.Type == n.Type })
		if k < 0 {
			k, all = len(all), append(all, status.GPUs{Queue: n.Queue, Type: n.Type})
		}
		all[k].Total, all[k].Held = all[k].Total+max(n.GPUs, n.Used), all[k].Held+n.Used
		if n.Closed != "" {
			all[k].Unusable += max(0, n.GPUs-n.Used)
		}
	}
	return all
}

const probability = 0.8

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

// Status returns the plan's jobs as a document for tables and pages.
func (p *Plan) Status() *status.Status {
	at := &Look{At: time.Now(), Plans: []Plan{*p}, hidden: true}
	at.fill(new(cluster), nil)
	return at.Status(p.Meta.Name)
}
