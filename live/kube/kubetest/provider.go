package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PoolLabel is the node label that names the node's pool.
const PoolLabel = "kubetest.oxgang.dev/pool"

// A Pool is a simulated group of cloud nodes with the scale subresource.
type Pool struct {
	Name     string
	Replicas int
	GPUs     int
	Type     string
	Most     int
	Short    int // nodes that it cannot provide
	made     int
	version  int
}

// AddPool adds a pool.
func (t *Cluster) AddPool(p *Pool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pools = append(t.pools, p)
}

func (t *Cluster) pool(o client.Object) (*Pool, error) {
	i := slices.IndexFunc(t.pools, func(p *Pool) bool { return p.Name == o.GetName() })
	if i < 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pools"}, o.GetName())
	}
	return t.pools[i], nil
}

func (t *Cluster) getScale(o, scale client.Object) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.pool(o)
	if err != nil {
		return err
	}
	u, ok := scale.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("a scale is read into a %T, want an unstructured one", scale)
	}
	u.Object = map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(p.version)}, "spec": map[string]any{"replicas": int64(p.Replicas)}}
	return nil
}

func (t *Cluster) patchScale(o client.Object, patch client.Patch) error {
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	var body struct {
		Metadata struct{ ResourceVersion string }
		Spec     struct{ Replicas int }
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return err
	}
	t.mu.Lock()
	p, err := t.pool(o)
	if err == nil && body.Metadata.ResourceVersion != strconv.Itoa(p.version) {
		err = apierrors.NewConflict(schema.GroupResource{Resource: "pools"}, p.Name, fmt.Errorf("version %s, want %d", body.Metadata.ResourceVersion, p.version))
	}
	if err == nil {
		p.Replicas, p.version = body.Spec.Replicas, p.version+1
	}
	t.mu.Unlock()
	if err == nil && body.Spec.Replicas > p.Most {
		t.complain("pool %s: %d replicas, want at most %d", p.Name, body.Spec.Replicas, p.Most)
	}
	return err
}

// Scale sets a pool's replicas, as another user would.
func (t *Cluster) Scale(pool string, replicas int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pools[slices.IndexFunc(t.pools, func(p *Pool) bool { return p.Name == pool })]
	p.Replicas, p.version = replicas, p.version+1
}

// Replicas returns the replicas of a pool.
func (t *Cluster) Replicas(pool string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pools[slices.IndexFunc(t.pools, func(p *Pool) bool { return p.Name == pool })].Replicas
}

// Provide creates nodes, and removes nodes (first those without pods), until each pool has its replicas.
func (t *Cluster) Provide() {
	t.mu.Lock()
	pools := slices.Clone(t.pools)
	t.mu.Unlock()
	for _, p := range pools {
		there := t.PoolNodes(p.Name)
		want := t.Replicas(p.Name)
		for range min(want-p.Short, p.Most+1) - len(there) {
			p.made++
			t.addNode(fmt.Sprintf("%s-%d", p.Name, p.made), p.GPUs, p.Type, map[string]string{PoolLabel: p.Name})
		}
		t.removeNodes(there, len(there)-want)
		if n := len(t.PoolNodes(p.Name)); n > p.Most {
			t.complain("pool %s: %d nodes, want at most %d", p.Name, n, p.Most)
		}
	}
}

func (t *Cluster) removeNodes(nodes []string, n int) {
	on := map[string]string{}
	for _, p := range t.pods() {
		if !over(p) && p.Spec.NodeName != "" {
			on[p.Spec.NodeName] = p.Name
		}
	}
	slices.SortStableFunc(nodes, func(a, b string) int { return min(1, len(on[a])) - min(1, len(on[b])) })
	for _, name := range nodes[:max(0, n)] {
		if on[name] != "" {
			t.complain("node %s is taken away, and pod %s is on it", name, on[name])
		}
		t.RemoveNode(name)
	}
}

// PoolNodes returns the nodes of a pool, by name.
func (t *Cluster) PoolNodes(pool string) []string {
	var all corev1.NodeList
	must(t.truth.List(context.Background(), &all, client.MatchingLabels{PoolLabel: pool}))
	names := make([]string, len(all.Items))
	for i := range all.Items {
		names[i] = all.Items[i].Name
	}
	return names
}
