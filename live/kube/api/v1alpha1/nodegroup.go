package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A NodeGroup is a group of equal nodes that can be rented by the hour. A controller in the cluster creates as
// many as the scale subresource of an object requests.
//
// +kubebuilder:validation:XValidation:rule="(has(self.milliCPUs) && self.milliCPUs > 0) == (has(self.memoryBytes) && self.memoryBytes > 0)",message="milliCPUs and memoryBytes are both given, or neither"
type NodeGroup struct {
	// name of the group in plans and metrics.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// scales is the object whose controller creates the nodes.
	Scales ScaleTarget `json:"scales"`

	// nodeSelector is the labels of the group's nodes, including the queue's nodeSelector.
	//
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && !format.qualifiedName().validate(k).hasValue())",message="keys must be label keys of at most 317 characters, such as example.com/pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="a value has at most 63 characters"
	NodeSelector map[string]string `json:"nodeSelector"`

	// gpuType of a node: the name that the ClusterPolicy gives it, or else the value of the type label in lower case.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-_.a-z0-9]*[a-z0-9])?$`
	GPUType string `json:"gpuType"`

	// gpus of a node.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	GPUs int32 `json:"gpus"`

	// milliCPUs that a node has for pods. Unset: not counted.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	MilliCPUs int64 `json:"milliCPUs,omitempty"`

	// memoryBytes that a node has for pods. Unset: not counted.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9000000000000000
	// +optional
	MemoryBytes int64 `json:"memoryBytes,omitempty"`

	// priceMilliPerHour is the price of a node, in thousandths of the currency of the budget.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	PriceMilliPerHour int64 `json:"priceMilliPerHour"`

	// most is the largest number of nodes at a time, including ordered and leaving nodes.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Most int32 `json:"most"`

	// startWithin is how long an ordered node may take until pods with GPUs can run on it. Late orders are
	// cancelled.
	//
	// +kubebuilder:default="15m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="an order may take 1s to 24h"
	// +optional
	StartWithin *metav1.Duration `json:"startWithin,omitempty"`
}

// A ScaleTarget names an object with the scale subresource, such as a static NodePool of Karpenter or a
// MachineDeployment of Cluster API.
type ScaleTarget struct {
	// apiVersion of the object, such as karpenter.sh/v1.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9.-]+/[a-z0-9]+$`
	APIVersion string `json:"apiVersion"`

	// kind of the object, such as NodePool.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind"`

	// name of the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// namespace of the object. Unset: the object is cluster-scoped.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// A PlannedGroup is how many nodes of a group a plan wants.
type PlannedGroup struct {
	// name of the group.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// nodes wanted, including ordered nodes and without leaving ones.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Nodes int32 `json:"nodes"`

	// leaving nodes are being returned. No job is planned on them.
	//
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Leaving []LeavingNode `json:"leaving,omitempty"`
}

// A LeavingNode is a rented node that the queue is giving back to its provider.
type LeavingNode struct {
	// name of the node.
	//
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// uid of the node. Another node may reuse the name.
	//
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}
