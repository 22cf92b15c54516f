package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A NodeGroup is nodes that are alike and can be rented by the hour: something in the cluster
// makes as many of them as its scale subresource says.
//
// +kubebuilder:validation:XValidation:rule="(has(self.milliCPUs) && self.milliCPUs > 0) == (has(self.memoryBytes) && self.memoryBytes > 0)",message="milliCPUs and memoryBytes are both given, or neither"
type NodeGroup struct {
	// name is what the group is called in plans and metrics.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// scales is what makes its nodes.
	Scales ScaleTarget `json:"scales"`

	// nodeSelector is the labels by which its nodes are known. They have to have those of the
	// queue's nodeSelector, too.
	//
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && !format.qualifiedName().validate(k).hasValue())",message="a key is that of a label: at most 317 characters, as example.com/pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="a value has at most 63 characters"
	NodeSelector map[string]string `json:"nodeSelector"`

	// gpuType of a node, as plans call it: the value of the label that names the type, in lower
	// case, or the name that the ClusterPolicy gives it.
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

	// milliCPUs that a node has for pods; nothing: not counted.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	// +optional
	MilliCPUs int64 `json:"milliCPUs,omitempty"`

	// memoryBytes that a node has for pods; nothing: not counted.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9000000000000000
	// +optional
	MemoryBytes int64 `json:"memoryBytes,omitempty"`

	// priceMilliPerHour is what a node costs, in thousandths of the currency of the budget.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	PriceMilliPerHour int64 `json:"priceMilliPerHour"`

	// most is how many nodes there may be at a time, those on their way and those that are
	// leaving among them.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Most int32 `json:"most"`

	// startWithin is how long it may take from an order until a node is there that pods with
	// GPUs can run on. What has not come by then is cancelled.
	//
	// +kubebuilder:default="15m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="an order may take 1s to 24h"
	// +optional
	StartWithin *metav1.Duration `json:"startWithin,omitempty"`
}

// A ScaleTarget names an object that has the scale subresource: a static NodePool of Karpenter,
// say, or a MachineDeployment of Cluster API.
type ScaleTarget struct {
	// apiVersion of the object, as karpenter.sh/v1.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9.-]+/[a-z0-9]+$`
	APIVersion string `json:"apiVersion"`

	// kind of the object, as NodePool.
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

	// namespace of the object; nothing: it is in none.
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

	// nodes is how many there are to be, those on their way among them and those that are
	// leaving not.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Nodes int32 `json:"nodes"`

	// leaving is nodes that are given back. No job is planned on them.
	//
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Leaving []LeavingNode `json:"leaving,omitempty"`
}

// A LeavingNode is a node that is given back.
type LeavingNode struct {
	// name of the node.
	//
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// uid of the node: another one may get the name.
	//
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}
