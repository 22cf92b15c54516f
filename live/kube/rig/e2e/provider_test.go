package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// poolLabel, on a node, names the Pool that made it.
const poolLabel = "rig.oxgang.dev/pool"

// A provider makes and deletes nodes of eight GPUs so that each Pool has as many as it is to
// have. As Karpenter does of a static NodePool, it deletes nodes without pods first.
type provider struct {
	t       *testing.T
	cluster *rig.Cluster
	k       client.Client
	start   time.Duration // from an order to the node

	mu      sync.Mutex
	refuses map[string]bool        // by pool: nothing more is to be had
	ordered map[string][]time.Time // by pool, of nodes that have not come
	made    int
}

// provide starts a provider of pools, which ends with the test.
func provide(t *testing.T, c *rig.Cluster, k client.Client, start time.Duration, pools ...string) *provider {
	t.Helper()
	if err := c.Install(t.Context(), Root+"/live/kube/rig/testdata/pool.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, name := range pools {
		o := poolNamed(name)
		o.Object["spec"] = map[string]any{"replicas": int64(0)}
		if err := k.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	p := &provider{t: t, cluster: c, k: k, start: start, refuses: map[string]bool{}, ordered: map[string][]time.Time{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx, pools)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return p
}

func poolNamed(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("rig.oxgang.dev/v1")
	o.SetKind("Pool")
	o.SetName(name)
	return o
}

// run looks at all pools, again and again, until ctx is done.
func (p *provider) run(ctx context.Context, pools []string) {
	for ctx.Err() == nil {
		for _, name := range pools {
			if err := p.look(ctx, name); err != nil && ctx.Err() == nil {
				p.t.Logf("provider of %s: %v", name, err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// look brings one pool closer to what it is to have.
func (p *provider) look(ctx context.Context, name string) error {
	o := poolNamed(name)
	if err := p.k.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	want, _, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if err != nil {
		return err
	}
	nodes, err := p.nodes(ctx, name)
	if err != nil {
		return err
	}
	if n := len(nodes) - int(want); n > 0 {
		p.order(name, 0)
		return p.take(ctx, nodes, n)
	}
	for range p.order(name, int(want)-len(nodes)) {
		if err := p.make(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// order makes it so many nodes that are on their way, and returns how many are due: of those
// there are fewer then.
func (p *provider) order(pool string, missing int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses[pool] {
		p.ordered[pool] = nil
		return 0
	}
	all := p.ordered[pool]
	for len(all) < missing {
		all = append(all, time.Now())
	}
	all = all[:missing]
	due := 0
	for due < len(all) && time.Since(all[due]) >= p.start {
		due++
	}
	p.ordered[pool] = all[due:]
	return due
}

// make makes a node.
func (p *provider) make(ctx context.Context, pool string) error {
	p.made++
	return p.cluster.AddNodes(ctx, rig.Nodes{Name: fmt.Sprintf("%s-%d", pool, p.made), Type: "a100", Count: 1, GPUs: 8, Labels: map[string]string{poolLabel: pool}})
}

// take deletes so many nodes, those without pods first.
func (p *provider) take(ctx context.Context, nodes []string, n int) error {
	var pods corev1.PodList
	if err := p.k.List(ctx, &pods); err != nil {
		return err
	}
	on := map[string]int{}
	for i := range pods.Items {
		if phase := pods.Items[i].Status.Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			on[pods.Items[i].Spec.NodeName] = 1
		}
	}
	slices.SortStableFunc(nodes, func(a, b string) int { return on[a] - on[b] })
	for _, name := range nodes[:n] {
		if err := p.lose(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *provider) lose(ctx context.Context, name string) error {
	n := &corev1.Node{}
	n.Name = name
	return client.IgnoreNotFound(p.k.Delete(ctx, n))
}

// refuse says of a pool whether it gives no more nodes.
func (p *provider) refuse(pool string, is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses[pool] = is
}

func (p *provider) nodes(ctx context.Context, pool string) ([]string, error) {
	var all corev1.NodeList
	if err := p.k.List(ctx, &all, client.MatchingLabels{poolLabel: pool}); err != nil {
		return nil, err
	}
	var names []string
	for i := range all.Items {
		if all.Items[i].DeletionTimestamp == nil {
			names = append(names, all.Items[i].Name)
		}
	}
	return names, nil
}

// has waits until a pool has so many nodes, and is to have as many.
func (c *scene) has(p *provider, want int, pool string) time.Duration {
	c.Helper()
	return c.until(fmt.Sprintf("pool %s has %d nodes", pool, want), func() error {
		o := poolNamed(pool)
		if err := c.k.Get(c.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		to, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		nodes, err := p.nodes(c.Context(), pool)
		if err != nil || len(nodes) != want || int(to) != want {
			return errNot("it has %q, and is to have %d: %v", nodes, to, err)
		}
		return nil
	})
}

// group returns the group of a pool's nodes, for a queue.
func group(pool string, most int32, price int64) v1alpha1.NodeGroup {
	return v1alpha1.NodeGroup{
		Name: pool, Scales: v1alpha1.ScaleTarget{APIVersion: "rig.oxgang.dev/v1", Kind: "Pool", Name: pool},
		NodeSelector: map[string]string{poolLabel: pool}, GPUType: "a100", GPUs: 8, MilliCPUs: 96000, MemoryBytes: 1 << 40,
		PriceMilliPerHour: price, Most: most,
	}
}

func (c *scene) nodeOf(job string) (node, uid string) {
	c.Helper()
	c.runs(job, 1)
	uid, node, _ = strings.Cut(c.pods(job)[0], "@")
	return node, uid
}
