package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// An API server alone: our custom resources and admission policies are served by it, and a
// user may do what RBAC says.
func TestAPIServerAloneServesOurResources(t *testing.T) {
	b := newBench(t, Options{APIOnly: true})
	b.ok(b.Install(t.Context(), "../../../deploy/charts/oxgang/crds", "testdata/policy.yaml"))

	client := dynamic.NewForConfigOrDie(b.Config)
	plans := schema.GroupVersionResource{Group: "oxgang.dev", Version: "v1alpha1", Resource: "plans"}
	_, err := client.Resource(plans).List(t.Context(), v1.ListOptions{})
	b.ok(err)

	user := kubernetes.NewForConfigOrDie(b.As("ann", "people")).CoreV1()
	if _, err := user.ConfigMaps("default").List(t.Context(), v1.ListOptions{}); err != nil {
		t.Errorf("ann lists config maps, as her group may: %v", err)
	}
	if _, err := user.Pods("default").List(t.Context(), v1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("ann lists pods: %v, want forbidden", err)
	}
	b.until("the policies to be in force", b.policed)
}

// A killed API server comes back with what etcd has, and one that is stopped does not answer.
func TestProcessesAreKilledStoppedAndRestarted(t *testing.T) {
	b := newBench(t, Options{APIOnly: true})
	server := b.Process(APIServer)
	b.ok(server.Stop())
	config := b.As("admin", "system:masters")
	config.Timeout = time.Second
	if _, err := kubernetes.NewForConfigOrDie(config).ServerVersion(); err == nil {
		t.Error("a stopped API server answers, want none")
	}
	b.ok(server.Cont())
	before := server.PID()
	b.ok(server.Restart())
	if err := server.Start(); err == nil {
		t.Error("started twice, want an error")
	}
	b.until("the API server", b.answers)
	if server.PID() == before {
		t.Errorf("pid %d after a restart, want another", before)
	}
	v, err := b.client.ServerVersion()
	b.ok(err)
	if v.GitVersion != releases[Planes].version {
		t.Errorf("version %s, want %s", v.GitVersion, releases[Planes].version)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		"want whole seconds":          {NodeLease: 1500 * time.Millisecond},
		"have no GPU type":            {Nodes: []Nodes{{Count: 1}}},
		"want at most 200 without":    {Nodes: []Nodes{{Type: "a", Count: 201}}},
		"want none negative":          {Nodes: []Nodes{{Type: "a", Count: -1}}},
		"APIOnly excludes nodes":      {APIOnly: true, Nodes: []Nodes{{Type: "a", Count: 1}}},
		`flags of program "scheduler`: {Flags: map[string][]string{"scheduler": nil}},
	} {
		if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

func TestReadObjectsRefusesWhatIsNoObject(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadObjects(dir); err == nil {
		t.Error("an empty directory was read, want an error")
	}
	name := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(name, []byte("kind: Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadObjects(dir); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v, want one that names %s", err, name)
	}
}
