package kubetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

// What is listed as it is kept is what the fake client lists, by namespace, label and index.
func TestLister_lists_what_the_fake_client_does(t *testing.T) {
	c := New()
	for i, namespace := range []string{"a", "b", "a", "b", "a"} {
		p := &corev1.Pod{}
		p.Name, p.Namespace = fmt.Sprint("pod-", i), namespace
		p.Labels = map[string]string{batchv1.JobNameLabel: fmt.Sprint("job-", i%2)}
		p.Spec.NodeName = fmt.Sprint("node-", i%3)
		c.Create(p)
	}
	fake := c.truth.(*lister).WithWatch //nolint:forcetypeassert // New makes one
	for name, o := range map[string][]client.ListOption{
		"all":       nil,
		"namespace": {client.InNamespace("a")},
		"label":     {client.MatchingLabels{batchv1.JobNameLabel: "job-0"}},
		"both":      {client.InNamespace("b"), client.MatchingLabels{batchv1.JobNameLabel: "job-1"}},
		"index":     {client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(inventory.Index, inventory.OnNode("node-1"))}},
		"none":      {client.InNamespace("c")},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got corev1.PodList
			must(fake.List(t.Context(), &want, o...))
			must(c.truth.List(t.Context(), &got, o...))
			if diff := cmp.Diff(want.Items, got.Items); diff != "" {
				t.Errorf("items (-fake client +lister):\n%s", diff)
			}
			if name != "none" && len(got.Items) == 0 {
				t.Error("nothing is listed: the test says nothing")
			}
		})
	}
}
