package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
)

const (
	root     = "../../../.."                      // of the repository
	install  = root + "/deploy/dist/install.yaml" // the chart, as it comes
	rights   = root + "/deploy/dist/rights/resize.yaml"
	full     = "testdata/full.yaml" // the chart, with everything switched on
	fixtures = "testdata/fixtures.yaml"
	within   = time.Minute // bounds each wait; most take a second
)

// A server is an API server with the chart, the other kinds of job, two namespaces and
// testdata/fixtures.yaml.
type server struct {
	*rig.Cluster
	admin client.Client
}

// shared is the one server of all tests of this package.
var shared = sync.OnceValues(func() (*server, error) {
	c, err := rig.New(context.Background(), rig.Options{APIOnly: true})
	if err != nil {
		return nil, err
	}
	admin, err := client.New(c.Config, client.Options{})
	s := &server{Cluster: c, admin: admin}
	started = s
	if err != nil {
		return nil, err
	}
	return s, s.install(context.Background())
})

// started is the server, if a test asked for it.
var started *server

func TestMain(m *testing.M) {
	code := m.Run()
	if started != nil {
		if err := started.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// theServer returns the server, and starts it for the first test that asks.
func theServer(t *testing.T) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("starts an API server")
	}
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// install applies what a server has, kinds first.
func (s *server) install(ctx context.Context) error {
	kinds, err := foreignKinds(ctx)
	if err != nil {
		return err
	}
	// The fixtures twice: what the policies suspended when it was created is started then.
	for _, file := range append(kinds, install, rights, full, fixtures, fixtures) {
		all, err := rig.ReadObjects(file)
		if err != nil {
			return err
		}
		for _, o := range all {
			if file == full && !strings.HasSuffix(o.GetName(), "-gpus") {
				continue // the certificates and monitors of others are not served here
			}
			if err := s.apply(ctx, o); err != nil {
				return fmt.Errorf("%s: %s %s: %w", file, o.GetKind(), o.GetName(), err)
			}
		}
	}
	return s.settle(ctx)
}

// foreignKinds returns the files that define JobSets, TrainJobs and RayJobs.
func foreignKinds(ctx context.Context) ([]string, error) {
	var files []string
	for module, file := range map[string]string{
		"sigs.k8s.io/jobset":                          "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
		"github.com/kubeflow/trainer/v2":              "manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml",
		"github.com/ray-project/kuberay/ray-operator": "config/crd/bases/ray.io_rayjobs.yaml",
	} {
		dir, err := rig.ModuleDir(ctx, module)
		if err != nil {
			return nil, err
		}
		files = append(files, filepath.Join(dir, file))
	}
	return files, nil
}

// apply applies an object, as soon as its kind is served.
func (s *server) apply(ctx context.Context, o *unstructured.Unstructured) error {
	return poll(ctx, func() error {
		err := s.admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()),
			client.FieldOwner("test"), client.ForceOwnership)
		// It takes half a minute until the API server knows the kinds that policies speak of.
		early := err != nil && strings.Contains(err.Error(), "failed to configure policy")
		if !early && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)) {
			return fmt.Errorf("%w: %w", errLasting, err)
		}
		return err
	})
}

var errLasting = errors.New("it will not pass")

// poll calls do until it returns nil or an error that lasts, and returns the last error.
func poll(ctx context.Context, do func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, within, true, func(context.Context) (bool, error) {
		last = do()
		if errors.Is(last, errLasting) {
			return false, last
		}
		return last == nil, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

// settle waits until each policy speaks, which takes the API server a moment.
func (s *server) settle(ctx context.Context) error {
	for i := range hostile {
		c := &hostile[i]
		if err := poll(ctx, func() error { return s.refused(ctx, c) }); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return poll(ctx, func() error { return s.suspends(ctx, waiting[0].object, true) })
}

// as returns a client that is somebody else.
func (s *server) as(who identity) client.Client {
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: who.user, Groups: append([]string{"system:authenticated"}, who.groups...)}
	c, err := client.New(config, client.Options{Mapper: s.admin.RESTMapper()})
	if err != nil {
		panic(err) // only if the configuration of the server is wrong, which it is not
	}
	return c
}

// An identity is how the API server knows somebody.
type identity struct {
	user   string
	groups []string
}

var (
	tenant     = identity{user: "tina", groups: []string{"team-a"}}
	outsider   = identity{user: "olaf"}
	scheduler  = identity{user: "system:serviceaccount:oxgang-system:oxgang", groups: []string{"system:serviceaccounts"}}
	kueue      = identity{user: "system:serviceaccount:kueue-system:kueue-controller-manager", groups: []string{"system:serviceaccounts"}}
	jobsets    = identity{user: "system:serviceaccount:jobset-system:jobset-controller-manager", groups: []string{"system:serviceaccounts"}}
	jobs       = identity{user: "system:serviceaccount:kube-system:job-controller", groups: []string{"system:serviceaccounts"}}
	breakGlass = identity{user: "root", groups: []string{"system:masters"}}
)
