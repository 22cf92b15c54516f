package rig

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A Set is a set of programs that are built together.
type Set string

// The sets.
const (
	Planes     Set = "planes"     // with fake nodes
	Everything Set = "everything" // Planes, real nodes and package eco
	Oldest     Set = "oldest"     // Planes, for the oldest supported Kubernetes version
	Baseline   Set = "baseline"   // Kueue's performance test, for package load
	Ray        Set = "ray"        // KubeRay's operator, for package eco
	Karpenter  Set = "karpenter"  // with its kwok provider, for package eco
)

var releases = map[Set]struct{ version, minor, module string }{
	Planes:     {"v1.36.3", "36", "binaries"},
	Everything: {"v1.36.3", "36", "binaries"},
	Oldest:     {"v1.32.13", "32", "oldest"},
	Baseline:   {"v1.36.3", "36", "binaries"},
	Ray:        {"v1.35.0", "35", "ray"},
	Karpenter:  {"v1.35.1", "35", "karpenter"},
}

var programs = map[Set]map[string]string{
	Planes: {
		"go.etcd.io/etcd/server/v3":                     "etcd",
		"k8s.io/kubernetes/cmd/kube-apiserver":          "kube-apiserver",
		"k8s.io/kubernetes/cmd/kube-controller-manager": "kube-controller-manager",
		"k8s.io/kubernetes/cmd/kube-scheduler":          "kube-scheduler",
		"k8s.io/kubernetes/cmd/kubectl":                 "kubectl",
		"sigs.k8s.io/kwok/cmd/kwok":                     "kwok",
	},
	Everything: {
		"kubelet":                    "kubelet",
		"kube-proxy":                 "kube-proxy",
		"jobset":                     "jobset-manager",
		"kueue":                      "kueue-manager",
		"trainer-controller-manager": "trainer-manager",
		"coredns":                    "coredns",
		"pause":                      "pause",
		"fakegpu":                    "fakegpu",
	},
	Oldest: {
		"k8s.io/kubernetes/cmd/kube-apiserver":          "kube-apiserver",
		"k8s.io/kubernetes/cmd/kube-controller-manager": "kube-controller-manager",
		"k8s.io/kubernetes/cmd/kube-scheduler":          "kube-scheduler",
	},
	Baseline: {
		"sigs.k8s.io/kueue/test/performance/scheduler/minimalkueue": "minimalkueue",
		"sigs.k8s.io/kueue/test/performance/scheduler/runner":       "kueue-runner",
	},
	Ray:       {"github.com/ray-project/kuberay/ray-operator": "ray-operator"},
	Karpenter: {"sigs.k8s.io/karpenter/kwok": "karpenter"},
}

// Build builds the programs of a set from its module in live/kube/rig, unless they were built before. It returns their
// directory, which is in the user's cache directory. Everything takes about 6 minutes on two idle cores.
func Build(ctx context.Context, set Set) (string, error) {
	source, err := sources(releases[set].module)
	if err != nil {
		return "", err
	}
	key, err := buildKey(source, set)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("build the rig's programs: %w", err)
	}
	dir := filepath.Join(cache, "oxgang-rig", key)
	if built(dir, set) {
		return dir, nil
	}
	if err := buildInto(ctx, source, dir, set); err != nil {
		return "", fmt.Errorf("build the rig's programs: %w", err)
	}
	return dir, nil
}

func sources(module string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(file), module)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("build the rig's programs: %w (a test built with -trimpath does not know where they are)", err)
	}
	return dir, nil
}

func buildKey(source string, set Set) (string, error) {
	h := sha256.New()
	if set == Planes {
		set = Everything // they share a directory
	}
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, buildArgs("", set))
	var files []string
	for _, pattern := range []string{"go.mod", "go.sum", "*/*.go"} {
		found, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			return "", fmt.Errorf("build the rig's programs: %w", err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	for _, name := range files {
		if err := hashFile(h, source, name); err != nil {
			return "", fmt.Errorf("build the rig's programs: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func hashFile(h io.Writer, source, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	short, err := filepath.Rel(source, name)
	if err != nil {
		return err
	}
	fmt.Fprintln(h, short, len(data))
	_, err = h.Write(data)
	return err
}

// Without the version flags the API server reports v0.0.0, which breaks version comparisons.
func buildArgs(dir string, set Set) []string {
	link := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		link = append(link, "-X", pkg+".gitVersion="+releases[set].version, "-X", pkg+".gitMajor=1", "-X", pkg+".gitMinor="+releases[set].minor)
	}
	packages := slices.Sorted(maps.Keys(programs[set]))
	if set == Everything {
		packages = []string{"tool", "./coredns", "./pause", "./fakegpu"}
	}
	return slices.Concat([]string{
		"build", "-trimpath", "-ldflags", strings.Join(link, " "), "-o", dir + string(filepath.Separator),
	}, packages)
}

func mark(dir string, set Set) string {
	if set == Everything {
		return filepath.Join(dir, "complete")
	}
	return filepath.Join(dir, "complete-"+string(set))
}

func built(dir string, set Set) bool {
	for _, s := range []Set{set, Everything} {
		if _, err := os.Stat(mark(dir, s)); err == nil {
			return true
		}
	}
	return false
}

// buildInto builds under a lock.
func buildInto(ctx context.Context, source, dir string, set Set) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // also unlocks it
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if built(dir, set) {
		return nil
	}
	fresh := filepath.Join(dir, "fresh")
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := goBuild(ctx, source, fresh, set); err != nil {
		return err
	}
	return finish(fresh, dir, set)
}

func goBuild(ctx context.Context, source, dir string, set Set) error {
	cmd := exec.CommandContext(ctx, "go", buildArgs(dir, set)...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build in %s: %w", source, err)
	}
	return nil
}

func finish(fresh, dir string, set Set) error {
	all := map[string]string{}
	of := set
	if set == Everything {
		of = Planes
		maps.Copy(all, programs[Everything])
	}
	for pkg, to := range programs[of] {
		all[strings.TrimSuffix(pkg, "/v3")] = to
	}
	var missing []error
	for from, to := range all {
		if err := os.Rename(filepath.Join(fresh, path.Base(from)), filepath.Join(dir, to)); err != nil {
			missing = append(missing, err)
		}
	}
	if err := errors.Join(append(missing, os.RemoveAll(fresh))...); err != nil {
		return err
	}
	return os.WriteFile(mark(dir, set), nil, 0o644)
}
