package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/rig"
)

func TestMain(m *testing.M) { Main(m) }

// TestNodes runs on one cluster what takes real nodes, the loss of one last.
func TestNodes(t *testing.T) {
	begin := time.Now()
	c := Start(t, Options{})
	t.Logf("two nodes ready after %s", time.Since(begin))
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Cluster)
	}{
		{"pods_of_a_job_find_each_other", testNames},
		{"a_pod_told_to_end_saves_its_state", testTerminate},
		{"python_of_the_machine_asks_the_api_server", testAPI},
		{"an_unhealthy_gpu_is_no_longer_allocatable", testUnhealthy},
		{"gpus_come_back_with_a_kubelet", testKubeletRestart},
		{"cpus_change_in_place", testResize},
		{"a_job_goes_on_at_the_other_node", testLoss},
	} {
		if !t.Run(test.name, func(t *testing.T) { test.run(t, c) }) {
			return
		}
	}
}

// testNames: four pods on two nodes; the first serves a word, which the others fetch by its
// name, and all say which GPUs they were given.
func testNames(t *testing.T, c *Cluster) {
	begin := time.Now()
	create(t, c.Client(), job("names", 4, podSpec(`echo "gpus $NVIDIA_VISIBLE_DEVICES"
if [ $JOB_COMPLETION_INDEX = 0 ]; then mkdir /tmp/w; echo hello > /tmp/w/word; httpd -p 8000 -h /tmp/w; fi
until printf 'GET /word HTTP/1.0\r\n\r\n' | nc -w 2 names-0.names 8000 | tail -n 1 | grep . > /tmp/got; do sleep 0.2; done
echo "got $(cat /tmp/got)"
sleep 1000`, 4)))
	nodes := map[string]int{}
	gpus := map[string]bool{}
	for _, p := range running(t, c.Client(), "names", 4) {
		nodes[p.Spec.NodeName]++
		var said string
		await(t, "the word", func(context.Context) error {
			if said = logs(t, c.Client(), p.Name); !strings.Contains(said, "got hello\n") {
				return fmt.Errorf("pod %s said %q", p.Name, said)
			}
			return nil
		})
		given, _, _ := strings.Cut(strings.TrimPrefix(said, "gpus "), "\n")
		for gpu := range strings.SplitSeq(given, ",") {
			gpus[p.Spec.NodeName+"/"+gpu] = true
		}
	}
	t.Logf("four pods met after %s", time.Since(begin))
	if nodes["real-1"] != 2 || nodes["real-2"] != 2 || len(gpus) != 16 {
		t.Errorf("pods of nodes %v, GPUs %v, want 2 pods of each, 16 different GPUs", nodes, gpus)
	}
	remove(t, c.Client(), "names")
}

// testTerminate: a process that is asked to end has the time to write a file.
func testTerminate(t *testing.T, c *Cluster) {
	dir := t.TempDir()
	spec := podSpec(`trap 'echo saved > /state/checkpoint; exit 0' TERM; echo started > /state/checkpoint; while :; do sleep 0.1; done`, 1)
	spec.Volumes = []corev1.Volume{{Name: "state", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}}}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "state", MountPath: "/state"}}
	create(t, c.Client(), job("saves", 1, spec))
	file := filepath.Join(dir, "checkpoint")
	holds := func(want string) func(context.Context) error {
		return func(context.Context) error {
			got, err := os.ReadFile(file)
			if err == nil && strings.TrimSpace(string(got)) != want {
				err = fmt.Errorf("file %s holds %q, want %q", file, got, want)
			}
			return err
		}
	}
	await(t, "the process to start", holds("started"))
	suspend := []byte(`{"spec":{"suspend":true}}`)
	if _, err := c.Client().BatchV1().Jobs("default").Patch(t.Context(), "saves", types.MergePatchType, suspend, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "its state", holds("saved"))
	remove(t, c.Client(), "saves")
}

// testAPI: Python of the machine, in a pod, finds the API server where clients in pods look
// for it, and believes its certificate.
func testAPI(t *testing.T, c *Cluster) {
	spec := podSpec("", 0)
	spec.Containers[0].Image = Host
	spec.Containers[0].Command = []string{"/usr/bin/python3", "-c", `
import os, ssl, urllib.request
host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
trust = ssl.create_default_context(cafile="/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
with urllib.request.urlopen("https://%s:%s/version" % (host, port), context=trust) as answer:
    print(host, port, answer.read().decode())
`}
	spec.Volumes, spec.Containers[0].VolumeMounts = HostVolumes()
	create(t, c.Client(), job("python", 1, spec))
	completed(t, c.Client(), "python")
	all, err := pods(t.Context(), c.Client(), "python")
	if err != nil || len(all) != 1 {
		t.Fatalf("pods %d, error %v, want 1", len(all), err)
	}
	if got := logs(t, c.Client(), all[0].Name); !strings.HasPrefix(got, "10.96.0.1 443") || !strings.Contains(got, `"v1.36.3"`) {
		t.Errorf("the pod said %q, want an API server v1.36.3 at 10.96.0.1 443", got)
	}
	remove(t, c.Client(), "python")
}

// allocatable waits until a node may give away some GPUs.
func allocatable(t *testing.T, n *Node, want int64) {
	t.Helper()
	await(t, n.Name+" to have GPUs", func(ctx context.Context) error {
		got, err := n.get(ctx)
		if err != nil {
			return err
		}
		gpus := got.Status.Allocatable[rig.GPU]
		if gpus.Value() != want || !IsReady(got) {
			return fmt.Errorf("%s GPUs, ready %t, want %d and ready", gpus.String(), IsReady(got), want)
		}
		return nil
	})
}

// testUnhealthy: 8 GPUs, 7, and 8 again.
func testUnhealthy(t *testing.T, c *Cluster) {
	n := c.Nodes[0]
	if err := n.SetUnhealthy("GPU-3"); err != nil {
		t.Fatal(err)
	}
	allocatable(t, n, 7)
	if err := n.SetUnhealthy(); err != nil {
		t.Fatal(err)
	}
	allocatable(t, n, 8)
}

// testKubeletRestart: a kubelet that is started again forgets its plugins, and the plugin
// tells it of its GPUs again.
func testKubeletRestart(t *testing.T, c *Cluster) {
	n := c.Nodes[0]
	if err := n.SetUnhealthy("GPU-1", "GPU-2"); err != nil {
		t.Fatal(err)
	}
	allocatable(t, n, 6)
	if err := n.Kubelet().Kill(); err != nil {
		t.Fatal(err)
	}
	if err := n.SetUnhealthy(); err != nil { // which only a kubelet that runs can find out
		t.Fatal(err)
	}
	if err := n.Kubelet().Start(); err != nil {
		t.Fatal(err)
	}
	allocatable(t, n, 8)
}

// testResize: a pod gets more CPU time without being started again.
func testResize(t *testing.T, c *Cluster) {
	spec := podSpec("sleep 1000", 0)
	spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}
	create(t, c.Client(), job("grows", 1, spec))
	p := running(t, c.Client(), "grows", 1)[0]
	if got := shares(t, c, &p); got != 102 { // 1024 a core
		t.Errorf("a pod of 0.1 cores has %d shares, want 102", got)
	}
	patch := []byte(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"200m"}}}]}}`)
	if _, err := c.Client().CoreV1().Pods("default").Patch(t.Context(), p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	await(t, "204 shares", func(ctx context.Context) error {
		if got := shares(t, c, &p); got != 204 {
			return fmt.Errorf("%d shares, want 204", got)
		}
		return nil
	})
	again := running(t, c.Client(), "grows", 1)[0]
	if again.UID != p.UID || again.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("pod %s restarted %d times, want the same one that runs", again.Name, again.Status.ContainerStatuses[0].RestartCount)
	}
	remove(t, c.Client(), "grows")
}

// shares returns the CPU shares of a pod's container, from its control group.
func shares(t *testing.T, c *Cluster, p *corev1.Pod) int {
	t.Helper()
	_, id, _ := strings.Cut(p.Status.ContainerStatuses[0].ContainerID, "//")
	for _, n := range c.Nodes {
		found, err := filepath.Glob(filepath.Join(cgroups, "cpu", n.group, "*", "*", "*"+string(p.UID)+"*", id, "cpu.shares"))
		if err != nil || len(found) != 1 {
			continue
		}
		var got int
		data, err := os.ReadFile(found[0])
		if err == nil {
			_, err = fmt.Sscan(string(data), &got)
		}
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Fatalf("pod %s: no control group", p.Name)
	return 0
}

// testLoss: a node loses its power, is found to be lost, and is fenced: its pod ends, and
// the job goes on at the other node.
func testLoss(t *testing.T, c *Cluster) {
	spec := podSpec("sleep 1000", 8)
	create(t, c.Client(), job("survives", 1, spec))
	p := running(t, c.Client(), "survives", 1)[0]
	lost := c.Nodes[0]
	if p.Spec.NodeName != lost.Name {
		lost = c.Nodes[1]
	}
	begin := time.Now()
	if err := lost.Crash(); err != nil {
		t.Fatal(err)
	}
	await(t, lost.Name+" to be found lost", func(ctx context.Context) error {
		got, err := lost.get(ctx)
		if err == nil && IsReady(got) {
			err = fmt.Errorf("node %s is ready", lost.Name)
		}
		return err
	})
	t.Logf("found to be lost after %s", time.Since(begin))
	if _, err := c.Client().CoreV1().Pods("default").Get(t.Context(), p.Name, metav1.GetOptions{}); err != nil {
		t.Errorf("before the fence: %v, want the pod to be there", err)
	}
	if err := lost.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "the job to go on", func(ctx context.Context) error {
		all, err := pods(ctx, c.Client(), "survives")
		if err != nil {
			return err
		}
		for _, q := range all {
			if q.UID != p.UID && q.Spec.NodeName != lost.Name && isReady(&q) {
				return nil
			}
		}
		return fmt.Errorf("%d pods, want one at the other node", len(all))
	})
	t.Logf("went on after %s", time.Since(begin))
}
