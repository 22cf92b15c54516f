package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// Kubelet returns the process of the node's kubelet. If it is killed or stopped, containers continue to run.
func (n *Node) Kubelet() *rig.Process { return n.cluster.Process(n.Name + "-kubelet") }

// Crash kills kubelet, containerd and all containers at once, like a loss of power.
func (n *Node) Crash() error {
	var all []error
	for _, p := range n.started[min(1, len(n.started)):] { // keep its mount namespace
		all = append(all, p.Kill())
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	all = append(all, rig.Until(ctx, "the containers of "+n.Name+" to end", n.endContainers))
	return errors.Join(all...)
}

func (n *Node) endContainers() error {
	pids, err := members(cgroups, n.group)
	if err != nil {
		return err
	}
	shims, err := n.shims()
	if err != nil {
		return err
	}
	pids = append(pids, shims...)
	for _, pid := range pids {
		if err := unix.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("kill %d: %w", pid, err)
		}
	}
	if len(pids) > 0 {
		return fmt.Errorf("processes %v are still running", pids)
	}
	return nil
}

func (n *Node) shims() ([]int, error) {
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range found {
		line, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(line, []byte("containerd-shim")) ||
			!bytes.Contains(line, []byte(filepath.Join(n.Dir, "containerd.sock"))) {
			continue // ended, or of another node
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// Fence taints the node as out of service, so that Kubernetes treats its pods as ended.
func (n *Node) Fence(ctx context.Context) error {
	_, err := n.cluster.Client().CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType,
		[]byte(`{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}]}}`),
		v1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("fence node %s: %w", n.Name, err)
	}
	return nil
}

func (n *Node) close() error {
	if len(n.started) == 0 {
		return nil
	}
	err := errors.Join(n.Crash(), n.started[0].Kill())
	removeGroups(cgroups, n.group)
	return err
}
