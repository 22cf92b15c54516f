// Package inventory reads the nodes of a Kubernetes cluster as what jobs may be placed on.
package inventory

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// Options say which nodes a queue may use, and how GPUs are called.
type Options struct {
	GPUResource string              // that GPUs are requested as
	TypeLabels  []string            // node labels that name their type; the first that a node has counts
	Names       map[string]string   // of values of these labels, where they have others
	Selector    map[string]string   // labels of the queue's nodes; empty: all nodes
	Lender      map[string]string   // labels of the nodes that a lender has; empty: there is none
	Queue       string              // that nodes are lent to; empty: any
	Tolerations []corev1.Toleration // of all pods of the queue's jobs
	// Groups are the nodes that are rented. Which of these are given back, the plan says: the
	// mark of Leave closes none of them.
	Groups []v1alpha1.NodeGroup
	Now    time.Time // when it is looked
}

// Patience is how long a node that is not Ready keeps the jobs that are on it: Kubernetes took
// its time already to notice, and most such nodes come back.
const Patience = 30 * time.Second

// Labels that the GPU operator and cloud providers set on nodes.
const (
	memoryLabel = "nvidia.com/gpu.memory" // of each GPU, MiB
	rackLabel   = "topology.kubernetes.io/rack"
	zoneLabel   = "topology.kubernetes.io/zone"
)

const (
	// untyped is the type of GPUs that no label names.
	untyped = cluster.GPUType("gpu")
	// mostMiB bounds what a node says of the memory of a GPU.
	mostMiB = 1 << 24
)

// Read returns the nodes with GPUs that a queue may use, by name: its own and those of its
// lender that say that they are lent to it, which are of tenure Loaned. None is going, and no
// taint keeps pods off, but that of a loan, those that Tolerations match, and that of the GPU
// resource, which pods with GPUs tolerate (the ExtendedResourceToleration plugin sees to that). Their capacity is
// what Kubernetes has to give there less what pods request that are bound, have not ended, and
// are not ours. A node that is closed, because it is cordoned, has a taint that keeps new pods
// off, or has not been Ready for less than Patience, has the GPUs that our pods are on, and no
// more: what runs there goes on. A node that is left without GPU, CPU or memory is left
// out. Read changes nothing, and takes time linear in nodes and pods.
func Read(nodes []*corev1.Node, all []*corev1.Pod, ours func(*corev1.Pod) bool, o *Options) []cluster.Node {
	gpu := corev1.ResourceName(o.GPUResource)
	taken, held := make(map[string]cluster.Resources), make(map[string]int)
	for _, p := range all {
		switch on := p.Spec.NodeName; {
		case on == "" || ended(p):
		case ours(p):
			held[on] += pods.Request(&p.Spec, gpu).GPUs
		default:
			taken[on] = pods.Sum(taken[on], pods.Request(&p.Spec, gpu))
		}
	}
	var found []cluster.Node
	for _, n := range nodes {
		if !o.mine(n) || !o.usable(n) {
			continue
		}
		has := pods.List(n.Status.Allocatable, gpu)
		if o.closed(n) {
			has.GPUs = min(has.GPUs, held[n.Name]+taken[n.Name].GPUs)
		}
		if left, ok := less(has, taken[n.Name]); ok {
			found = append(found, o.node(n, left))
		}
	}
	slices.SortFunc(found, func(a, b cluster.Node) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return found
}

// ended reports whether a pod takes nothing any more.
func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// mine reports whether a node is one of the queue's own, or says that it is lent to it.
func (o *Options) mine(n *corev1.Node) bool {
	to, lent := n.Labels[v1alpha1.LoanLabel]
	if o.lenders(n) {
		return lent && to == o.Queue
	}
	return Selects(o.Selector, n) && (!lent || o.Queue == "" || to == o.Queue)
}

// lenders reports whether a node is the lender's, lent or not.
func (o *Options) lenders(n *corev1.Node) bool { return len(o.Lender) > 0 && Selects(o.Lender, n) }

// Selects reports whether a node has all the labels of a selector.
func Selects(selector map[string]string, n *corev1.Node) bool {
	for k, v := range selector {
		if got, ok := n.Labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// usable reports whether pods of the queue may be on a node.
func (o *Options) usable(n *corev1.Node) bool {
	if ready, since := ready(n); n.DeletionTimestamp != nil || !ready && o.Now.Sub(since) >= Patience {
		return false
	}
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable && o.keepsOff(&t)
	})
}

// closed reports whether no pod is to come to a usable node.
func (o *Options) closed(n *corev1.Node) bool {
	ready, _ := ready(n)
	return n.Spec.Unschedulable || !ready || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule && o.keepsOff(&t)
	})
}

// keepsOff reports whether a taint is one for pods of others.
func (o *Options) keepsOff(t *corev1.Taint) bool {
	if t.Key == v1alpha1.LoanTaint {
		return o.Queue != "" && t.Value != o.Queue
	}
	if isLeaving(*t) {
		return len(o.Groups) == 0
	}
	return t.Key != o.GPUResource && !slices.ContainsFunc(o.Tolerations, func(of corev1.Toleration) bool {
		return of.ToleratesTaint(logr.Discard(), t, false)
	})
}

// ready reports whether a node says that it is, and since when that is so.
func ready(n *corev1.Node) (bool, time.Time) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return false, time.Time{}
}

// less returns what is left of a node's resources, and whether a job could be there. A node
// that says nothing of CPUs or memory is not counted by them.
func less(all, taken cluster.Resources) (cluster.Resources, bool) {
	left := cluster.Resources{GPUs: all.GPUs - taken.GPUs}
	if all.CPUs == 0 || all.Memory == 0 {
		return left, left.GPUs > 0
	}
	left.CPUs = math.Round((all.CPUs-taken.CPUs)*1000) / 1000 // Kubernetes counts thousandths
	left.Memory = all.Memory - taken.Memory
	return left, left.GPUs > 0 && left.CPUs > 0 && left.Memory > 0
}

// node returns what a node is, with so much of it left.
func (o *Options) node(n *corev1.Node, left cluster.Resources) cluster.Node {
	one := cluster.Node{
		ID: cluster.NodeID(n.Name), GPUType: o.typeOf(n), GPUMemory: memory(n), Capacity: left,
		Rack: n.Labels[rackLabel],
	}
	if one.Rack == "" {
		one.Rack = n.Labels[zoneLabel]
	}
	if o.lenders(n) {
		one.Tenure, one.Group = cluster.Loaned, cluster.LoanGroup(one.GPUType, o.gpus(n))
	}
	o.let(&one, n)
	return one
}

// gpus returns how many GPUs a node has for pods.
func (o *Options) gpus(n *corev1.Node) int {
	return pods.List(n.Status.Allocatable, corev1.ResourceName(o.GPUResource)).GPUs
}

// typeOf returns the type of a node's GPUs.
func (o *Options) typeOf(n *corev1.Node) cluster.GPUType {
	for _, label := range o.TypeLabels {
		if value, ok := n.Labels[label]; ok {
			if t := pods.TypeName(value, o.Names); t != "" {
				return t
			}
			break
		}
	}
	return untyped
}

// memory returns the bytes of a GPU of a node; 0 if it does not say, or nonsense.
func memory(n *corev1.Node) int64 {
	mib, err := strconv.ParseInt(n.Labels[memoryLabel], 10, 64)
	if err != nil || mib < 1 || mib > mostMiB {
		return 0
	}
	return mib << 20
}
