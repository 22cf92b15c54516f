// Package inventory translates the nodes of a Kubernetes cluster into nodes of the scheduler
// (cluster.Node): those of a queue (Read), those of a lender (Survey), and those of groups that
// are rented (Offer). It reads no clock and does not talk to the API server; functions that
// change a node change it in memory, and the caller patches the difference.
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
	"github.com/oxgang/oxgang/live/kube/pods"
	"github.com/oxgang/oxgang/model/cluster"
)

// Options say which nodes a queue may use, and under which names GPUs appear.
type Options struct {
	GPUResource string              // name of the resource that pods request for GPUs
	TypeLabels  []string            // node labels that name the GPU type; the first that a node has counts
	Names       map[string]string   // from values of these labels to GPU types that are called otherwise here
	Selector    map[string]string   // labels of the queue's nodes; empty: all nodes
	Lender      map[string]string   // labels of the lender's nodes; empty: there is no lender
	Queue       string              // to which nodes are lent; empty: any
	Tolerations []corev1.Toleration // that all pods of the queue's jobs have
	// Groups are the groups of rented nodes. If there are any, the taint of Leave does not close
	// a node to the queue: the plan decides which nodes are given back.
	Groups []v1alpha1.NodeGroup
	Now    time.Time // the time of the observation
}

// Patience is how long a node that is not Ready keeps its jobs. Kubernetes has already waited
// before it says that a node is not Ready, and most such nodes come back.
const Patience = 30 * time.Second

// Labels that the GPU operator and cloud providers set on nodes.
const (
	memoryLabel = "nvidia.com/gpu.memory" // MiB of each GPU
	rackLabel   = "topology.kubernetes.io/rack"
	zoneLabel   = "topology.kubernetes.io/zone"
	cliqueLabel = "nvidia.com/gpu.clique" // of the nodes that one NVLink network joins
	// How many pods share a GPU of the node, each of which asks for one, and how: none, time-slicing or mps.
	replicasLabel = "nvidia.com/gpu.replicas"
	sharingLabel  = "nvidia.com/gpu.sharing-strategy"
)

const (
	// untyped is the type of GPUs whose node has none of the TypeLabels.
	untyped = cluster.GPUType("gpu")
	// mostMiB is the largest memory of a GPU that is believed.
	mostMiB = 1 << 24
)

// Read returns the nodes with GPUs that a queue may use, sorted by name: its own, and those of its
// lender that are labelled as lent to it, which get tenure Loaned.
//
// A node is left out if it is being deleted, if it has not been Ready for at least Patience, or if
// it has a NoExecute taint that the queue's pods do not tolerate. They tolerate the taint of a
// loan to the queue, those that Tolerations match, and that of the GPU resource, because the
// ExtendedResourceToleration plugin adds that toleration to pods with GPUs.
//
// The capacity of a node is its allocatable resources, less the requests of pods that are bound to
// it, have not ended and are not ours. A node without GPUs, CPUs or memory left is left out, too.
//
// A node is closed if it is cordoned, has a NoSchedule taint that the queue's pods do not
// tolerate, is Shared, or has not been Ready for less than Patience. It has only the GPUs that our pods on it
// hold: these go on, and no others come.
//
// Read changes nothing. It takes time linear in nodes and pods.
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

// ended reports whether a pod has ended, and so uses no resources.
func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// mine reports whether a node is one of the queue's own, or is labelled as lent to it.
func (o *Options) mine(n *corev1.Node) bool {
	to, lent := n.Labels[v1alpha1.LoanLabel]
	if o.lenders(n) {
		return lent && to == o.Queue
	}
	return Selects(o.Selector, n) && (!lent || o.Queue == "" || to == o.Queue)
}

// lenders reports whether a node belongs to the lender, lent or not.
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

// usable reports whether pods of the queue that are on a node may stay there.
func (o *Options) usable(n *corev1.Node) bool {
	if ready, since := ready(n); n.DeletionTimestamp != nil || !ready && o.Now.Sub(since) >= Patience {
		return false
	}
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable && o.keepsOff(&t)
	})
}

// closed reports whether no new pod of the queue may come to a usable node.
func (o *Options) closed(n *corev1.Node) bool {
	ready, _ := ready(n)
	return n.Spec.Unschedulable || !ready || Shared(n) || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule && o.keepsOff(&t)
	})
}

// Shared reports whether what a node offers as GPUs are shares of them, by time-slicing or MPS: a training
// on several would be one on fewer, and other pods' too.
func Shared(n *corev1.Node) bool {
	replicas, err := strconv.Atoi(n.Labels[replicasLabel])
	how := n.Labels[sharingLabel]
	return err == nil && replicas > 1 || how == "time-slicing" || how == "mps"
}

// keepsOff reports whether pods of the queue do not tolerate a taint.
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

// ready reports whether a node is Ready, and since when it is so or not.
func ready(n *corev1.Node) (bool, time.Time) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return false, time.Time{}
}

// less returns what is left of a node's resources, and whether a job could run there. If a node
// does not state its CPUs or memory, only GPUs count.
func less(all, taken cluster.Resources) (cluster.Resources, bool) {
	left := cluster.Resources{GPUs: all.GPUs - taken.GPUs}
	if all.CPUs == 0 || all.Memory == 0 {
		return left, left.GPUs > 0
	}
	left.CPUs = math.Round((all.CPUs-taken.CPUs)*1000) / 1000 // Kubernetes counts thousandths
	left.Memory = all.Memory - taken.Memory
	return left, left.GPUs > 0 && left.CPUs > 0 && left.Memory > 0
}

// node translates a node; left is its capacity.
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
	o.let(&one, n)
	return one
}

// gpus returns the allocatable GPUs of a node.
func (o *Options) gpus(n *corev1.Node) int {
	return pods.List(n.Status.Allocatable, corev1.ResourceName(o.GPUResource)).GPUs
}

// typeOf returns the type of a node's GPUs.
func (o *Options) typeOf(n *corev1.Node) cluster.GPUType {
	if t := pods.TypeName(n.Labels[o.typeLabel(n)], o.Names); t != "" {
		return t
	}
	return untyped
}

// Labels returns, of each type of GPUs whose nodes all have the same label that says so, that label.
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

// typeLabel returns the label of a node that says the type of its GPUs; empty: none does.
func (o *Options) typeLabel(n *corev1.Node) string {
	for _, label := range o.TypeLabels {
		if _, ok := n.Labels[label]; ok {
			return label
		}
	}
	return ""
}

// memory returns the bytes of a GPU of a node; 0 if the node does not state it, or a value that is
// not possible.
func memory(n *corev1.Node) int64 {
	mib, err := strconv.ParseInt(n.Labels[memoryLabel], 10, 64)
	if err != nil || mib < 1 || mib > mostMiB {
		return 0
	}
	return mib << 20
}
