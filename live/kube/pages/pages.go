// Package pages lists objects of the API server page by page.
package pages

import (
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is how many objects the API server is asked for at a time: the memory that it needs for an
// answer does not grow with the cluster.
const page = 500

// restarts is how often a list is begun again because the API server no longer has its version.
const restarts = 3

// List calls do for the metadata of all objects of a kind, page by page. If the API
// server forgets in the middle which version it is listing, List begins again: do may be called twice
// for an object, last with the newer one. A cluster that does not know the kind has none.
func List(ctx context.Context, direct client.Reader, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata), of ...client.ListOption) error {
	var err error
	for range restarts {
		if err = once(ctx, direct, kind, do, of); !apierrors.IsResourceExpired(err) {
			break
		}
	}
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

// once lists all.
func once(ctx context.Context, direct client.Reader, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata), of []client.ListOption) error {
	for next := ""; ; {
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(kind)
		if err := direct.List(ctx, &list, append(slices.Clip(of), client.Limit(page), client.Continue(next))...); err != nil {
			return err
		}
		for i := range list.Items {
			do(&list.Items[i])
		}
		if next = list.Continue; next == "" {
			return nil
		}
	}
}

// Events calls do for all events, page by page. If the API server forgets in the middle which version it is listing, it is an error.
func Events(ctx context.Context, direct client.Reader, do func(*corev1.Event), of ...client.ListOption) error {
	for next := ""; ; {
		var list corev1.EventList
		if err := direct.List(ctx, &list, append(slices.Clip(of), client.Limit(page), client.Continue(next))...); err != nil {
			return err
		}
		for i := range list.Items {
			do(&list.Items[i])
		}
		if next = list.Continue; next == "" {
			return nil
		}
	}
}

// Pods returns pods as they are at one time, whole, and the version of the cluster at that time. Each page is made slim
// before the next is asked for.
func Pods(ctx context.Context, direct client.Reader, slim func(*corev1.Pod), of ...client.ListOption) ([]*corev1.Pod, uint64, error) {
	var all []*corev1.Pod
	var version uint64
	var err error
	for range restarts {
		if all, version, err = pods(ctx, direct, slim, of); !apierrors.IsResourceExpired(err) {
			break
		}
	}
	return all, version, err
}

// pods lists pods once.
func pods(ctx context.Context, direct client.Reader, slim func(*corev1.Pod), of []client.ListOption) (all []*corev1.Pod, version uint64, err error) {
	for next := ""; ; {
		var list corev1.PodList
		if err := direct.List(ctx, &list, append(slices.Clip(of), client.Limit(page), client.Continue(next))...); err != nil {
			return nil, 0, err
		}
		for i := range list.Items {
			p := list.Items[i].DeepCopy()
			slim(p)
			all = append(all, p)
		}
		if version == 0 {
			version, _ = strconv.ParseUint(list.ResourceVersion, 10, 64) // 0: it does not say
		}
		if next = list.Continue; next == "" {
			return all, version, nil
		}
	}
}
