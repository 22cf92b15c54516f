// Package inventory reads pods (their requests, nodes and GPU types), lists objects page by page, and converts
// Kubernetes nodes for the scheduler: nodes of a queue (Read), of a lender (Survey), and of rentable groups (Offer).
package inventory

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
)

// Options select a queue's nodes, and name their GPU types.
type Options struct {
	GPUResource string
	TypeLabels  []string          // the first on a node is used
	Names       map[string]string // label values to GPU types
	Selector    map[string]string // of the queue's nodes; empty: all nodes
	Lender      map[string]string // of the lender's nodes; empty: no lender
	Queue       string            // whose borrowed nodes to include; empty: any
	Tolerations []corev1.Toleration
	// Groups are the rentable groups. The plan decides which of their nodes leave, so the taint of Leave does not
	// close a node.
	Groups []v1alpha1.NodeGroup
	Now    time.Time
}

// patience is how long a node may be not Ready before its jobs count as lost.
const patience = 30 * time.Second

const (
	memoryLabel = "nvidia.com/gpu.memory" // MiB of each GPU
	rackLabel   = "topology.kubernetes.io/rack"
	zoneLabel   = "topology.kubernetes.io/zone"
	cliqueLabel = "nvidia.com/gpu.clique" // nodes of one NVLink network
	// How many pods share a GPU of the node, and how: none, time-slicing or mps.
	replicasLabel = "nvidia.com/gpu.replicas"
	productLabel  = "nvidia.com/gpu.product"
	countLabel    = "nvidia.com/gpu.count" // GPUs, or parts by MIG
	nvidia        = corev1.ResourceName("nvidia.com/gpu")
	sharingLabel  = "nvidia.com/gpu.sharing-strategy"
)

const (
	untyped = cluster.GPUType("gpu")
	mostMiB = 1 << 24
)

// Read returns the nodes with GPUs that a queue may use, sorted by name: its own nodes, and nodes lent to it, with
// tenure Loaned. ours reports whether a pod belongs to the queue.
//
// It omits nodes that are being deleted, have not been Ready for Patience, have a NoExecute taint that the queue's pods
// do not tolerate, or have nothing left. The pods tolerate the taint of a loan to the queue, taints in Tolerations, and
// the GPU resource's taint.
//
// The capacity is the allocatable resources minus the requests of live pods that are not ours. A node is closed if it
// is cordoned, not Ready, Shared, or has a NoSchedule taint. Its capacity is then only the GPUs that pods hold on it.
func Read(nodes []*corev1.Node, all []*corev1.Pod, ours func(*corev1.Pod) bool, o *Options) []cluster.Node {
	gpu := corev1.ResourceName(o.GPUResource)
	taken, held := make(map[string]cluster.Resources), make(map[string]int)
	for _, p := range all {
		switch on := p.Spec.NodeName; {
		case on == "" || ended(p):
		case ours(p):
			held[on] += Request(&p.Spec, gpu).GPUs
		default:
			taken[on] = Sum(taken[on], Request(&p.Spec, gpu))
		}
	}
	var found []cluster.Node
	for _, n := range nodes {
		if !o.mine(n) || !o.usable(n) {
			continue
		}
		has := List(n.Status.Allocatable, gpu)
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

// Whole returns the nodes with GPUs that a queue may use, sorted by name, as if empty and open.
func Whole(nodes []*corev1.Node, o *Options) []cluster.Node {
	var found []cluster.Node
	for _, n := range nodes {
		if has := List(n.Status.Allocatable, corev1.ResourceName(o.GPUResource)); has.GPUs > 0 && o.mine(n) && o.usable(n) && !Shared(n) {
			found = append(found, o.node(n, has))
		}
	}
	slices.SortFunc(found, func(a, b cluster.Node) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return found
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func (o *Options) mine(n *corev1.Node) bool {
	to, lent := n.Labels[v1alpha1.LoanLabel]
	if o.lenders(n) {
		return lent && to == o.Queue
	}
	return Selects(o.Selector, n) && (!lent || o.Queue == "" || to == o.Queue)
}

func (o *Options) lenders(n *corev1.Node) bool { return len(o.Lender) > 0 && Selects(o.Lender, n) }

// Selects reports whether node n has all labels of the selector.
func Selects(selector map[string]string, n *corev1.Node) bool {
	for k, v := range selector {
		if got, ok := n.Labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func (o *Options) usable(n *corev1.Node) bool {
	if ready, since := ready(n); n.DeletionTimestamp != nil || !ready && o.Now.Sub(since) >= patience {
		return false
	}
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable && o.keepsOff(&t)
	})
}

func (o *Options) closed(n *corev1.Node) bool {
	ready, _ := ready(n)
	return n.Spec.Unschedulable || !ready || Shared(n) || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule && o.keepsOff(&t)
	})
}

// Shared reports whether pods share a node's GPUs by time-slicing or MPS: by a label or the product's suffix, depending
// on the version of NVIDIA's feature discovery, or because its allocatable GPUs exceed the label with its count.
func Shared(n *corev1.Node) bool {
	replicas, err := strconv.Atoi(n.Labels[replicasLabel])
	how := n.Labels[sharingLabel]
	return err == nil && replicas > 1 || how == "time-slicing" || how == "mps" || strings.HasSuffix(n.Labels[productLabel], "-SHARED") || oversold(n)
}

func oversold(n *corev1.Node) bool {
	has, err := strconv.Atoi(n.Labels[countLabel])
	return err == nil && has > 0 && List(n.Status.Allocatable, nvidia).GPUs > has
}

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

func ready(n *corev1.Node) (bool, time.Time) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return false, time.Time{}
}

// Unstated CPUs and memory do not count.
func less(all, taken cluster.Resources) (cluster.Resources, bool) {
	left := cluster.Resources{GPUs: all.GPUs - taken.GPUs}
	if all.CPUs == 0 || all.Memory == 0 {
		return left, left.GPUs > 0
	}
	left.CPUs = math.Round((all.CPUs-taken.CPUs)*1000) / 1000 // Kubernetes counts in thousandths
	left.Memory = all.Memory - taken.Memory
	return left, left.GPUs > 0 && left.CPUs > 0 && left.Memory > 0
}

func (o *Options) node(n *corev1.Node, left cluster.Resources) cluster.Node {
	one := cluster.Node{
		ID: cluster.NodeID(n.Name), GPUType: o.typeOf(n), GPUMemory: memory(n), Capacity: left,
		Rack: n.Labels[rackLabel], NVLinkDomain: n.Labels[cliqueLabel],
	}
	if one.Rack == "" {
		one.Rack = n.Labels[zoneLabel]
	}
	if o.lenders(n) {
		one.Tenure, one.Group = cluster.Loaned, cluster.LoanGroup(one.GPUType, o.gpus(n))
	}
	o.setRented(&one, n)
	return one
}

func (o *Options) gpus(n *corev1.Node) int {
	return List(n.Status.Allocatable, corev1.ResourceName(o.GPUResource)).GPUs
}

func (o *Options) typeOf(n *corev1.Node) cluster.GPUType {
	if t := TypeName(n.Labels[o.typeLabel(n)], o.Names); t != "" {
		return t
	}
	return untyped
}

// Labels returns the node label of each GPU type, except types whose nodes have different labels.
func Labels(nodes []*corev1.Node, o *Options) map[cluster.GPUType]map[string]string {
	all := make(map[cluster.GPUType]map[string]string)
	for _, n := range nodes {
		t := o.typeOf(n)
		label := o.typeLabel(n)
		one := map[string]string{label: n.Labels[label]}
		if before, known := all[t]; known && !maps.Equal(before, one) || label == "" || t == untyped {
			one = nil
		}
		all[t] = one
	}
	return all
}

func (o *Options) typeLabel(n *corev1.Node) string {
	for _, label := range o.TypeLabels {
		if _, ok := n.Labels[label]; ok {
			return label
		}
	}
	return ""
}

func memory(n *corev1.Node) int64 {
	mib, err := strconv.ParseInt(n.Labels[memoryLabel], 10, 64)
	if err != nil || mib < 1 || mib > mostMiB {
		return 0
	}
	return mib << 20
}
