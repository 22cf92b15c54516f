package manager

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/monitor"
)

// A queue says that it is paused, or off, when its scheduler has ended, which may have a write under way, and not before.
func TestReconcile_says_that_a_queue_is_paused_when_it_is(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	m, err := monitor.New(prometheus.NewRegistry(), monitor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, common := &v1alpha1.Queue{}, &v1alpha1.ClusterPolicy{}
	q.Name, q.Spec.Mode, q.Spec.Policy.Name = "train", v1alpha1.Resize, "fifo"
	common.Name, common.Spec.Paused = "default", true
	r := &running{of: "an older one", done: make(chan struct{})}
	r.stop = func() { time.AfterFunc(10*time.Millisecond, func() { close(r.done) }) }
	told := 0
	k := fake.NewClientBuilder().WithScheme(scheme).WithObjects(q, common).WithStatusSubresource(q, common).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if _, is := o.(*v1alpha1.Queue); is {
				told++
				select {
				case <-r.done:
				default:
					t.Error("it says that it is paused while its scheduler runs")
				}
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}).Build()
	l := &leader{log: slog.New(slog.DiscardHandler), metrics: m, manager: &still{client: k}, running: map[string]*running{"train": r}}
	if err := l.reconcile(t.Context()); err != nil || told != 1 {
		t.Errorf("%v, told %d times, want once", err, told)
	}
}
