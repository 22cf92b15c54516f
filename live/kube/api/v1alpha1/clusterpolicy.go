package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A ClusterPolicy is what all queues have in common. There is one, named default; without it
// the defaults hold.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=oxcp,categories=oxgang
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default'",message="there is one ClusterPolicy, and its name is default"
type ClusterPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterPolicySpec   `json:"spec,omitempty"`
	Status ClusterPolicyStatus `json:"status,omitempty"`
}

// A ClusterPolicySpec is what an administrator wants.
type ClusterPolicySpec struct {
	// paused stops all queues at once: nothing is planned, and nothing is written to any
	// job. What runs goes on.
	//
	// +optional
	Paused bool `json:"paused,omitempty"`

	// gpuResource is the resource that GPUs are requested as.
	//
	// +kubebuilder:default="nvidia.com/gpu"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="the name of a resource, as nvidia.com/gpu"
	// +optional
	GPUResource string `json:"gpuResource,omitempty"`

	// gpuTypeLabels are the node labels that name the type of a node's GPUs: the first that
	// a node has counts.
	//
	// +kubebuilder:default={"nvidia.com/gpu.product"}
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="the key of a label, as nvidia.com/gpu.product"
	// +optional
	GPUTypeLabels []string `json:"gpuTypeLabels,omitempty"`

	// gpuTypes gives short names to values of these labels; others are taken in lower case.
	//
	// +listType=map
	// +listMapKey=product
	// +kubebuilder:validation:MaxItems=64
	// +optional
	GPUTypes []GPUTypeName `json:"gpuTypes,omitempty"`

	// elasticJobSets says that JobSet runs with its feature gate ElasticJobSet, so that JobSets can take
	// other numbers of workers. Without the gate it refuses that.
	//
	// +optional
	ElasticJobSets bool `json:"elasticJobSets,omitempty"`
}

// A GPUTypeName is what a type of GPU is called.
type GPUTypeName struct {
	// product is the value of the node label.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Product string `json:"product"`

	// name is that in plans and annotations.
	//
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// A ClusterPolicyStatus is how it stands.
type ClusterPolicyStatus struct {
	// observedGeneration is that of the spec that the rest speaks of.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Accepted.
	//
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PolicyAccepted is the condition of a ClusterPolicy that holds for all queues.
const PolicyAccepted = "Accepted"

// ClusterPolicyList is a list of them.
//
// +kubebuilder:object:root=true
type ClusterPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterPolicy `json:"items"`
}
