package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/live/status"
	model "github.com/oxgang/oxgang/model/cluster"
)

type machine struct {
	Meta meta `json:"metadata"`
	Spec struct {
		Unschedulable bool `json:"unschedulable"`
	} `json:"spec"`
	Status struct {
		Allocatable map[string]string `json:"allocatable"`
		Conditions  []Condition       `json:"conditions"`
	} `json:"status"`
}

func (m *machine) closed() string {
	switch ready := conditionOf(m.Status.Conditions, "Ready"); {
	case ready != nil && ready.Status != "True":
		return "not ready"
	case m.Spec.Unschedulable:
		return "cordoned"
	}
	return ""
}

func (q *Queue) selects(m *machine) bool {
	if m.shared() {
		return false
	}
	for k, v := range q.Spec.NodeSelector {
		if got, there := m.Meta.Labels[k]; !there || got != v {
			return false
		}
	}
	return true
}

func (m *machine) shared() bool {
	how := m.Meta.Labels["nvidia.com/gpu.sharing-strategy"]
	return parseGPUs(m.Meta.Labels["nvidia.com/gpu.replicas"]) > 1 || how == "time-slicing" || how == "mps"
}

func byAge(queues []Queue) []*Queue {
	all := make([]*Queue, len(queues))
	for i := range queues {
		all[i] = &queues[i]
	}
	slices.SortStableFunc(all, func(a, b *Queue) int {
		return cmp.Or(a.Meta.Created.Compare(b.Meta.Created), cmp.Compare(a.Meta.Name, b.Meta.Name))
	})
	return all
}

func (c *cluster) nodes(machines []machine, queues []Queue) []status.Node {
	all, ordered := []status.Node{}, byAge(queues)
	for i := range machines {
		m := &machines[i]
		gpus := parseGPUs(m.Status.Allocatable[c.policy.Resource])
		if gpus == 0 {
			continue
		}
		n := status.Node{Name: m.Meta.Name, GPUs: gpus, Type: model.GPUType(c.policy.typeOf(m)), Closed: m.closed()}
		if i := slices.IndexFunc(ordered, func(q *Queue) bool { return q.Spec.Mode != "Off" && q.selects(m) }); i >= 0 {
			n.Queue = ordered[i].Meta.Name
		}
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b status.Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (c *cluster) names() map[string]string {
	all := make(map[string]string, len(c.objects))
	for i := range c.objects {
		m := &c.objects[i].Meta
		all[m.UID] = m.Namespace + "/" + m.Name
	}
	return all
}

func (c *cluster) nameOf(p *pod, names map[string]string) string {
	for _, uid := range slices.Backward(c.owners(p)) {
		if name := names[uid]; name != "" {
			return name
		}
	}
	if by := p.Meta.controller(); by.Name != "" {
		return p.Meta.Namespace + "/" + by.Name
	}
	return p.Meta.Namespace + "/" + p.Meta.Name
}

func (p *common) typeOf(m *machine) string {
	for _, label := range p.Labels {
		value, there := m.Meta.Labels[label]
		if !there {
			continue
		}
		for _, t := range p.Types {
			if t.Product == value {
				return t.Name
			}
		}
		return strings.ToLower(value)
	}
	return ""
}

func (q *Queue) watches() bool { return q.Spec.Mode == "Observe" || q.Spec.Mode == "Off" }

func (at *Look) count(q *Queue) {
	s := &q.Status
	s.Running, s.Waiting, s.GPUs, s.GPUsUsed = 0, 0, 0, 0
	for i := range at.Nodes {
		if n := &at.Nodes[i]; n.Queue == q.Meta.Name {
			s.GPUs, s.GPUsUsed = s.GPUs+n.GPUs, s.GPUsUsed+n.Used
		}
	}
	for i := range at.Jobs {
		switch j := &at.Jobs[i]; {
		case j.Queue != q.Meta.Name:
		case j.Ready > 0 && j.Ready == j.Pods:
			s.Running++
		default:
			s.Waiting++
		}
	}
}

func (q *Queue) overlaps(machines []machine, queues []Queue, resource string) {
	for _, older := range byAge(queues) {
		if older.Meta.Name == q.Meta.Name {
			return
		}
		for i := range machines {
			m := &machines[i]
			if older.Spec.Mode == "Off" || parseGPUs(m.Status.Allocatable[resource]) == 0 || !q.selects(m) || !older.selects(m) {
				continue
			}
			q.Status.Conditions = []Condition{{
				Type: "Active", Status: "False", Reason: "Overlaps",
				Message: "node " + m.Meta.Name + " also belongs to the older queue " + older.Meta.Name + ": change spec.nodeSelector",
			}}
			return
		}
	}
}
