package view

import (
	"cmp"
	"slices"
	"strings"
)

// A Node is a node with GPUs, and who has them.
type Node struct {
	Name    string
	Queue   string // that selects it; of several the oldest
	GPUType string
	GPUs    int     // that pods may ask for
	Used    int     // by pods
	Held    []Share // by the name that a Look has for each holder
	Closed  string  // why no pods come to it: "cordoned", "not ready"; empty: they do
}

// Idle returns the GPUs of a node that nobody has.
func (n *Node) Idle() int { return max(0, n.GPUs-n.Used) }

// A machine is what is read of a node's object.
type machine struct {
	Meta Meta `json:"metadata"`
	Spec struct {
		Unschedulable bool `json:"unschedulable"`
	} `json:"spec"`
	Status struct {
		Allocatable map[string]string `json:"allocatable"`
		Conditions  []Condition       `json:"conditions"`
	} `json:"status"`
}

// closed says why no pods come to a node; empty: they do.
func (m *machine) closed() string {
	switch ready := conditionOf(m.Status.Conditions, "Ready"); {
	case ready != nil && ready.Status != "True":
		return "not ready"
	case m.Spec.Unschedulable:
		return "cordoned"
	}
	return ""
}

// selects reports whether a node has all the labels of a queue's selector, and whole GPUs.
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

// shared reports whether what a node offers as GPUs are shares of them: no queue uses these.
func (m *machine) shared() bool {
	how := m.Meta.Labels["nvidia.com/gpu.sharing-strategy"]
	return whole(m.Meta.Labels["nvidia.com/gpu.replicas"]) > 1 || how == "time-slicing" || how == "mps"
}

// byAge orders queues: where two select a node, it is of the older one.
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

// nodes returns those with GPUs, and who has them.
func (c *cluster) nodes(machines []machine, queues []Queue) []Node {
	at := make(map[string]*Node)
	for i := range machines {
		m := &machines[i]
		gpus := whole(m.Status.Allocatable[c.policy.Resource])
		if gpus == 0 {
			continue
		}
		n := &Node{Name: m.Meta.Name, GPUs: gpus, GPUType: c.policy.typeOf(m), Closed: m.closed()}
		if i := slices.IndexFunc(byAge(queues), func(q *Queue) bool { return q.Spec.Mode != "Off" && q.selects(m) }); i >= 0 {
			n.Queue = byAge(queues)[i].Meta.Name
		}
		at[m.Meta.Name] = n
	}
	for i := range c.pods {
		p := &c.pods[i]
		if n := at[p.Spec.NodeName]; n != nil && !p.ended() {
			n.Used += p.gpus(c.policy.Resource)
		}
	}
	all := make([]Node, 0, len(at))
	for _, n := range at {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// names returns namespace/name of every job, by uid.
func (c *cluster) names() map[string]string {
	all := make(map[string]string, len(c.objects))
	for i := range c.objects {
		m := &c.objects[i].Meta
		all[m.UID] = m.Namespace + "/" + m.Name
	}
	return all
}

// nameOf returns the name of the job that a pod is of, the outermost; that of the pod if it is of none.
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

// typeOf returns the type of a node's GPUs; empty: no label says it.
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

// watches reports whether nothing is written of a queue.
func (q *Queue) watches() bool { return q.Spec.Mode == "Observe" || q.Spec.Mode == "Off" }

// count fills in the status of a queue by what exists.
func (c *cluster) count(q *Queue, nodes []Node, observed map[string]*Observed) {
	s := &q.Status
	s.Running, s.Waiting, s.GPUs, s.GPUsUsed = 0, 0, 0, 0
	for i := range nodes {
		if nodes[i].Queue == q.Meta.Name {
			s.GPUs += nodes[i].GPUs
			s.GPUsUsed += nodes[i].Used
		}
	}
	for i := range c.objects {
		o := &c.objects[i]
		if o.Meta.Labels[queueLabel] != q.Meta.Name || o.part() || o.ended() != "" {
			continue
		}
		if seen := observed[o.Meta.UID]; seen != nil && seen.Ready > 0 && seen.Ready == seen.Pods {
			s.Running++
		} else {
			s.Waiting++
		}
	}
}

// overlaps sets the condition of a queue that selects nodes with GPUs of an older one.
func (q *Queue) overlaps(machines []machine, queues []Queue, resource string) {
	for _, older := range byAge(queues) {
		if older.Meta.Name == q.Meta.Name {
			return
		}
		for i := range machines {
			m := &machines[i]
			if older.Spec.Mode == "Off" || whole(m.Status.Allocatable[resource]) == 0 || !q.selects(m) || !older.selects(m) {
				continue
			}
			q.Status.Conditions = []Condition{{
				Type: "Active", Status: "False", Reason: "Overlaps",
				Message: "node " + m.Meta.Name + " is one of queue " + older.Meta.Name + ", too, which is older: want another spec.nodeSelector",
			}}
			return
		}
	}
}
