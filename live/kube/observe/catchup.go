package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

// Recheck is the interval at which CatchUp looks at the watches.
const Recheck = 20 * time.Millisecond

// CatchUp waits until the watches of pods, nodes and jobs are as new as the API server was at the call. If the watch of
// pods is late, it reads the pods instead.
func (ob *Observer) CatchUp(ctx context.Context) error {
	kinds := ob.kinds(true)
	want, err := ob.versions(ctx, kinds)
	if err != nil {
		return err
	}
	for within := Prompt; ; within = time.Second {
		shown, err := ob.waitFor(ctx, want, within, kinds)
		if shown || err != nil {
			return err
		}
		if within == Prompt {
			if err := ob.ReadPods(ctx); err != nil {
				return fmt.Errorf("pods: %w", err)
			}
			kinds = kinds[1:]
		}
		left, err := ob.versions(ctx, kinds)
		if err != nil {
			return err
		}
		maps.DeleteFunc(want, func(uid string, _ uint64) bool { return left[uid] == 0 })
	}
}

func (ob *Observer) waitFor(ctx context.Context, want map[string]uint64, within time.Duration, kinds []kind) (bool, error) {
	for end := time.Now().Add(within); time.Now().Before(end); {
		seen, err := ob.shown(ctx, kinds)
		if err != nil {
			return false, err
		}
		if covers(seen, want) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("the watches have not caught up: %w", ctx.Err())
		case <-time.After(Recheck):
		}
	}
	return false, nil
}

type kind struct {
	schema.GroupVersionKind
	list func() client.ObjectList
	of   []client.ListOption
}

func (ob *Observer) kinds(all bool) []kind {
	var kinds []kind
	if all {
		kinds = append(kinds,
			kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), list: func() client.ObjectList { return &corev1.PodList{} }},
			kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Node"), list: func() client.ObjectList { return &corev1.NodeList{} }})
	}
	for _, k := range ob.options.Kinds {
		list := func() client.ObjectList {
			var list unstructured.UnstructuredList
			list.SetGroupVersionKind(k.GVK())
			return &list
		}
		kinds = append(kinds, kind{GroupVersionKind: k.GVK(), list: list, of: []client.ListOption{ob.byQueue()}})
	}
	return kinds
}

func (ob *Observer) versions(ctx context.Context, kinds []kind) (map[string]uint64, error) {
	all := make(map[string]uint64)
	for _, k := range kinds {
		err := inventory.ListMetadata(ctx, ob.direct, k.GroupVersionKind, func(o *metav1.PartialObjectMetadata) { all[string(o.UID)] = Version(o) }, k.of...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Kind, err)
		}
	}
	return all, nil
}

func (ob *Observer) shown(ctx context.Context, kinds []kind) (map[string]uint64, error) {
	all := make(map[string]uint64)
	for _, k := range kinds {
		list := k.list()
		err := ob.client.List(ctx, list, append(slices.Clip(k.of), client.UnsafeDisableDeepCopy)...)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Kind, err)
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			m, err := meta.Accessor(o)
			if err == nil {
				all[string(m.GetUID())] = Version(m)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Kind, err)
		}
	}
	return all, nil
}

func covers(seen, want map[string]uint64) bool {
	for uid, version := range want {
		if v, there := seen[uid]; !there || v < version {
			return false
		}
	}
	return true
}
