package eco

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
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

	"github.com/oxgang/oxgang/test/rig"
)

//go:embed config
var config embed.FS

// A Manager is a program whose controllers and webhooks make pods of training jobs.
type Manager string

// The managers. Trainer needs JobSet.
const (
	JobSet  Manager = "jobset"  // v0.12.0
	Trainer Manager = "trainer" // v2.3.0
	Kueue   Manager = "kueue"   // v0.19.2
)

// from says where in a manager's module its definitions are.
type from struct{ module, crds, webhooks, namespace string }

var origin = map[Manager]from{
	JobSet:  {"sigs.k8s.io/jobset", "config/components/crd/bases", "config/components/webhook/manifests.yaml", "jobset-system"},
	Trainer: {"github.com/kubeflow/trainer/v2", "manifests/base/crds", "manifests/base/webhook/manifests.yaml", "kubeflow-system"},
	Kueue:   {"sigs.k8s.io/kueue", "config/components/crd/bases", "config/components/webhook/manifests.yaml", "kueue-system"},
}

// startTimeout bounds how long the managers take to start: 10 s idle.
const startTimeout = 2 * time.Minute

// Start starts managers, all if none is named, beside a cluster that makes pods of Jobs, and
// waits until their webhooks answer. They end with the cluster. Kueue wants root: on a
// machine where nobody is, the test is skipped.
func Start(t testing.TB, c *rig.Cluster, managers ...Manager) {
	t.Helper()
	if len(managers) == 0 {
		managers = []Manager{JobSet, Trainer, Kueue}
	}
	if slices.Contains(managers, Kueue) && os.Getuid() != 0 {
		t.Skipf("KUEUE IS NOT TESTED: user %d, want root, who may mount", os.Getuid())
	}
	bin, err := rig.Build(t.Context(), rig.Everything)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := start(ctx, c, bin, managers); err != nil {
		t.Fatal(err)
	}
}

// start starts programs in bin. It makes the kinds of all managers known first: each looks at
// its start for those of the others.
func start(ctx context.Context, c *rig.Cluster, bin string, managers []Manager) error {
	dirs := map[Manager]string{}
	for _, m := range managers {
		if _, ok := origin[m]; !ok {
			return fmt.Errorf("manager %q, want one of %s, %s, %s", m, JobSet, Trainer, Kueue)
		}
		dir, err := rig.ModuleDir(ctx, origin[m].module)
		if err != nil {
			return err
		}
		dirs[m] = dir
		if err := define(ctx, c, m, dir); err != nil {
			return fmt.Errorf("define the kinds of %s: %w", m, err)
		}
	}
	_, err := kubectl(ctx, c, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	if err != nil {
		return err
	}
	var running []*manager
	for _, m := range managers {
		r, err := run(c, m, dirs[m], bin)
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

// output runs a command and returns what it said, without white space around it.
func output(cmd *exec.Cmd) (string, error) {
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(bad.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// kubectl runs it as an administrator, with input on its standard input.
func kubectl(ctx context.Context, c *rig.Cluster, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Bin, "kubectl"), append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	return output(cmd)
}

// Apply makes the objects of a YAML text in the namespace default, or changes them to it.
func Apply(ctx context.Context, c *rig.Cluster, yaml string) error {
	_, err := kubectl(ctx, c, yaml, "apply", "--server-side", "-f", "-")
	return err
}

// Define makes the kinds of a manager known to a cluster, without the manager.
func Define(t testing.TB, c *rig.Cluster, m Manager) {
	t.Helper()
	dir, err := rig.ModuleDir(t.Context(), origin[m].module)
	if err == nil {
		err = define(t.Context(), c, m, dir)
	}
	if err == nil {
		_, err = kubectl(t.Context(), c, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// define makes a manager's namespace and kinds.
func define(ctx context.Context, c *rig.Cluster, m Manager, dir string) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: origin[m].namespace}}
	_, err := c.Client().CoreV1().Namespaces().Create(ctx, n, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, origin[m].crds, "*_*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("no definitions in %s, want some", filepath.Join(dir, origin[m].crds)), err)
	}
	args := []string{"apply", "--server-side"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	_, err = kubectl(ctx, c, "", args...)
	return err
}

// A manager is one that runs.
type manager struct {
	name    Manager
	dir     string // of its module
	webhook string // https://127.0.0.1:port
	process *rig.Process
}

// run starts a manager, of the programs in bin, with a certificate of the cluster's authority.
func run(c *rig.Cluster, m Manager, dir, bin string) (*manager, error) {
	home := filepath.Join(c.Dir, "eco-"+string(m))
	certs := filepath.Join(home, "k8s-webhook-server", "serving-certs") // below TMPDIR, unless configured
	if err := os.MkdirAll(certs, 0o755); err != nil {
		return nil, err
	}
	pair, err := c.Authority.Server("127.0.0.1")
	if err != nil {
		return nil, err
	}
	if err := pair.Write(certs, "tls"); err != nil {
		return nil, err
	}
	var ports [2]int
	for i := range ports {
		if ports[i], err = rig.FreePort(); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(home, "config.yaml")
	err = rig.WriteConfig(config, string(m)+".yaml", file, map[string]any{"Webhook": ports[0], "Health": ports[1], "Certs": certs})
	if err != nil {
		return nil, err
	}
	command := []string{filepath.Join(bin, string(m)+"-manager"), "--config", file, "--kubeconfig", c.Kubeconfig}
	if m == Kueue {
		script := filepath.Join(home, "kueue.sh")
		if err := rig.WriteConfig(config, "kueue.sh", script, nil); err != nil {
			return nil, err
		}
		command = append([]string{
			"/usr/bin/unshare", "--mount", "--propagation", "private",
			"/bin/sh", script, certs, filepath.Join(home, "etc"),
		}, command...)
	}
	p, err := c.Run(string(m)+"-manager", command[0], []string{"TMPDIR=" + home}, command[1:]...)
	return &manager{name: m, dir: dir, webhook: fmt.Sprintf("https://127.0.0.1:%d", ports[0]), process: p}, err
}
