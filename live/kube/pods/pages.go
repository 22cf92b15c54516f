package pods

import (
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is how many objects the API server is asked for at a time: the memory that it needs for an
// answer does not grow with the cluster.
const page = 500

// restarts is how often a list is begun again because the API server no longer has its version.
const restarts = 3

// ListMetadata calls do for the metadata of all objects of a kind, page by page. If the API
// server forgets in the middle which version it is listing, ListMetadata begins again: do may be called twice
// for an object, last with the newer one. A cluster that does not know the kind has none.
func ListMetadata(ctx context.Context, direct client.Reader, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata), of ...client.ListOption) error {
	var err error
	for range restarts {
		if err = metadataOnce(ctx, direct, kind, do, of); !apierrors.IsResourceExpired(err) {
			break
		}
	}
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

// metadataOnce lists all.
func metadataOnce(ctx context.Context, direct client.Reader, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata), of []client.ListOption) error {
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

// ListEvents calls do for all events, page by page. If the API server forgets in the middle which version it is listing, it is an error.
func ListEvents(ctx context.Context, direct client.Reader, do func(*corev1.Event), of ...client.ListOption) error {
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

// A Read is what was read of pods as they were at one time.
type Read struct {
	Kept    []*corev1.Pod
	UIDs    []types.UID // of all pods, whether they are kept or not
	Version uint64      // of the cluster at that time; 0: the API server does not say
}

// ListPods reads pods as they are at one time. keep is called with each before the next page is asked for; it may change the pod, and says whether
// it is kept.
func ListPods(ctx context.Context, direct client.Reader, keep func(*corev1.Pod) bool, of ...client.ListOption) (r Read, err error) {
	for range restarts {
		if r, err = podsOnce(ctx, direct, keep, of); !apierrors.IsResourceExpired(err) {
			break
		}
	}
	return r, err
}

// podsOnce lists pods once.
func podsOnce(ctx context.Context, direct client.Reader, keep func(*corev1.Pod) bool, of []client.ListOption) (r Read, err error) {
	for next := ""; ; {
		var list corev1.PodList
		if err := direct.List(ctx, &list, append(slices.Clip(of), client.Limit(page), client.Continue(next))...); err != nil {
			return Read{}, err
		}
		for i := range list.Items {
			p := list.Items[i] // a copy, so that one pod does not keep its page
			r.UIDs = append(r.UIDs, p.UID)
			if keep(&p) {
				r.Kept = append(r.Kept, &p)
			}
		}
		if r.Version == 0 {
			r.Version, _ = strconv.ParseUint(list.ResourceVersion, 10, 64) // 0: it does not say
		}
		if next = list.Continue; next == "" {
			return r, nil
		}
	}
}
