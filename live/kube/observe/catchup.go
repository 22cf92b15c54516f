package observe

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Recheck is how often it is looked whether watches have caught up.
const Recheck = 20 * time.Millisecond

// CatchUp waits until the watches show every pod, node and job that the API server has
// now, as new as it has it, but for what is deleted meanwhile: no watch will show that.
func (ob *Observer) CatchUp(ctx context.Context) error {
	want, err := ob.versions(ctx)
	if err != nil {
		return err
	}
	for {
		shown, err := ob.waitFor(ctx, want, time.Second)
		if shown || err != nil {
			return err
		}
		left, err := ob.versions(ctx)
		if err != nil {
			return err
		}
		maps.DeleteFunc(want, func(uid string, _ uint64) bool { return left[uid] == 0 })
	}
}

// waitFor reports whether the watches show all that is wanted within a time.
func (ob *Observer) waitFor(ctx context.Context, want map[string]uint64, within time.Duration) (bool, error) {
	for end := time.Now().Add(within); time.Now().Before(end); {
		s, err := ob.Observe(ctx)
		if err != nil {
			return false, err
		}
		if s.shows(want) {
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

// versions returns the version of every pod, node and job that the API server has, by uid.
func (ob *Observer) versions(ctx context.Context) (map[string]uint64, error) {
	kinds := []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Node")}
	for _, k := range ob.options.Kinds {
		kinds = append(kinds, k.GVK())
	}
	all := make(map[string]uint64)
	for i, k := range kinds {
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(k)
		var of []client.ListOption
		if i > 1 {
			of = append(of, ob.named())
		}
		err := ob.direct.List(ctx, &list, of...)
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("%s: %w", k.Kind, err)
		}
		for j := range list.Items {
			all[string(list.Items[j].UID)] = Version(&list.Items[j])
		}
	}
	return all, nil
}

// shows reports whether every object is seen at least as new as it was.
func (s *Observation) shows(want map[string]uint64) bool {
	for uid, version := range want {
		if seen, there := s.Versions[uid]; !there || seen < version {
			return false
		}
	}
	return true
}
