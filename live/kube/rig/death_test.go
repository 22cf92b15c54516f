package rig

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child, in the environment, makes the test binary a program that says which processes it has,
// and waits to be killed: one that starts a cluster, or one of the go command.
const child = "OXGANG_RIG_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(child) {
	case "":
		os.Exit(m.Run())
	case "go":
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), child+"=test")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err = cmd.Run()
	case "test":
		FollowGo()
		fmt.Fprintln(os.Stdout, "-", os.Getpid())
		select {}
	case "cluster":
		var c *Cluster
		if c, err = New(context.Background(), Options{APIOnly: true}); err == nil {
			fmt.Fprintln(os.Stdout, c.Dir, c.Process(Etcd).PID(), c.Process(APIServer).PID())
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// dead reports whether a process is no more, or waits only for its parent to see its end.
func dead(pid string) bool {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// A test binary that is killed leaves no process behind, and its directory only until the
// next cluster starts. That of a cluster that runs stays.
func TestNothingOutlivesAKilledTest(t *testing.T) {
	b := newBench(t, Options{APIOnly: true})
	dir := b.killed(os.Args[0], "cluster")
	for _, d := range []string{dir, b.Dir} {
		old := time.Now().Add(-time.Hour)
		b.ok(os.Chtimes(filepath.Join(d, "lock"), old, old))
	}
	sweep()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there, want it removed", dir)
	}
	if _, err := os.Stat(b.Dir); err != nil {
		t.Errorf("the directory of a running cluster was removed: %v", err)
	}
}

// A test whose go command was killed ends, too.
func TestNothingOutlivesAKilledGoCommand(t *testing.T) {
	b := &bench{T: t}
	program, err := os.ReadFile("/proc/self/exe")
	b.ok(err)
	path := filepath.Join(t.TempDir(), "go")
	b.ok(os.WriteFile(path, program, 0o755))
	b.killed(path, "go")
}

// killed starts the test binary as a child, kills it once it has said what it has, and waits
// until its processes are gone. It returns the directory of its cluster.
func (b *bench) killed(path, as string) (dir string) {
	b.Helper()
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), child+"="+as)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	b.ok(err)
	b.ok(spawn(cmd))
	line, err := bufio.NewReader(out).ReadString('\n')
	b.ok(err)
	said := strings.Fields(line)
	dir, pids := said[0], said[1:]
	if slices.ContainsFunc(pids, dead) || len(pids) == 0 {
		b.Fatalf("processes %v, want some, and that they run", pids)
	}
	b.ok(cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	for _, pid := range pids {
		b.until("process "+pid+" to end", func(context.Context) bool { return dead(pid) })
	}
	return dir
}

func TestCloseLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c, err := New(t.Context(), Options{APIOnly: true, Flags: map[string][]string{APIServer: {"--no-such-flag"}}})
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Fatalf("error %v, want one that shows what the API server said", err)
	}
	if c != nil {
		t.Errorf("a cluster %+v beside the error, want none", c)
	}
}

func TestBuildKeyDependsOnEverySource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := buildKey(dir, Planes)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	seen := map[string]string{}
	for _, one := range [][2]string{
		{"go.mod", "module a"}, {"go.mod", "module b"}, {"go.sum", "x"}, {"pause/main.go", "package main"}, {"pause/main.go", "package  main"},
	} {
		key := write(one[0], one[1])
		if other, ok := seen[key]; ok {
			t.Errorf("key %s after %v and %s, want different ones", key, one, other)
		}
		seen[key] = one[0]
	}
	if again := write("pause/main.go", "package  main"); seen[again] == "" {
		t.Errorf("key %s of the same sources, want the same as before", again)
	}
}

// What go build leaves gets the names that the rig uses; a set is there once all of it is, and
// all sets with the largest.
func TestFinish(t *testing.T) {
	dir := t.TempDir()
	fresh := filepath.Join(dir, "fresh")
	leave := func(names ...string) {
		if err := os.MkdirAll(fresh, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(fresh, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	leave("server", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
	if err := finish(fresh, dir, Planes); err == nil || !strings.Contains(err.Error(), "kwok") || built(dir, Planes) {
		t.Errorf("without kwok: %v, want an error that names it", err)
	}
	leave("server", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok")
	if err := finish(fresh, dir, Planes); err != nil || !built(dir, Planes) || built(dir, Everything) {
		t.Errorf("%v, want the control planes' and no more", err)
	}
	if _, err := os.Stat(filepath.Join(dir, Etcd)); err != nil {
		t.Error(err)
	}
	if args := strings.Join(buildArgs("", Planes), " "); strings.Contains(args, "kubelet") || strings.Contains(args, "tool") {
		t.Errorf("go %s, want nothing of real nodes", args)
	}
}
