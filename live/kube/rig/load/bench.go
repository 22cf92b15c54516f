package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

const within = 5 * time.Minute

func long(t testing.TB, shows string) {
	t.Helper()
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("takes minutes: set OXGANG_LONG=1; it shows " + shows)
	}
}

type bench struct {
	testing.TB
	*rig.Cluster
	k       client.Client
	api     *kubernetes.Clientset
	meta    metadata.Interface
	oxgang  *rig.Process
	beside  []*rig.Process // whose processor time counts too
	metrics string         // of the scheduler
	agents  string

	patience time.Duration // bounds until
}

func start(t testing.TB, o rig.Options) *bench {
	t.Helper()
	c := rig.Start(t, o)
	e2e.Prepare(t.Context(), t, c)
	fast := rest.CopyConfig(c.Config)
	fast.QPS, fast.Burst = 2000, 4000
	b := &bench{TB: t, Cluster: c, k: e2e.Client(t, fast), api: kubernetes.NewForConfigOrDie(fast), meta: metadata.NewForConfigOrDie(fast)}
	b.metrics, b.agents, b.patience = e2e.Address(t), e2e.Address(t), within
	return b
}

func (b *bench) serve() {
	b.Helper()
	b.oxgang = e2e.Serve(b, b.Cluster, e2e.Setup{Metrics: b.metrics, Agents: b.agents, Names: []string{e2e.AgentName}})
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) each(n int, do func(ctx context.Context, i int) error) {
	b.Helper()
	g, ctx := errgroup.WithContext(b.Context())
	g.SetLimit(16)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	b.ok(g.Wait())
}

func (b *bench) submit(jobs []*batchv1.Job) {
	b.Helper()
	b.each(len(jobs), func(ctx context.Context, i int) error { return b.k.Create(ctx, jobs[i]) })
}

func (b *bench) until(more int, do func()) time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), b.patience)
	defer cancel()
	pods := b.meta.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("default")
	list, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	b.ok(err)
	w, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.FieldSelector = "status.phase=Running"
		return pods.Watch(ctx, o)
	}})
	b.ok(err)
	defer w.Stop()
	began := time.Now()
	do()
	for n := 0; n < more; {
		ev, open := <-w.ResultChan()
		switch {
		case !open:
			b.Fatalf("%d pods more run after %v, want %d", n, time.Since(began), more)
		case ev.Type == watch.Added:
			n++
		case ev.Type == watch.Deleted:
			n--
		}
	}
	return time.Since(began)
}

func (b *bench) clear() {
	b.Helper()
	b.ok(b.k.DeleteAllOf(b.Context(), &batchv1.Job{}, client.InNamespace("default"), client.PropagationPolicy("Background")))
	e2e.Until(b.Context(), b, within, "all pods are gone", func() error {
		list, err := b.meta.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("default").List(b.Context(), metav1.ListOptions{Limit: 1})
		if err == nil && len(list.Items) > 0 {
			err = errors.New("some pods are left")
		}
		return err
	})
}

func (b *bench) epoch(before int64) (epoch int64) {
	b.Helper()
	e2e.Until(b.Context(), b, within, "the queue is served", func() error {
		if !b.oxgang.Running() {
			b.Fatalf("the scheduler has ended: %s", b.oxgang.Tail())
		}
		var p v1alpha1.Plan
		if err := b.k.Get(b.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
			return err
		}
		if epoch = p.Spec.Epoch; epoch <= before {
			return fmt.Errorf("epoch %d, want more than %d", epoch, before)
		}
		return nil
	})
	return epoch
}

func (b *bench) planned(name string) error {
	var p v1alpha1.Plan
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
		return err
	}
	if err := p.Unpack(); err != nil {
		return err
	}
	for i := range p.Spec.Allocations {
		if a := &p.Spec.Allocations[i]; a.Name == name && a.GPUs > 0 {
			return nil
		}
	}
	return fmt.Errorf("%d jobs in the plan, but no GPUs for %s", len(p.Spec.Allocations), name)
}
