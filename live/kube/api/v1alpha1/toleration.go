package v1alpha1

// A Toleration is a toleration of pods, as in Kubernetes.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'Exists' || !has(self.value) || self.value.size() == 0",message="operator Exists has no value"
type Toleration struct {
	// key of the matching taints.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="key must be a label key such as example.com/pool"
	Key string `json:"key"`

	// operator is Equal, or Exists, which matches any value.
	//
	// +kubebuilder:default=Equal
	// +kubebuilder:validation:Enum=Equal;Exists
	// +optional
	Operator string `json:"operator,omitempty"`

	// value of the matching taints.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Value string `json:"value,omitempty"`

	// effect of the matching taints. Unset matches all effects.
	//
	// +kubebuilder:validation:Enum=NoSchedule;NoExecute
	// +optional
	Effect string `json:"effect,omitempty"`
}
