package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var packages = []string{"containerd", "runc", "containernetworking-plugins", "busybox-static"}

// debian returns a directory with the unpacked packages: below the user's cache directory, named by a hash of
// their versions. It downloads 36 MB the first time. Without a mirror it returns the newest directory. It must run
// outside of the namespaces, which have no network.
func debian(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("unpack Debian's packages: %w", err)
	}
	base := filepath.Join(cache, "oxgang-rig")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("unpack Debian's packages: %w", err)
	}
	uris, err := run(ctx, base, "apt-get", append([]string{"download", "--print-uris"}, packages...)...)
	if err != nil {
		return newestUnpacked(base, err)
	}
	dir := filepath.Join(base, fmt.Sprintf("debian-%x", sha256.Sum256([]byte(uris)))[:len("debian-")+16])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := unpack(ctx, base, dir); err != nil {
		return newestUnpacked(base, err)
	}
	return dir, nil
}

func unpack(ctx context.Context, base, dir string) error {
	temp, err := os.MkdirTemp(base, "unpack-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if _, err := run(ctx, temp, "apt-get", append([]string{"download"}, packages...)...); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(temp, "*.deb"))
	if err != nil || len(debs) != len(packages) {
		return fmt.Errorf("apt-get downloaded %v, want one file for each of %v", debs, packages)
	}
	root := filepath.Join(temp, "root")
	for _, deb := range debs {
		if _, err := run(ctx, temp, "dpkg-deb", "-x", deb, root); err != nil {
			return err
		}
	}
	err = os.Rename(root, dir)
	if _, gone := os.Stat(dir); gone == nil {
		return nil // another process was faster
	}
	return err
}

func newestUnpacked(base string, cause error) (string, error) {
	old, err := filepath.Glob(filepath.Join(base, "debian-*"))
	if err != nil || len(old) == 0 {
		return "", fmt.Errorf("unpack Debian's packages %s: %w; run apt-get update once with access to a mirror",
			strings.Join(packages, ", "), errors.Join(cause, err))
	}
	return slices.MaxFunc(old, func(a, b string) int { return modified(a).Compare(modified(b)) }), nil
}

func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	var out, bad strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &bad
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(bad.String()))
	}
	return out.String(), nil
}

func modified(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
