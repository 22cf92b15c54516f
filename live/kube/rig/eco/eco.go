package eco

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/rig"
)

//go:embed config
var config embed.FS

// A Manager is a controller that creates the pods of training jobs, or nodes for them.
type Manager string

// Trainer needs JobSet.
const (
	JobSet  Manager = "jobset"  // v0.12.0
	Trainer Manager = "trainer" // v2.3.0
	Kueue   Manager = "kueue"   // v0.19.2
	// ElasticJobSet is JobSet with that feature gate.
	ElasticJobSet Manager = "elastic-jobset"
	// KubeRay is the operator v1.6.2 without webhooks. It is built with the library versions of its authors.
	KubeRay Manager = "kuberay"
	// Karpenter is v1.13.0 with its kwok provider. It is built separately from the other managers.
	Karpenter Manager = "karpenter"
)

type from struct{ module, crds, webhooks, namespace, program string }

var origin = map[Manager]from{
	JobSet:        jobSet,
	ElasticJobSet: jobSet,
	Trainer:       {"github.com/kubeflow/trainer/v2", "manifests/base/crds", "manifests/base/webhook/manifests.yaml", "kubeflow-system", "trainer-manager"},
	Kueue:         {"sigs.k8s.io/kueue", "config/components/crd/bases", "config/components/webhook/manifests.yaml", "kueue-system", "kueue-manager"},
	KubeRay:       {"github.com/ray-project/kuberay/ray-operator", "config/crd/bases", "", "ray-system", "ray-operator"},
	Karpenter:     {"sigs.k8s.io/karpenter", "*/apis/crds", "", "karpenter", "karpenter"},
}

var jobSet = from{"sigs.k8s.io/jobset", "config/components/crd/bases", "config/components/webhook/manifests.yaml", "jobset-system", "jobset-manager"}

const startTimeout = 2 * time.Minute

// Start starts managers, by default JobSet, Trainer and Kueue, and waits for their webhooks. If Kueue is requested and
// the test does not run as root, the test is skipped.
func Start(t testing.TB, c *rig.Cluster, managers ...Manager) {
	t.Helper()
	if len(managers) == 0 {
		managers = []Manager{JobSet, Trainer, Kueue}
	}
	if slices.Contains(managers, Kueue) && os.Getuid() != 0 {
		t.Skipf("KUEUE IS NOT TESTED: user %d, want root, which can mount", os.Getuid())
	}
	bin, err := build(t.Context(), managers)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := start(ctx, c, bin, managers); err != nil {
		t.Fatal(err)
	}
}

func (m Manager) set() rig.Set {
	if m == KubeRay {
		return rig.Ray
	}
	if m == Karpenter {
		return rig.Karpenter
	}
	return rig.Everything
}

func (m Manager) source(ctx context.Context) (string, error) {
	if m == Karpenter {
		return rig.ModuleDirOf(ctx, rig.Karpenter, origin[m].module)
	}
	return rig.ModuleDir(ctx, origin[m].module)
}

func build(ctx context.Context, managers []Manager) (map[Manager]string, error) {
	bin := map[Manager]string{}
	for _, m := range managers {
		var err error
		if bin[m], err = rig.Build(ctx, m.set()); err != nil {
			return nil, err
		}
	}
	return bin, nil
}

// start first defines the kinds of all managers, because each looks for the others' kinds at its start.
func start(ctx context.Context, c *rig.Cluster, bin map[Manager]string, managers []Manager) error {
	dirs := map[Manager]string{}
	for _, m := range managers {
		if _, ok := origin[m]; !ok {
			return fmt.Errorf("manager %q, want one of %v", m, slices.Sorted(maps.Keys(origin)))
		}
		dir, err := m.source(ctx)
		if err != nil {
			return err
		}
		dirs[m] = dir
		if err := define(ctx, c, m, dir); err != nil {
			return fmt.Errorf("define the kinds of %s: %w", m, err)
		}
	}
	if err := established(ctx, c); err != nil {
		return err
	}
	var running []*manager
	for _, m := range managers {
		r, err := run(c, m, dirs[m], bin[m])
		if err != nil {
			return fmt.Errorf("start %s: %w", m, err)
		}
		running = append(running, r)
	}
	for _, r := range running {
		if err := r.hook(ctx, c); err != nil {
			return fmt.Errorf("start %s: %w", r.name, err)
		}
	}
	return nil
}

func output(cmd *exec.Cmd) (string, error) {
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(bad.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func kubectl(ctx context.Context, c *rig.Cluster, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Bin, "kubectl"), append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	return output(cmd)
}

// Apply applies a YAML text in namespace default.
func Apply(ctx context.Context, c *rig.Cluster, yaml string) error {
	_, err := kubectl(ctx, c, yaml, "apply", "--server-side", "-f", "-")
	return err
}

// Define installs the resource definitions of manager m in a cluster. It does not start the manager.
func Define(t testing.TB, c *rig.Cluster, m Manager) {
	t.Helper()
	dir, err := m.source(t.Context())
	if err == nil {
		err = define(t.Context(), c, m, dir)
	}
	if err == nil {
		err = established(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// established waits until the API server serves all kinds. kubectl wait fails for a kind without conditions, so it
// is repeated.
func established(ctx context.Context, c *rig.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return rig.Until(ctx, "all kinds", func() error {
		_, err := kubectl(ctx, c, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout=10s")
		return err
	})
}

func define(ctx context.Context, c *rig.Cluster, m Manager, dir string) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: origin[m].namespace}}
	_, err := c.Client().CoreV1().Namespaces().Create(ctx, n, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, origin[m].crds, "*_*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("no definitions in %s", filepath.Join(dir, origin[m].crds)), err)
	}
	args := []string{"apply", "--server-side"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	_, err = kubectl(ctx, c, "", args...)
	return err
}
