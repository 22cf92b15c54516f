package v1alpha1

// A Toleration is one of pods, as Kubernetes has it.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'Exists' || !has(self.value) || self.value.size() == 0",message="operator Exists has no value"
type Toleration struct {
	// key of the taints that it matches.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="a key is that of a label, as example.com/pool"
	Key string `json:"key"`

	// operator says whether the value counts: Equal, or Exists, which matches any.
	//
	// +kubebuilder:default=Equal
	// +kubebuilder:validation:Enum=Equal;Exists
	// +optional
	Operator string `json:"operator,omitempty"`

	// value of the taints that it matches.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Value string `json:"value,omitempty"`

	// effect of the taints that it matches; nothing: any.
	//
	// +kubebuilder:validation:Enum=NoSchedule;NoExecute
	// +optional
	Effect string `json:"effect,omitempty"`
}
