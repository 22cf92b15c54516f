package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The program imports nothing of Kubernetes, not even through others: what it asks a cluster
// it asks through kubectl.
func TestImportsNoKubernetes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "\ngithub.com/oxgang/oxgang/live/kube/view\n") {
		t.Fatal("go list shows no live/kube/view, want all that the program imports")
	}
	if found := kubernetesImports(string(out)); len(found) > 0 {
		t.Errorf("imports %v, want nothing of k8s.io", found)
	}
	if found := kubernetesImports(string(out) + "k8s.io/api/core/v1\nsigs.k8s.io/yaml\n"); len(found) != 2 {
		t.Errorf("of two imports of Kubernetes found %v", found)
	}
}

// kubernetesImports returns those of the packages that are Kubernetes'.
func kubernetesImports(packages string) []string {
	var found []string
	for p := range strings.Lines(packages) {
		if p = strings.TrimSpace(p); strings.HasPrefix(p, "k8s.io/") || strings.HasPrefix(p, "sigs.k8s.io/") {
			found = append(found, p)
		}
	}
	return found
}
