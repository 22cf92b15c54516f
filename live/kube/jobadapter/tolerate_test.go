package jobadapter

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// A start adds the tolerations that it is to, once, to those that a job has.
func TestStart_tolerates(t *testing.T) {
	mine := map[string]any{"key": "mine", "operator": "Exists"}
	o := object(t, "job.yaml", func(o map[string]any) {
		child(o, "spec")["suspend"] = true
		child(o, "spec", "template", "spec")["tolerations"] = []any{mine}
	})
	k := kindOf(t, o)
	loan := corev1.Toleration{Key: v1alpha1.LoanTaint, Operator: corev1.TolerationOpEqual, Value: "q", Effect: corev1.TaintEffectNoSchedule}
	for range 2 {
		j := k.Read(o, byDefault, 1)
		if err := k.Start(o, &Grant{Generation: 1, Workers: j.Workers, Tolerations: []corev1.Toleration{loan}}); err != nil {
			t.Fatal(err)
		}
		child(o.Object, "spec")["suspend"] = true
	}
	var got corev1.PodTemplateSpec
	if err := decode(child(o.Object, "spec", "template"), &got); err != nil {
		t.Fatal(err)
	}
	if all := got.Spec.Tolerations; len(all) != 2 || all[0].Key != "mine" || all[1] != loan {
		t.Errorf("got %v, want what it had, and %v", all, loan)
	}
}
