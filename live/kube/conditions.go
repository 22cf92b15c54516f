package kube

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/compact"
	"github.com/oxgang/oxgang/live/kube/observe"
)

// erased reports whether somebody has taken our condition off an object since it was written: Trainer writes all conditions of a
// TrainJob as it saw them a moment before.
//
// Every new version of an object is looked at once: where our condition is there, that version counts as the one that has it.
func (w *publisher) erased(seen compact.Object) bool {
	uid := string(seen.Meta().GetUID())
	written, known := w.wrote[uid]
	if !known || observe.Version(seen.Meta()) <= written {
		return false
	}
	o, err := seen.Whole()
	if err != nil {
		return false
	}
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	gone := err == nil && !slices.ContainsFunc(all, func(one any) bool {
		c, _ := one.(map[string]any)
		return c["type"] == v1alpha1.ScheduledCondition
	})
	if !gone {
		w.wrote[uid] = observe.Version(o)
	}
	return gone
}

// has records that an object has what was told.
func (w *publisher) has(o *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote[string(o.GetUID())] = observe.Version(o)
}

// condition sets our condition in the status of an object that has conditions. It reports
// whether that changes anything.
func condition(o *unstructured.Unstructured, v *verdict) bool {
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return false
	}
	status := metav1.ConditionFalse
	if v.scheduled {
		status = metav1.ConditionTrue
	}
	next := map[string]any{
		"type": v1alpha1.ScheduledCondition, "status": string(status), "reason": v.reason, "message": v.message,
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
	for i := range all {
		old, _ := all[i].(map[string]any)
		if old["type"] != v1alpha1.ScheduledCondition {
			continue
		}
		if old["status"] == next["status"] {
			next["lastTransitionTime"] = old["lastTransitionTime"]
		}
		if old["reason"] == next["reason"] && old["message"] == next["message"] && old["status"] == next["status"] {
			return false
		}
		all[i] = next
		return unstructured.SetNestedSlice(o.Object, all, "status", "conditions") == nil
	}
	return unstructured.SetNestedSlice(o.Object, append(all, next), "status", "conditions") == nil
}
