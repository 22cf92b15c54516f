package manager

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// still is a manager of watches that show nothing before they are up.
type still struct {
	manager.Manager
	client  client.Client
	watches watches
}

func (s *still) GetClient() client.Client    { return s.client }
func (s *still) GetAPIReader() client.Reader { return s.client }
func (s *still) GetCache() cache.Cache       { return &s.watches }

// watches are those of a manager.
type watches struct {
	cache.Cache
	up chan struct{}
}

// GetInformer implements cache.Informers as controller-runtime does: it waits.
func (s *watches) GetInformer(ctx context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	select {
	case <-s.up:
		return (&informertest.FakeInformers{}).GetInformer(ctx, o)
	case <-ctx.Done():
		return nil, apierrors.NewTimeoutError("failed waiting", 0)
	}
}

// A leader whose watch does not come up says so, is not ready, and gives up in time.
func TestSubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &still{client: fake.NewFakeClient(), watches: watches{up: make(chan struct{})}}
		l := &leader{manager: s}
		if err := l.ready(nil); err != nil {
			t.Errorf("who does not lead is not ready: %v", err)
		}
		began, heard := time.Now(), make(chan error, 1)
		go func() { heard <- l.subscribe(t.Context(), &corev1.Pod{}, func() {}) }()
		time.Sleep(time.Second)
		wants(t, l.ready(&http.Request{}), "the watch of Pod is not ready")
		wants(t, <-heard, "watch Pod:", "not all objects were listed within 2m0s")
		if took := time.Since(began); took != watchTimeout {
			t.Errorf("it gave up after %v, want %v", took, watchTimeout)
		}
		close(s.watches.up)
		if err := l.subscribe(t.Context(), &corev1.Pod{}, func() {}); err != nil {
			t.Error(err)
		}
	})
}

// What may not be listed is said at once: a watch would try again for ever.
func TestSubscribe_what_is_forbidden(t *testing.T) {
	no := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
	}}
	l := &leader{manager: &still{client: interceptor.NewClient(fake.NewFakeClient(), no)}}
	wants(t, l.subscribe(t.Context(), &corev1.Pod{}, func() {}), "watch Pod: pods", "is forbidden")
}

// wants checks that an error says all of some texts.
func wants(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one that says %q", err, text)
		}
	}
}
