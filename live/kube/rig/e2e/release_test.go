package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// A release is a build of a commit: its chart, and its program.
type release struct {
	name    string
	source  string // a checkout
	program string
	values  []string // of its chart, as --set takes them
}

// thisRelease builds this checkout.
func thisRelease(t *testing.T) *release {
	t.Helper()
	path, err := program("")
	if err != nil {
		t.Fatal(err)
	}
	return &release{name: "this build", source: Root, program: path, values: []string{"rbac.mode=Resize"}}
}

// releaseOf builds a commit of this repository.
func releaseOf(t *testing.T, commit string) *release {
	t.Helper()
	dir := t.TempDir()
	archive := fmt.Sprintf("git archive %s | tar x -C %s", commit, dir)
	r := &release{name: commit, source: dir, program: filepath.Join(dir, "oxgang-scheduler")}
	output(t, Root, "sh", "-c", archive)
	output(t, dir, "go", "build", "-trimpath", "-buildvcs=false", "-o", r.program, "./cmd/oxgang-scheduler")
	values, err := os.ReadFile(filepath.Join(chartIn(dir), "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(values), "\n  mode: Observe") { // before, the rights were those of Resize
		r.values = []string{"rbac.mode=Resize"}
	}
	return r
}

// chartIn returns the folder of the chart in a checkout. Builds before the move to deploy/ have it at the root.
func chartIn(source string) string {
	if dir := filepath.Join(source, "deploy/charts/oxgang"); isDir(dir) {
		return dir
	}
	return filepath.Join(source, "charts/oxgang")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// output runs a program in a directory, and fails the test if that does not end well.
func output(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// helm runs Helm, which is built if it is not there, on a cluster.
func helm(t *testing.T, c *rig.Cluster, arguments ...string) {
	t.Helper()
	output(t, Root, "make", "bin/helm")
	output(t, Root, append([]string{"bin/helm", "--kubeconfig", c.Kubeconfig, "--namespace", "oxgang-system"}, arguments...)...)
}

// chart returns the arguments that name the chart of a release, and its values.
func (r *release) chart() []string {
	all := []string{"oxgang", chartIn(r.source)}
	for _, v := range r.values {
		all = append(all, "--set", v)
	}
	return all
}

// serve starts the program of a release with the configuration that the chart has installed, but for the addresses,
// of which one machine has each only once. It has the rights of the chart's account.
func (r *release) serve(t *testing.T, c *rig.Cluster, k client.Client, name string) *rig.Process {
	t.Helper()
	var installed corev1.ConfigMap
	if err := k.Get(t.Context(), client.ObjectKey{Namespace: "oxgang-system", Name: "oxgang-config"}, &installed); err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(installed.Data["config.yaml"]), &config); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"metrics", "health", "agents"} {
		part, _ := config[of].(map[string]any)
		part["address"] = ""
	}
	text, err := json.Marshal(config) // YAML, too
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.Dir, name+".yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := c.WriteKubeconfig(name, c.AsServiceAccount("oxgang-system", "oxgang"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Run(name, r.program, nil, "--kubeconfig", kubeconfig, "--config", file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
