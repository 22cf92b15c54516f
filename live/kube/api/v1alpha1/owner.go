package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Owner returns a reference to the queue for objects that the garbage collector deletes with it; nil if the API
// server did not store the queue.
func (q *Queue) Owner() []metav1.OwnerReference {
	if q.UID == "" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: GroupVersion.String(), Kind: "Queue", Name: q.Name, UID: q.UID}}
}
