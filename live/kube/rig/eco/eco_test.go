package eco

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/node"
)

func TestMain(m *testing.M) { node.Main(m) }

// await waits until ready returns nil, for a minute and a half at most.
func await(t *testing.T, what string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	if err := rig.Until(ctx, what, func() error { return ready(ctx) }); err != nil {
		t.Fatal(err)
	}
}

// apply makes what a file of testdata says, with another name and some text replaced.
func apply(t *testing.T, c *rig.Cluster, file, name string, replace ...string) {
	t.Helper()
	if err := made(t.Context(), c, file, name, replace...); err != nil {
		t.Fatal(err)
	}
}

// made is apply, which returns what went wrong.
func made(ctx context.Context, c *rig.Cluster, file, name string, replace ...string) error {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		return err
	}
	r := strings.NewReplacer(append([]string{"NAME", name}, replace...)...)
	return Apply(ctx, c, r.Replace(string(text)))
}

func get(ctx context.Context, c *rig.Cluster, object, field string) (string, error) {
	kind, name, _ := strings.Cut(object, "/")
	return kubectl(ctx, c, "", "get", kind, name, "-o", "jsonpath={"+field+"}")
}

// jobPods returns the pods of a job: those whose names begin with its own.
func jobPods(ctx context.Context, c *rig.Cluster, name string) ([]corev1.Pod, error) {
	all, err := c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var its []corev1.Pod
	for _, p := range all.Items {
		if strings.HasPrefix(p.Name, name+"-") {
			its = append(its, p)
		}
	}
	return its, nil
}

// has waits until a job has n pods, and returns them.
func has(t *testing.T, c *rig.Cluster, name string, n int) []corev1.Pod {
	t.Helper()
	var all []corev1.Pod
	await(t, fmt.Sprintf("%d pods of %s", n, name), func(ctx context.Context) error {
		var err error
		if all, err = jobPods(ctx, c, name); err == nil && len(all) != n {
			err = fmt.Errorf("%d pods, want %d", len(all), n)
		}
		return err
	})
	return all
}

// TestTrainJob: a TrainJob that Kueue admits becomes a JobSet, whose pods on two real nodes
// find each other as PyTorch's would, and completes.
func TestTrainJob(t *testing.T) {
	c := node.Start(t, node.Options{})
	begin := time.Now()
	Start(t, c.Cluster)
	t.Logf("managers ready after %s", time.Since(begin))
	apply(t, c.Cluster, "queue.yaml", "")
	apply(t, c.Cluster, "runtime.yaml", "")
	begin = time.Now()
	apply(t, c.Cluster, "train.yaml", "")
	await(t, "the TrainJob to complete", func(ctx context.Context) error {
		got, err := get(ctx, c.Cluster, "trainjob/trains", ".status.conditions")
		if err == nil && !strings.Contains(got, `"Complete"`) {
			err = fmt.Errorf("conditions %s, want one of type Complete", got)
		}
		return err
	})
	t.Logf("complete after %s", time.Since(begin))
	nodes := map[string]int{}
	for _, p := range has(t, c.Cluster, "trains", 4) {
		nodes[p.Spec.NodeName]++
		said, err := c.Client().CoreV1().Pods("default").GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
		if err != nil || !strings.Contains(string(said), "of 4\n") {
			t.Errorf("pod %s said %q, error %v, want its rank of 4", p.Name, said, err)
		}
	}
	if nodes["real-1"] != 2 || nodes["real-2"] != 2 {
		t.Errorf("pods of nodes %v, want 2 of each", nodes)
	}
	admitted, err := kubectl(t.Context(), c.Cluster, "", "get", "workloads",
		"-o", `jsonpath={.items[*].status.conditions[?(@.type=="Admitted")].status}`)
	if err != nil || admitted != "True" {
		t.Errorf("Kueue's workloads admitted: %q, error %v, want True", admitted, err)
	}
}
