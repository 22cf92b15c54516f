// Package pages lists objects of the API server page by page.
package pages

import (
	"context"
	"slices"

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
