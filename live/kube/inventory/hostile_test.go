package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A quantity with an absurd exponent is read at once: it is parsed without complaint, and to
// compare or round it would take all memory.
func TestRequest_exponents(t *testing.T) {
	for _, text := range []string{"1e99999", "1e999999999", "7e2147483647", "-1e999999999"} {
		got := Request(&corev1.PodSpec{Containers: []corev1.Container{container("cpu="+text+" memory="+text+" x/gpu="+text, "")}}, "x/gpu")
		if want := MostGPUs; text[0] == '-' && got.GPUs != 0 || text[0] != '-' && got.GPUs != want {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}
