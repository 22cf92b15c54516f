package kube

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

func lacksCondition(o *unstructured.Unstructured) bool {
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	return err == nil && !slices.ContainsFunc(all, func(one any) bool {
		c, _ := one.(map[string]any)
		return c["type"] == v1alpha1.ScheduledCondition
	})
}

func setCondition(o *unstructured.Unstructured, scheduled bool, reason, message string) bool {
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return false
	}
	status := metav1.ConditionFalse
	if scheduled {
		status = metav1.ConditionTrue
	}
	next := map[string]any{
		"type": v1alpha1.ScheduledCondition, "status": string(status), "reason": reason, "message": message,
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
