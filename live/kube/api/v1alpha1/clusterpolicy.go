package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A ClusterPolicy configures all queues. There is at most one, named default.
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

// A ClusterPolicySpec is the configuration.
type ClusterPolicySpec struct {
	// paused stops all queues: nothing is planned, and no job is changed. Running jobs continue.
	//
	// +optional
	Paused bool `json:"paused,omitempty"`

	// gpuResource is the resource name of GPUs in pod requests.
	//
	// +kubebuilder:default="nvidia.com/gpu"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="use a resource name such as nvidia.com/gpu"
	// +optional
	GPUResource string `json:"gpuResource,omitempty"`

	// gpuTypeLabels are the node labels that may name the GPU type. The first label that a node has is used.
	//
	// +kubebuilder:default={"nvidia.com/gpu.product"}
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="use a label key such as nvidia.com/gpu.product"
	// +optional
	GPUTypeLabels []string `json:"gpuTypeLabels,omitempty"`

	// gpuTypes gives short names to values of these labels. Other values are converted to lower case.
	//
	// +listType=map
	// +listMapKey=product
	// +kubebuilder:validation:MaxItems=64
	// +optional
	GPUTypes []GPUTypeName `json:"gpuTypes,omitempty"`

	// elasticJobSets must be true only if JobSet runs with its feature gate ElasticJobSet. The scheduler can then
	// resize JobSets.
	//
	// +optional
	ElasticJobSets bool `json:"elasticJobSets,omitempty"`
}

// A GPUTypeName is the name of a type of GPU.
type GPUTypeName struct {
	// product is the value of the node label.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Product string `json:"product"`

	// name in plans and annotations.
	//
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// A ClusterPolicyStatus is the state of the ClusterPolicy.
type ClusterPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
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

// PolicyAccepted is the condition of a ClusterPolicy that is in use.
const PolicyAccepted = "Accepted"

// ClusterPolicyList is a list of ClusterPolicies.
//
// +kubebuilder:object:root=true
type ClusterPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterPolicy `json:"items"`
}
