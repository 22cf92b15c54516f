package node

import (
	"context"
	"embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/rig"
)

//go:embed config
var config embed.FS

// A Node is a running kubelet with its own containerd, GPUs and mount namespace.
type Node struct {
	Name    string // such as real-1
	Address string // on the pod network
	Dir     string

	cluster *Cluster
	number  int
	gpus    int
	lease   time.Duration
	group   string
	started []*rig.Process
}

func (c *Cluster) newNode(number int, o *Options) *Node {
	name := fmt.Sprintf("real-%d", number)
	return &Node{
		Name: name, Address: fmt.Sprintf("10.244.%d.1", number), Dir: filepath.Join(c.Dir, name),
		cluster: c, number: number, gpus: o.GPUs, lease: o.Rig.NodeLease,
		group: fmt.Sprintf("%s-%d", os.Getenv(groupName), number),
	}
}

func (n *Node) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.configure, n.startMounts, n.startContainerd, n.startKubelet, n.startGPUs, n.ready,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("start node %s: %w", n.Name, err)
		}
	}
	return nil
}

func (n *Node) configure(ctx context.Context) error {
	for _, dir := range []string{"kubelet", "cni", "pods", "volumes", "containerd"} {
		if err := os.MkdirAll(filepath.Join(n.Dir, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(n.Dir, "ca.crt"), n.cluster.Authority.Cert, 0o644); err != nil {
		return err
	}
	data := map[string]any{
		"Dir": n.Dir, "Debian": n.cluster.debian, "Pause": pause, "Bridge": bridge, "Gateway": Gateway,
		"Number": n.number, "Address": n.Address, "Group": n.group, "Lease": int(n.lease / time.Second),
	}
	for name, path := range map[string]string{
		"mounts.sh": "mounts.sh", "containerd.toml": "containerd.toml",
		"cni.conflist": "cni/10-rig.conflist", "kubelet.yaml": "kubelet.yaml",
	} {
		if err := rig.WriteConfig(config, name, filepath.Join(n.Dir, path), data); err != nil {
			return err
		}
	}
	if err := makeGroups(cgroups, n.group); err != nil {
		return err
	}
	_, err := run(ctx, "/", "ip", "addr", "replace", n.Address+"/32", "dev", bridge)
	return err
}

func (n *Node) startMounts(ctx context.Context) error {
	p, err := n.cluster.Run(n.Name+"-mounts", "/usr/bin/unshare", nil,
		"--mount", "--propagation", "private", "/bin/sh", filepath.Join(n.Dir, "mounts.sh"), n.Dir)
	if err != nil {
		return err
	}
	n.started = append(n.started, p)
	mounted := func() error {
		_, err := os.Stat(filepath.Join(n.Dir, "mounted"))
		return err
	}
	return rig.Until(ctx, "its mounts", func() error { return p.Answers(mounted) })
}

func (n *Node) run(name, path string, args ...string) (*rig.Process, error) {
	view := fmt.Sprintf("--mount=/proc/%d/ns/mnt", n.started[0].PID())
	env := []string{"PATH=" + strings.Join([]string{
		filepath.Join(n.cluster.debian, "usr", "bin"), filepath.Join(n.cluster.debian, "usr", "sbin"), os.Getenv("PATH"),
	}, ":")}
	p, err := n.cluster.Run(n.Name+"-"+name, "/usr/bin/nsenter", env, append([]string{view, path}, args...)...)
	if err == nil {
		n.started = append(n.started, p)
	}
	return p, err
}

func (n *Node) startContainerd(ctx context.Context) error {
	bin := filepath.Join(n.cluster.debian, "usr", "bin")
	p, err := n.run("containerd", filepath.Join(bin, "containerd"), "-c", filepath.Join(n.Dir, "containerd.toml"))
	if err != nil {
		return err
	}
	if err := n.answers(ctx, p, filepath.Join(n.Dir, "containerd.sock")); err != nil {
		return err
	}
	for _, path := range n.cluster.images {
		_, err := run(ctx, "/", filepath.Join(bin, "ctr"), "-a", filepath.Join(n.Dir, "containerd.sock"),
			"-n", "k8s.io", "images", "import", path)
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) answers(ctx context.Context, p *rig.Process, socket string) error {
	listens := func() error {
		c, err := net.Dial("unix", socket)
		if err != nil {
			return err
		}
		return c.Close()
	}
	return rig.Until(ctx, p.Name, func() error { return p.Answers(listens) })
}

func (n *Node) startKubelet(ctx context.Context) error {
	c := n.cluster
	kubeconfig, err := c.WriteKubeconfig(n.Name, c.As("system:node:"+n.Name, "system:nodes"))
	if err != nil {
		return err
	}
	p, err := n.run("kubelet", filepath.Join(c.Bin, "kubelet"),
		"--kubeconfig", kubeconfig, "--config", filepath.Join(n.Dir, "kubelet.yaml"),
		"--hostname-override", n.Name, "--node-ip", n.Address,
		"--root-dir", "/var/lib/kubelet", "--cert-dir", "/var/lib/kubelet/pki",
		"--node-labels", rig.Product+"=NVIDIA-H200,nvidia.com/gpu.count="+strconv.Itoa(n.gpus), "--v", "1")
	if err != nil {
		return err
	}
	return n.answers(ctx, p, filepath.Join(n.Dir, "kubelet", "device-plugins", "kubelet.sock"))
}

func (n *Node) startGPUs(context.Context) error {
	_, err := n.run("fakegpu", filepath.Join(n.cluster.Bin, "fakegpu"),
		"-gpus", strconv.Itoa(n.gpus), "-unhealthy", n.sick())
	return err
}

func (n *Node) sick() string { return filepath.Join(n.Dir, "unhealthy") }

// SetUnhealthy sets which of the node's GPUs are unhealthy. GPUs are named GPU-0, GPU-1 and so on.
func (n *Node) SetUnhealthy(gpus ...string) error {
	temp := n.sick() + ".new"
	if err := os.WriteFile(temp, []byte(strings.Join(gpus, " ")), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, n.sick())
}

func (n *Node) ready(ctx context.Context) error {
	return rig.Until(ctx, "it to be ready", func() error {
		got, err := n.get(ctx)
		if err != nil {
			return err
		}
		gpus := got.Status.Allocatable[rig.GPU]
		if !IsReady(got) || len(got.Spec.Taints) > 0 || gpus.Value() != int64(n.gpus) {
			return fmt.Errorf("ready %t, %d taints, %s GPUs, want ready, none, %d",
				IsReady(got), len(got.Spec.Taints), gpus.String(), n.gpus)
		}
		return nil
	})
}

func (n *Node) get(ctx context.Context) (*corev1.Node, error) {
	return n.cluster.Client().CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
}

// IsReady reports whether a node is Ready.
func IsReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
