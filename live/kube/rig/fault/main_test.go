package fault

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestMain runs the tests, or, started by one of them, the program that is killed.
func TestMain(m *testing.M) {
	if bug, ok := os.LookupEnv("FAULT_TEST_PROGRAM"); ok {
		if err := program(os.Getenv("KUBECONFIG"), bug == "doubled"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if shared != nil {
		if err := shared.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// shared is a cluster for all tests that need no more than an API server.
var (
	shared *rig.Cluster
	start  = sync.OnceValue(func() (err error) {
		shared, err = rig.New(context.Background(), rig.Options{APIOnly: true, History: true})
		return err
	})
)

// cluster returns the shared cluster.
func cluster(t *testing.T) *rig.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs etcd and an API server")
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	return shared
}

// proxied returns a proxy and a client that speaks through it.
func proxied(t *testing.T) (*Proxy, *kubernetes.Clientset) {
	t.Helper()
	p, err := New(cluster(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, clientFor(t, p.Config())
}

func clientFor(t testing.TB, c *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func namespace(t *testing.T) string {
	t.Helper()
	n := metav1.ObjectMeta{GenerateName: "fault-"}
	ns, err := clientFor(t, cluster(t).Config).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: n}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// program makes five ConfigMaps, each under a name of its own, and passes by those that are
// there. The doubled one has a bug: the API server chooses the names, and a second write marks
// the ConfigMap as made, so that one whose mark is missing is made twice.
func program(kubeconfig string, doubled bool) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps, ctx := client.CoreV1().ConfigMaps(os.Getenv("FAULT_TEST_NAMESPACE")), context.Background()
	for i := range 5 {
		step := fmt.Sprintf("step-%d", i)
		list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "done=" + step})
		if err != nil {
			return err
		}
		if len(list.Items) > 0 {
			continue
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: step, Labels: map[string]string{"step": step, "done": step}}}
		if doubled { // the label that it looks for is set by a write of its own
			m.Name, m.GenerateName, m.Labels = "", step+"-", map[string]string{"step": step}
		}
		made, err := maps.Create(ctx, m, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if !doubled {
			continue
		}
		made.Labels["done"] = step
		if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
