package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
)

// TestGuide_on_call runs every example of docs/guide/on-call.md. Jobs are those of a scheduler of
// this machine; what a cluster answers is recorded.
func TestGuide_on_call(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates four runs: half a minute")
	}
	state := "OXGANG_STATE=" + filepath.Join(t.TempDir(), "state")
	serve(t, state)
	checkPage(t, &guidePage{
		name: "on-call.md", least: 20, environ: append(recorded(t), state),
		after: func(line string) {
			if strings.Contains(line, " --wait ") { // the journal has its end a little later
				tells(t, state, "labels failed ", "explain", "job", "labels")
			}
		},
	})
}

// serve runs a scheduler of two slots until the test ends.
func serve(t *testing.T, state string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "oxgang", "serve", "--slots", "2", "--round", "100ms", "--cgroup", "")
	cmd.Env = append(os.Environ(), state)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the context of the test has ended it
	tells(t, state, "GPUs 0 of 2", "top")
}

// tells waits until a command prints a text.
func tells(t *testing.T, state, want string, args ...string) {
	t.Helper()
	var out []byte
	for range 600 {
		cmd := exec.CommandContext(t.Context(), "oxgang", args...)
		cmd.Env = append(os.Environ(), state)
		if out, _ = cmd.CombinedOutput(); strings.Contains(string(out), want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("oxgang %v: want %q in\n%s", args, want, out)
}

// recorded returns an environment in which kubectl answers as a cluster once did, in which Kueue has no
// quota for the jobs that wait.
func recorded(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	session, err := os.ReadFile(filepath.Join("testdata", "script", "kubectl.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(session), "-- bin/kubectl --\n")
	script, _, found := strings.Cut(script, "\n-- ")
	if !found {
		t.Fatal("kubectl.txtar has no bin/kubectl")
	}
	plugin := "#!/bin/sh\nif [ \"$1\" = oxgang ]; then shift; exec kubectl-oxgang \"$@\"; fi\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(plugin+script), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return []string{"WORK=" + dir, "FAIL=quota", "KUBE=" + filepath.Join(testdata.Root(t), "cmd", "oxgang", "testdata", "kube")}
}
