package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and its version.
var GroupVersion = schema.GroupVersion{Group: "oxgang.dev", Version: "v1alpha1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Queue{}, &QueueList{}, &Plan{}, &PlanList{}, &ClusterPolicy{}, &ClusterPolicyList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
