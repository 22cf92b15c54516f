package observe

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

func (ob *Observer) locate(s *Observation) {
	before := ob.nodes
	ob.nodes = make(map[string][]cluster.NodeID)
	for i := range s.Jobs {
		if f := &s.Jobs[i]; len(f.Parsed.Roles) > 0 && f.Parsed.Spec != nil && f.Parsed.Ended == nil {
			f.Types, f.Nowhere = ob.typesFor(s, f.Parsed)
			f.Parts = ob.partsFor(s, f.Parsed, before)
		}
	}
}

// partsFor returns which of a job's GPUs may be on which nodes. It returns nil if the GPU types say the same: if the
// pods of each role may use all nodes of a type, or none.
func (ob *Observer) partsFor(s *Observation, j *jobadapter.Job, before map[string][]cluster.NodeID) (all []job.Part) {
	rest, some := j.Spec.GPUs, false
	for i := range j.Roles {
		r := &j.Roles[i]
		if r.GPUs == 0 || len(r.Spec.NodeSelector) == 0 && r.Spec.Affinity == nil {
			continue
		}
		nodes := ob.nodesFor(s, r, before)
		some = some || !wholeTypes(s, nodes)
		part := job.Part{GPUs: r.Pods * r.GPUs, Nodes: nodes}
		if allWorkers(j, r) {
			part.GPUs = 0
			rest = 0
		}
		all, rest = append(all, part), rest-part.GPUs
	}
	switch {
	case !some:
		return nil
	case rest > 0:
		all = append(all, job.Part{GPUs: rest, Nodes: ob.nodesFor(s, &jobadapter.Role{Key: "any"}, before)})
	}
	return all
}

// nodesFor returns the nodes of the queue that accept a role, ascending. If the nodes have not changed since the last
// observation, it returns the same slice.
func (ob *Observer) nodesFor(s *Observation, r *jobadapter.Role, before map[string][]cluster.NodeID) (nodes []cluster.NodeID) {
	if known, there := ob.nodes[r.Key]; there {
		return known
	}
	for i := range s.Whole {
		if ob.accepts(s, r, s.Whole[i].ID) {
			nodes = append(nodes, s.Whole[i].ID)
		}
	}
	slices.Sort(nodes)
	if same := before[r.Key]; len(same) > 0 && slices.Equal(same, nodes) {
		nodes = same
	}
	if r.Key != "" {
		ob.nodes[r.Key] = nodes
	}
	return nodes
}

func wholeTypes(s *Observation, nodes []cluster.NodeID) bool {
	with, without := make(map[cluster.GPUType]bool), make(map[cluster.GPUType]bool)
	for i := range s.Whole {
		n := &s.Whole[i]
		if _, found := slices.BinarySearch(nodes, n.ID); found {
			with[n.GPUType] = true
		} else {
			without[n.GPUType] = true
		}
		if with[n.GPUType] && without[n.GPUType] {
			return false
		}
	}
	return true
}

// nil types: all. why is for users: there are none, or a role without GPUs has no node.
func (ob *Observer) typesFor(s *Observation, j *jobadapter.Job) (types []cluster.GPUType, why string) {
	all := slices.DeleteFunc(typesOf(s.Whole), func(t cluster.GPUType) bool { return !j.Spec.Eligible(t) })
	if len(all) == 0 {
		return nil, "" // a matter of the policy
	}
	fit := all
	for i := range j.Roles {
		r := &j.Roles[i]
		if r.GPUs == 0 {
			if !slices.ContainsFunc(s.Objects, func(n *corev1.Node) bool { return ob.options.Nodes.Accepts(&r.Spec, n) }) {
				return nil, "no node accepts " + r.String()
			}
			continue
		}
		need := r.Pods
		if allWorkers(j, r) {
			need = max(1, j.Spec.MinGPUs/r.GPUs)
		}
		if r.Apart {
			fit = slices.DeleteFunc(slices.Clone(fit), func(t cluster.GPUType) bool { return holdsTwo(s, r, t) })
		}
		if len(fit) == 0 {
			return nil, fmt.Sprintf("a node has room for several pods, and a plan would put them there (%s): request all GPUs of a node for each pod, or remove the rule", r)
		}
		before := fit
		fit = slices.DeleteFunc(slices.Clone(fit), func(t cluster.GPUType) bool { return ob.room(s, r, t) < need && !ob.grows(s, t) })
		if len(fit) == 0 {
			return nil, fmt.Sprintf("the nodes of this queue have room for %s, want %d (%s)", ob.most(s, r, before), need, r)
		}
	}
	if len(fit) == len(all) {
		return nil, ""
	}
	return fit, ""
}

func allWorkers(j *jobadapter.Job, r *jobadapter.Role) bool {
	return r.Name == "" || r.Pods == j.Workers
}

func (ob *Observer) grows(s *Observation, t cluster.GPUType) bool {
	return slices.ContainsFunc(ob.options.Queue.Spec.NodeGroups, func(g v1alpha1.NodeGroup) bool { return g.GPUType == string(t) }) ||
		slices.ContainsFunc(s.Lender.Servers, func(n inventory.Server) bool { return n.GPUType == t })
}

func typesOf(nodes []cluster.Node) []cluster.GPUType {
	var all []cluster.GPUType
	for i := range nodes {
		if !slices.Contains(all, nodes[i].GPUType) {
			all = append(all, nodes[i].GPUType)
		}
	}
	return all
}

func (ob *Observer) most(s *Observation, r *jobadapter.Role, types []cluster.GPUType) string {
	n := 0
	for _, t := range types {
		n = max(n, ob.room(s, r, t))
	}
	return printable.Count(n, "pod")
}

func (ob *Observer) room(s *Observation, r *jobadapter.Role, t cluster.GPUType) (n int) {
	for i := range s.Whole {
		if one := &s.Whole[i]; one.GPUType == t && ob.accepts(s, r, one.ID) {
			n += one.Capacity.GPUs / r.GPUs
		}
	}
	return n
}

func holdsTwo(s *Observation, r *jobadapter.Role, t cluster.GPUType) bool {
	return slices.ContainsFunc(s.Whole, func(n cluster.Node) bool { return n.GPUType == t && n.Capacity.GPUs >= 2*r.GPUs })
}

func (ob *Observer) accepts(s *Observation, r *jobadapter.Role, node cluster.NodeID) bool {
	n := s.Object(string(node))
	return n != nil && ob.options.Nodes.Accepts(&r.Spec, n)
}

// Fits returns an error for users if kube-scheduler cannot bind the job's pods to the planned nodes. Roles with the
// fewest possible nodes choose first.
func (ob *Observer) Fits(s *Observation, j *jobadapter.Job, p cluster.Placement) error {
	left := make(map[cluster.NodeID]int, len(p))
	total := 0
	for _, share := range p {
		left[share.Node] += share.GPUs / max(1, j.PerWorker.GPUs)
		total += share.GPUs / max(1, j.PerWorker.GPUs)
	}
	var roles []choice
	for i := range j.Roles {
		r, pods := &j.Roles[i], j.Roles[i].Pods
		if allWorkers(j, r) {
			pods = total // of the planned size
		}
		if r.GPUs > 0 {
			roles = append(roles, choice{r, ob.possible(s, r, p), pods})
		}
	}
	slices.SortStableFunc(roles, func(a, b choice) int { return cmp.Compare(len(a.nodes), len(b.nodes)) })
	for _, r := range roles {
		if r.take(left) > 0 {
			return fmt.Errorf("kube-scheduler would not accept the planned nodes for %s", r.role)
		}
	}
	return nil
}

type choice struct {
	role  *jobadapter.Role
	nodes []cluster.NodeID
	pods  int
}

func (c *choice) take(left map[cluster.NodeID]int) int {
	pods := c.pods
	for _, n := range c.nodes {
		k := min(left[n], pods)
		if c.role.Apart {
			k = min(k, 1)
		}
		left[n] -= k
		pods -= k
	}
	return pods
}

func (ob *Observer) possible(s *Observation, r *jobadapter.Role, p cluster.Placement) []cluster.NodeID {
	var all []cluster.NodeID
	for _, share := range p {
		if !slices.Contains(all, share.Node) && ob.accepts(s, r, share.Node) {
			all = append(all, share.Node)
		}
	}
	return all
}

// Object returns the node called name, or nil. It must not be changed.
func (s *Observation) Object(name string) *corev1.Node {
	i, there := slices.BinarySearchFunc(s.Objects, name, func(n *corev1.Node, name string) int { return cmp.Compare(n.Name, name) })
	if !there {
		return nil
	}
	return s.Objects[i]
}
