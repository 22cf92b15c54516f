package kube

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// progress is the unverified progress in a TrainJob's status.
type progress struct {
	Percent float64 // done, 0 to 100
	At      time.Time
}

// trainer returns the progress in status.trainerStatus of TrainJob o, or nil if there is none. Source: Kubeflow Trainer
// v2.3, TrainerStatus.
func trainer(o *unstructured.Unstructured) (*progress, error) {
	status, _, err := unstructured.NestedMap(o.Object, "status", "trainerStatus")
	if err != nil {
		return nil, fmt.Errorf("trainJob %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	if status["progressPercentage"] == nil {
		return nil, nil //nolint:nilnil // it says nothing, and that is no error
	}
	percent, bad := percentage(status["progressPercentage"])
	at, err := instant(status)
	if err := errors.Join(bad, err); err != nil {
		return nil, fmt.Errorf("trainJob %s/%s: trainerStatus: %w", o.GetNamespace(), o.GetName(), err)
	}
	return &progress{percent, at}, nil
}

func percentage(n any) (float64, error) {
	var v float64
	switch n := n.(type) {
	case int64:
		v = float64(n)
	case float64:
		v = n
	default:
		return 0, fmt.Errorf("progressPercentage %v, want a number", n)
	}
	if !(v >= 0 && v <= 100) {
		return 0, fmt.Errorf("progressPercentage %v, want 0 to 100", v)
	}
	return v + 0, nil // -0 becomes 0
}

func instant(status map[string]any) (time.Time, error) {
	text, _ := status["lastUpdatedTime"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("lastUpdatedTime %.40q, want a time as 2006-01-02T15:04:05Z", text)
	}
	return at, nil
}
