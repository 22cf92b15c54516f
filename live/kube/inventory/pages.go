package inventory

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

// page bounds the API server's memory.
const page = 500

const restarts = 3

// ListMetadata calls do for the metadata of each object of a kind; a missing kind has none. If the API server drops the
// list's version, do may get an object twice, the newer version last.
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

func metadataOnce(ctx context.Context, direct client.Reader, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata), of []client.ListOption) error {
	return eachPage(ctx, direct, of, func(l *metav1.PartialObjectMetadataList) { l.SetGroupVersionKind(kind) }, func(l *metav1.PartialObjectMetadataList) {
		for i := range l.Items {
			do(&l.Items[i])
		}
	})
}

func eachPage[L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, direct client.Reader, of []client.ListOption, begin, do func(P)) error {
	for next := ""; ; {
		list := P(new(L))
		begin(list)
		if err := direct.List(ctx, list, append(slices.Clip(of), client.Limit(page), client.Continue(next))...); err != nil {
			return err
		}
		do(list)
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}

// ListEvents calls do for all events.
func ListEvents(ctx context.Context, direct client.Reader, do func(*corev1.Event), of ...client.ListOption) error {
	return eachPage(ctx, direct, of, func(*corev1.EventList) {}, func(l *corev1.EventList) {
		for i := range l.Items {
			do(&l.Items[i])
		}
	})
}

// A PodList has the state of pods at one time.
type PodList struct {
	Kept    []*corev1.Pod
	UIDs    []types.UID // including pods not kept
	Version uint64      // of the cluster; 0: not known
}

// ListPods reads the state of all pods at one time. It keeps those for which keep returns true; keep may change the
// pod.
func ListPods(ctx context.Context, direct client.Reader, keep func(*corev1.Pod) bool, of ...client.ListOption) (r PodList, err error) {
	for range restarts {
		if r, err = podsOnce(ctx, direct, keep, of); !apierrors.IsResourceExpired(err) {
			break
		}
	}
	return r, err
}

func podsOnce(ctx context.Context, direct client.Reader, keep func(*corev1.Pod) bool, of []client.ListOption) (r PodList, err error) {
	err = eachPage(ctx, direct, of, func(*corev1.PodList) {}, func(l *corev1.PodList) {
		for i := range l.Items {
			p := l.Items[i] // does not keep the page in memory
			r.UIDs = append(r.UIDs, p.UID)
			if keep(&p) {
				r.Kept = append(r.Kept, &p)
			}
		}
		if r.Version == 0 {
			r.Version, _ = strconv.ParseUint(l.ResourceVersion, 10, 64) // 0: not known
		}
	})
	return r, err
}
