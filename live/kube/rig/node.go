package rig

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// GPU is the resource name of GPUs.
	GPU corev1.ResourceName = "nvidia.com/gpu"
	// Product is the node label with the GPU type.
	Product = "nvidia.com/gpu.product"
	// Rack is the node label with the name of the rack. Eight nodes share a rack.
	Rack = "rig.oxgang.dev/rack"
	// Alive is a node label. It has value "true" while kwok simulates the node.
	Alive = "rig.oxgang.dev/alive"
)

func (c *Cluster) addNodes(ctx context.Context) error {
	for i := range c.options.Nodes {
		if err := c.AddNodes(ctx, c.options.Nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// AddNodes adds fake nodes, and waits until they have no taints.
func (c *Cluster) AddNodes(ctx context.Context, n Nodes) error {
	n.fill()
	client := c.Client().CoreV1().Nodes()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range n.Count {
		group.Go(func() error {
			_, err := client.Create(inner, n.node(i), v1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("add nodes %s: %w", n.Name, err)
	}
	untainted := func() bool {
		all, err := client.List(ctx, v1.ListOptions{LabelSelector: set + "=" + n.Name})
		if err != nil {
			return false
		}
		for i := range all.Items {
			if len(all.Items[i].Spec.Taints) > 0 {
				return false
			}
		}
		return true
	}
	return poll(ctx, nil, "nodes "+n.Name+" without taints", untainted)
}

const set = "rig.oxgang.dev/nodes"

func (n *Nodes) fill() {
	if n.Name == "" {
		n.Name = strings.ToLower(n.Type)
	}
	if n.GPUs == 0 {
		n.GPUs = 8
	}
	if n.CPUs == 0 {
		n.CPUs = 96
	}
	if n.Memory.IsZero() {
		n.Memory = resource.MustParse("1Ti")
	}
}

func (n *Nodes) node(i int) *corev1.Node {
	name := fmt.Sprintf("%s-%d", n.Name, i)
	labels := map[string]string{
		Alive: "true", set: n.Name, Product: n.Type, Rack: fmt.Sprintf("%s-%d", n.Name, i/8),
		"nvidia.com/gpu.count": strconv.Itoa(n.GPUs),
		corev1.LabelHostname:   name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%2),
		corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
	}
	maps.Copy(labels, n.Labels)
	capacity := corev1.ResourceList{
		GPU:                   *resource.NewQuantity(int64(n.GPUs), resource.DecimalSI),
		corev1.ResourceCPU:    *resource.NewQuantity(int64(n.CPUs), resource.DecimalSI),
		corev1.ResourceMemory: n.Memory,
		corev1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
	}
	now := v1.Now()
	return &corev1.Node{
		ObjectMeta: v1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
		},
	}
}

// Lose disconnects a fake node at once: its pods neither run nor end, its lease is not renewed, and its condition Ready
// is Unknown.
func (c *Cluster) Lose(ctx context.Context, node string) error {
	if err := c.patchNode(ctx, node, "", `{"metadata":{"labels":{"`+Alive+`":"false"}}}`); err != nil {
		return err
	}
	return c.patchNode(ctx, node, "status", `{"status":{"conditions":[{"type":"Ready","status":"Unknown",`+
		`"reason":"NodeStatusUnknown","message":"the rig lost it"}]}}`)
}

// Silence is Lose without setting the condition. The node counts as lost when its lease expires.
func (c *Cluster) Silence(ctx context.Context, node string) error {
	return c.patchNode(ctx, node, "", `{"metadata":{"labels":{"`+Alive+`":"false"}}}`)
}

// Return reconnects a lost node. Pods that were deleted meanwhile end now.
func (c *Cluster) Return(ctx context.Context, node string) error {
	return c.patchNode(ctx, node, "", `{"metadata":{"labels":{"`+Alive+`":"true"}}}`)
}

func (c *Cluster) patchNode(ctx context.Context, node, sub, data string) error {
	var subs []string
	if sub != "" {
		subs = append(subs, sub)
	}
	_, err := c.Client().CoreV1().Nodes().
		Patch(ctx, node, types.StrategicMergePatchType, []byte(data), v1.PatchOptions{}, subs...)
	if err != nil {
		return fmt.Errorf("patch node %s: %w", node, err)
	}
	return nil
}
