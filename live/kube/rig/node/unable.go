package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var tools = []string{"unshare", "nsenter", "mount", "ip", "apt-get", "dpkg-deb"}

const cgroups = "/sys/fs/cgroup"

// Unable returns why this machine cannot run real nodes, or nil if it can.
func Unable() error {
	if os.Getuid() != 0 {
		return fmt.Errorf("real nodes: user %d, want root: only root can make namespaces and control groups", os.Getuid())
	}
	for _, name := range tools {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("real nodes: %w, want Debian with util-linux and iproute2", err)
		}
	}
	if err := cgroupsUsable(cgroups); err != nil {
		return err
	}
	return bridgeUsable()
}

var controllers = []string{"cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids"}

func cgroupsUsable(root string) error {
	for _, name := range controllers {
		dir := filepath.Join(root, name)
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
			return fmt.Errorf("real nodes: %w, want control groups of version 1 below %s", err, root)
		}
		probe, err := os.MkdirTemp(dir, prefix+"probe-")
		if err != nil {
			return fmt.Errorf("real nodes: %w, want %s to be writable", err, dir)
		}
		if err := unix.Rmdir(probe); err != nil {
			return fmt.Errorf("real nodes: remove %s: %w", probe, err)
		}
	}
	return nil
}

func bridgeUsable() error {
	out, err := exec.Command("unshare", "--net", "--mount", "--pid", "--fork",
		"ip", "link", "add", bridge, "type", "bridge").CombinedOutput()
	if err != nil {
		return fmt.Errorf("real nodes: make a bridge in a namespace: %w: %s", err, out)
	}
	return nil
}
