// Package e2e runs oxgang-scheduler on real control planes.
package e2e

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/seeded"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// Root is the directory of the checkout.
var Root = func() string {
	_, file, _, _ := goruntime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
}()

var programs sync.Map

func program(bugs string) (string, error) {
	made, _ := programs.LoadOrStore(bugs, sync.OnceValues(func() (string, error) {
		if bugs == "" {
			return build("oxgang-scheduler")
		}
		dir, err := below("seeded-" + bugs)
		if err != nil {
			return "", err
		}
		overlay, err := seeded.Overlay(Root, dir, strings.Split(bugs, ",")...)
		if err != nil {
			return "", err
		}
		return build("oxgang-scheduler-"+bugs, "-overlay", overlay)
	}))
	return made.(func() (string, error))()
}

func below(name string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "oxgang-rig", "e2e", fmt.Sprintf("%x", sha256.Sum256([]byte(Root)))[:8], name), err
}

func build(name string, flags ...string) (string, error) {
	path, err := below(name)
	if err != nil {
		return "", err
	}
	// Without -buildvcs it is linked only after changes of its sources.
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-tags=rivals", "-o", path}, flags...), "./cmd/oxgang-scheduler")...)
	cmd.Dir = Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build oxgang-scheduler: %w\n%s", err, out)
	}
	return path, nil
}

// A Setup configures a scheduler process.
type Setup struct {
	Name   string       // default oxgang-scheduler
	Config *rest.Config // nil: as an administrator
	Elects bool         // leader election
	// LeaseNamespace is by default kube-system.
	LeaseNamespace string
	Lease          string // "lease renew retry", such as "3s 2s 500ms"; default "15s 10s 2s"
	Journals       string
	Agents         string   // empty: none
	Names          []string // in its certificate
	Metrics        string   // empty: none
	Bugs           string   // seeded defects, separated by commas
}

// Serve starts a scheduler with a cluster.
func Serve(t testing.TB, c *rig.Cluster, s Setup) *rig.Process {
	t.Helper()
	path, err := program(s.Bugs)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name == "" {
		s.Name = "oxgang-scheduler"
	}
	kubeconfig := c.Kubeconfig
	if s.Config != nil {
		if kubeconfig, err = c.WriteKubeconfig(s.Name, s.Config); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(c.Dir, s.Name+".yaml")
	if err := os.WriteFile(config, []byte(s.yaml()), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := c.Run(s.Name, path, os.Environ(), "--kubeconfig", kubeconfig, "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *Setup) yaml() string {
	lease := strings.Fields(s.Lease)
	if len(lease) != 3 {
		lease = []string{"8s", "5s", "1500ms"}
	}
	return fmt.Sprintf(`apiVersion: config.oxgang.dev/v1alpha1
kind: SchedulerConfiguration
leaderElection: {enabled: %v, namespace: %s, name: oxgang-leader, leaseDuration: %s, renewDeadline: %s, retryPeriod: %s}
metrics: {address: %q, secure: false}
health: {address: ""}
agents: {address: %q, names: [%s]}
log: {format: text, level: info}
journals: %q
client: {qps: 500, burst: 1000}
`, s.Elects, cmp.Or(s.LeaseNamespace, "kube-system"), lease[0], lease[1], lease[2], s.Metrics, s.Agents, strings.Join(s.Names, ", "), s.Journals)
}

// Client returns a client with Oxgang's kinds.
func Client(t testing.TB, c *rest.Config) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	k, err := client.New(c, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Prepare installs Oxgang's resource definitions. If the Job controller creates gangs, it also installs the chart's
// admission policy, without which jobs cannot be resized.
func Prepare(ctx context.Context, t testing.TB, c *rig.Cluster) {
	t.Helper()
	if err := c.Install(ctx, Root+"/deploy/charts/oxgang/crds"); err != nil {
		t.Fatal(err)
	}
	if c.HasGangs() {
		installRules(ctx, t, c, "oxgang-gangs")
	}
}

func installRules(ctx context.Context, t testing.TB, c *rig.Cluster, name string) {
	t.Helper()
	all, err := rig.ReadObjects(Root + "/deploy/dist/install.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return o.GetName() != name })
	if len(rules) != 2 {
		t.Fatalf("%d objects named %s in the chart, want a policy and its binding", len(rules), name)
	}
	Until(ctx, t, patience, "the policy is taken", func() error { return c.Apply(ctx, rules...) })
}
