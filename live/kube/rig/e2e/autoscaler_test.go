package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// An autoscaler adds and deletes nodes of eight GPUs by simplified rules of cluster-autoscaler. It adds a node for
// a pod that kube-scheduler reports unschedulable, if the pod fits a new node and no present or starting one. It
// deletes a node that for some time has less than half of its GPUs in use and whose pods all fit elsewhere.
type autoscaler struct {
	t        *testing.T
	cluster  *rig.Cluster
	k        client.Client
	pools    map[string]int // most nodes, by the value of their label
	start    time.Duration  // from an order to the node
	unneeded time.Duration  // from when a node is of no use until it goes

	made    int
	ordered []order
	idle    map[string]time.Time // nodes that are of no use, since when
}

type order struct {
	node *corev1.Node
	at   time.Time
}

// autoscaled is the label of nodes that names their pool.
const autoscaled = "cloud.example.com/pool"

func autoscale(t *testing.T, c *rig.Cluster, k client.Client, start, unneeded time.Duration, pools map[string]int) {
	a := &autoscaler{t: t, cluster: c, k: k, pools: pools, start: start, unneeded: unneeded, idle: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := a.look(ctx); err != nil && ctx.Err() == nil {
				t.Logf("autoscaler: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// A host is a node with the pods that are on it, or that are thought to be.
type host struct {
	*corev1.Node
	pods []*corev1.Pod
	own  bool // it is there, and was made by this autoscaler
}

// look makes nodes that are due, orders nodes for pods that fit nowhere, and takes nodes that are of no use.
func (a *autoscaler) look(ctx context.Context) error {
	for len(a.ordered) > 0 && time.Since(a.ordered[0].at) >= a.start {
		if err := a.make(ctx, a.ordered[0].node); err != nil {
			return err
		}
		a.ordered = a.ordered[1:]
	}
	hosts, waiting, err := a.hosts(ctx)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		if place(p, hosts) == nil {
			a.order(p, &hosts)
		}
	}
	if len(waiting) > 0 {
		return nil // as cluster-autoscaler: nothing goes while something is to come
	}
	return a.shrink(ctx, hosts)
}

// hosts returns the nodes that are there or on their way, and the pods that kube-scheduler calls unschedulable.
func (a *autoscaler) hosts(ctx context.Context) (hosts []*host, waiting []*corev1.Pod, err error) {
	var nodes corev1.NodeList
	var all corev1.PodList
	if err := a.k.List(ctx, &nodes); err != nil {
		return nil, nil, err
	}
	if err := a.k.List(ctx, &all); err != nil {
		return nil, nil, err
	}
	on := map[string]*host{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		h := &host{Node: n, own: n.Labels[autoscaled] != "" && n.DeletionTimestamp == nil}
		on[n.Name], hosts = h, append(hosts, h)
	}
	for _, o := range a.ordered {
		hosts = append(hosts, &host{Node: o.node})
	}
	for i := range all.Items {
		p := &all.Items[i]
		switch h := on[p.Spec.NodeName]; {
		case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		case h != nil:
			h.pods = append(h.pods, p)
		case p.DeletionTimestamp == nil && unschedulable(p):
			waiting = append(waiting, p)
		}
	}
	return hosts, waiting, nil
}

// unschedulable reports whether kube-scheduler says so of a pod.
func unschedulable(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// order orders a node for a pod from the first pool that may have one more and whose nodes it fits on.
func (a *autoscaler) order(p *corev1.Pod, hosts *[]*host) {
	for pool, most := range a.pools {
		has := 0
		for _, h := range *hosts {
			if h.Labels[autoscaled] == pool {
				has++
			}
		}
		n := a.template(pool)
		if h := (&host{Node: n}); has < most && place(p, []*host{h}) != nil {
			a.made++
			a.ordered, *hosts = append(a.ordered, order{n, time.Now()}), append(*hosts, h)
			return
		}
	}
}

func (a *autoscaler) template(pool string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", pool, a.made), Labels: map[string]string{autoscaled: pool}}}
	n.Status.Allocatable = corev1.ResourceList{rig.GPU: resource.MustParse("8")}
	return n
}

func (a *autoscaler) make(ctx context.Context, n *corev1.Node) error {
	return a.cluster.AddNodes(ctx, rig.Nodes{Name: n.Name, Type: "a100", Count: 1, Labels: n.Labels})
}

// shrink deletes the nodes that have been of no use for long enough.
func (a *autoscaler) shrink(ctx context.Context, hosts []*host) error {
	for i, h := range hosts {
		others := slices.Concat(hosts[:i], hosts[i+1:])
		if !h.own || !h.removable(others) {
			delete(a.idle, h.Name)
			continue
		}
		if _, known := a.idle[h.Name]; !known {
			a.idle[h.Name] = time.Now()
		}
		if time.Since(a.idle[h.Name]) >= a.unneeded {
			return a.remove(ctx, h)
		}
	}
	return nil
}

// remove keeps new pods off a node, evicts those that are there, and deletes it.
func (a *autoscaler) remove(ctx context.Context, h *host) error {
	n := h.DeepCopy()
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Effect: corev1.TaintEffectNoSchedule})
	if err := a.k.Patch(ctx, n, client.MergeFrom(h.Node)); err != nil {
		return err
	}
	for _, p := range h.pods {
		if err := a.k.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return client.IgnoreNotFound(a.k.Delete(ctx, n))
}

// removable reports whether less than half of the GPUs of a node is used, and all pods on it fit elsewhere.
func (h *host) removable(others []*host) bool {
	used := 0
	for _, p := range h.pods {
		used += gpus(p)
	}
	if 2*used >= h.gpus() {
		return false
	}
	sim := make([]*host, 0, len(others))
	for _, o := range others {
		if len(o.Status.Conditions) > 0 { // it is there
			sim = append(sim, &host{Node: o.Node, pods: slices.Clone(o.pods)})
		}
	}
	return !slices.ContainsFunc(h.pods, func(p *corev1.Pod) bool {
		return p.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false" || place(p, sim) == nil
	})
}

// place puts a pod on the first host that it fits on; nil: there is none.
func place(p *corev1.Pod, hosts []*host) *host {
	for _, h := range hosts {
		if h.fits(p) {
			h.pods = append(h.pods, p)
			return h
		}
	}
	return nil
}

// fits reports whether a pod may be on a host, beside those that are: by selector and required node affinity, taints, GPUs, and
// required anti-affinity by host.
func (h *host) fits(p *corev1.Pod) bool {
	if !inventory.Allows(&p.Spec, h.Node) || h.Spec.Unschedulable || h.repels(p) {
		return false
	}
	free := h.gpus()
	for _, o := range h.pods {
		free -= gpus(o)
		if apart(p, o) {
			return false
		}
	}
	return gpus(p) <= free
}

// repels reports whether a host has a taint that keeps a pod off.
func (h *host) repels(p *corev1.Pod) bool {
	return slices.ContainsFunc(h.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(p.Spec.Tolerations, func(o corev1.Toleration) bool { return o.Key == t.Key })
	})
}

// apart reports whether a pod must not be on the host of another.
func apart(p, other *corev1.Pod) bool {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil || p.Namespace != other.Namespace {
		return false
	}
	return slices.ContainsFunc(p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
		s, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		return err == nil && t.TopologyKey == corev1.LabelHostname && s.Matches(labels.Set(other.Labels))
	})
}

func (h *host) gpus() int {
	n := h.Status.Allocatable[rig.GPU]
	return int(n.Value())
}

func gpus(p *corev1.Pod) int { return inventory.Request(&p.Spec, rig.GPU).GPUs }
