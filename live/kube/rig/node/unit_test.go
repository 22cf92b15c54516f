package node

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// hierarchies makes a directory that looks like /sys/fs/cgroup.
func hierarchies(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range controllers {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"cgroup.procs", "cpuset.cpus", "cpuset.mems"} {
			if err := os.WriteFile(filepath.Join(root, name, file), []byte("0\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// TestCgroupsUsable: a machine without one of the hierarchies, such as one with version 2
// only, is told apart from one that has all.
func TestCgroupsUsable(t *testing.T) {
	if err := cgroupsUsable(hierarchies(t)); err != nil {
		t.Errorf("with all hierarchies: %v, want none", err)
	}
	for _, name := range controllers {
		root := hierarchies(t)
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		if err := cgroupsUsable(root); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: error %v, want one that names it", name, err)
		}
	}
}

// TestSweep: groups whose maker is gone are removed with those in them, others stay.
func TestSweep(t *testing.T) {
	root := hierarchies(t)
	const dead = prefix + "99999999-1" // more than the kernel's largest process id, 2²²
	for _, dir := range []string{dead + "/kubepods/pod", prefix + "1-1/kubepods", "other"} {
		if err := os.MkdirAll(filepath.Join(root, "cpu", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweepGroups(root)
	for dir, want := range map[string]bool{dead: false, prefix + "1-1": true, "other": true} {
		if _, err := os.Stat(filepath.Join(root, "cpu", dir)); (err == nil) != want {
			t.Errorf("group %s: error %v, want it there: %t", dir, err, want)
		}
	}
}

// TestMakeGroups: a group takes the processors and memory of the machine.
func TestMakeGroups(t *testing.T) {
	root := hierarchies(t)
	if err := makeGroups(root, "g"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if got, err := os.ReadFile(filepath.Join(root, "cpuset", "g", file)); err != nil || string(got) != "0\n" {
			t.Errorf("%s holds %q, error %v, want 0", file, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "systemd")); err == nil {
		t.Error("a hierarchy systemd was made, want none where there was none")
	}
}

// TestKept: without packages there is advice; with some, the newest are taken.
func TestKept(t *testing.T) {
	base := t.TempDir()
	cause := errors.New("no mirror")
	if _, err := newestUnpacked(base, cause); !errors.Is(err, cause) || !strings.Contains(err.Error(), "apt-get update") {
		t.Errorf("without packages: error %v, want the cause and what to do", err)
	}
	for i, name := range []string{"debian-b", "debian-c", "debian-a"} {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, time.Time{}, time.Unix(int64(1000+i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := newestUnpacked(base, cause); err != nil || filepath.Base(got) != "debian-a" {
		t.Errorf("got %s, error %v, want debian-a", got, err)
	}
}

// TestLayer: directories come before what is in them, links point, and equal images are
// equal bytes.
func TestLayer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	files := []entry{{path: "bin/a", from: file}, {path: "bin/b", link: "a"}, {path: "tmp"}}
	layer, err := writeLayer(files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(bytes.NewReader(layer)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.Name+"->"+h.Linkname)
	}
	if want := []string{"bin/->", "bin/a->", "bin/b->a", "tmp/->"}; !slices.Equal(got, want) {
		t.Errorf("the layer holds %v, want %v", got, want)
	}
	if again, err := writeLayer(files); err != nil || !bytes.Equal(layer, again) {
		t.Errorf("the same files give other bytes, error %v", err)
	}
	if _, err := writeLayer([]entry{{path: "a", from: file + "-not"}}); err == nil {
		t.Error("a file that is not there: no error, want one")
	}
}
