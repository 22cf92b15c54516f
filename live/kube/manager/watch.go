package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// The channel gets an item when a Queue or the ClusterPolicy changes; other changes wake the backends.
func (l *leader) watch(ctx context.Context) (<-chan struct{}, error) {
	woken := make(chan struct{}, 1)
	for _, o := range []client.Object{&v1alpha1.Queue{}, &v1alpha1.ClusterPolicy{}} {
		if err := l.subscribe(ctx, o, func() { driver.Wake(woken) }); err != nil {
			return nil, err
		}
	}
	objects := []client.Object{&corev1.Node{}, &corev1.Pod{}}
	for _, k := range jobadapter.Kinds {
		_, err := l.manager.GetRESTMapper().RESTMapping(k.GVK().GroupKind(), k.GVK().Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.GVK().Kind, err)
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(k.GVK())
		objects = append(objects, o)
		l.known = append(l.known, k.GVK())
	}
	for _, o := range objects {
		if err := l.subscribe(ctx, o, l.notifyBackends); err != nil {
			return nil, err
		}
	}
	if err := l.watchClasses(ctx); err != nil {
		return nil, err
	}
	l.awaits("")
	return woken, nil
}

const watchTimeout = 2 * time.Minute

// subscribe returns once the watch shows all objects, or fails after watchTimeout or without the right.
func (l *leader) subscribe(ctx context.Context, o client.Object, news func()) error {
	gvk, err := l.manager.GetClient().GroupVersionKindFor(o)
	if err != nil {
		return err
	}
	l.awaits(gvk.Kind)
	ctx, done := context.WithTimeoutCause(ctx, watchTimeout, fmt.Errorf("not all objects were listed within %v", watchTimeout))
	defer done()
	some := metav1.PartialObjectMetadataList{}
	some.SetGroupVersionKind(gvk)
	if err := l.manager.GetAPIReader().List(ctx, &some, client.Limit(1)); err != nil { // a watch would only retry
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	i, err := l.manager.GetCache().GetInformer(ctx, o)
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, errors.Join(err, context.Cause(ctx)))
	}
	tell := func(all ...any) {
		if wakes(all...) {
			news()
		}
	}
	_, err = i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { tell(o) }, UpdateFunc: func(old, o any) { tell(old, o) }, DeleteFunc: func(o any) { tell(o) },
	})
	return err
}

func (l *leader) notifyBackends() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.running {
		if r.backend != nil {
			r.backend.News()
		}
	}
}
