package inventory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A server is an API server with so many objects, that gives them out in pages.
type podServer struct {
	client.Reader
	objects int
	limits  []int64 // of each call
	fail    func(call int) error
}

func (s *podServer) List(_ context.Context, to client.ObjectList, opts ...client.ListOption) error {
	o := new(client.ListOptions).ApplyOptions(opts)
	s.limits = append(s.limits, o.Limit)
	if s.fail != nil {
		if err := s.fail(len(s.limits)); err != nil {
			return err
		}
	}
	from := 0
	if o.Continue != "" {
		from, _ = strconv.Atoi(o.Continue)
	}
	end := min(s.objects, from+int(o.Limit))
	for i := from; i < end; i++ {
		m := metav1.ObjectMeta{Name: fmt.Sprint(i)}
		switch list := to.(type) {
		case *metav1.PartialObjectMetadataList:
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: m})
		case *corev1.PodList:
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: m})
		}
	}
	if end < s.objects {
		to.SetContinue(strconv.Itoa(end))
	}
	to.SetResourceVersion("7")
	return nil
}

// Pods are read in pages, too, each made slim, and anew where the API server has dropped the version in the middle.
func TestListPods(t *testing.T) {
	s := &podServer{objects: 1234, fail: func(call int) error {
		if call == 2 {
			return apierrors.NewResourceExpired("too old")
		}
		return nil
	}}
	r, err := ListPods(t.Context(), s, func(p *corev1.Pod) bool {
		p.Namespace = "slim"
		return len(p.Name) == 4
	})
	if err != nil || len(r.UIDs) != 1234 || len(r.Kept) != 234 || r.Version != 7 || len(s.limits) != 5 || slices.Max(s.limits) != page {
		t.Errorf("%d of %d pods of version %d, limits %v, %v, want 234 of all of version 7 in three pages after two", len(r.Kept), len(r.UIDs), r.Version, s.limits, err)
	}
	for i, p := range r.Kept {
		if p.Name != fmt.Sprint(1000+i) || p.Namespace != "slim" {
			t.Fatalf("pod %d is %s, of namespace %q, want it slim and in order", i, p.Name, p.Namespace)
		}
	}
}

// listed returns how many objects List has called back for, the names without repetition, and its error.
func (s *podServer) listed(t *testing.T) (calls, names int, err error) {
	t.Helper()
	seen := map[string]bool{}
	err = ListMetadata(t.Context(), s, corev1.SchemeGroupVersion.WithKind("Pod"), func(o *metav1.PartialObjectMetadata) {
		calls++
		seen[o.Name] = true
	})
	return calls, len(seen), err
}

// However many objects there are, an answer has a page of them.
func TestListMetadata(t *testing.T) {
	for _, c := range []struct{ objects, calls int }{{0, 1}, {1, 1}, {500, 1}, {501, 2}, {1234, 3}} {
		s := &podServer{objects: c.objects}
		n, names, err := s.listed(t)
		if err != nil || n != c.objects || names != c.objects || len(s.limits) != c.calls || slices.Max(s.limits) != page || slices.Min(s.limits) != page {
			t.Errorf("%d objects: %d seen, %d names, limits %v, %v, want all in %d calls of %d", c.objects, n, names, s.limits, err, c.calls, page)
		}
	}
}

// A list whose version the API server has dropped is begun again, some times; other errors are the caller's.
func TestListMetadata_of_an_expired_version(t *testing.T) {
	gone := apierrors.NewResourceExpired("too old")
	s := &podServer{objects: 1000, fail: func(call int) error {
		if call == 2 {
			return gone
		}
		return nil
	}}
	if n, names, err := s.listed(t); err != nil || n != 1500 || names != 1000 {
		t.Errorf("%d calls, %d names, %v, want the first page twice", n, names, err)
	}
	s = &podServer{objects: 1, fail: func(int) error { return gone }}
	if _, _, err := s.listed(t); !apierrors.IsResourceExpired(err) || len(s.limits) != restarts {
		t.Errorf("%v after %d calls, want it given up after %d", err, len(s.limits), restarts)
	}
	s.fail = func(int) error { return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Pod"}} }
	if n, _, err := s.listed(t); err != nil || n != 0 {
		t.Errorf("a kind that is not known: %d, %v, want none", n, err)
	}
}
