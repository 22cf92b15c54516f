//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C during a long run shows what is finished, marks the rows that are not,
// and ends with status 1; what it leaves in files is complete.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	out := filepath.Join(t.TempDir(), "run")
	cmd := exec.CommandContext(t.Context(), "oxgang", "simulate", "--generate-kind", "fixed-duration", "--generate-jobs", "100000",
		"--cluster", "a100:438x8", "--policy", "sia,fifo", "--out", out, "-o", "csv")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	messages := bufio.NewReader(stderr)
	first, err := messages.ReadString('\n')
	if err != nil || first != "6 runs of 100000 jobs on 3504 GPUs\n" {
		t.Fatalf("first line %q, %v", first, err)
	}
	growing(t, filepath.Dir(out))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(messages)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v, want status 1", err)
	}
	if !strings.HasSuffix(string(rest), "\nerror: interrupted; finished runs are shown\n") {
		t.Errorf("standard error ends %q", rest)
	}
	for _, name := range []string{"sia", "fifo"} {
		if !strings.Contains(stdout.String(), "\n"+name+" (unfinished),") {
			t.Errorf("no row of %s marked as unfinished in %q", name, stdout.String())
		}
		whole, err := os.ReadFile(filepath.Join(out, name+".oxj"))
		if err != nil || !bytes.HasSuffix(whole, []byte("}\n")) {
			t.Errorf("journal of %s: %v, %d bytes, want whole lines", name, err, len(whole))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".oxgang-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// growing waits until the run whose stage is in dir has written both journals.
func growing(t *testing.T, dir string) {
	t.Helper()
	for range 6000 { // a minute at most
		written := 0
		found, err := filepath.Glob(filepath.Join(dir, ".oxgang-*", "*.oxj"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if info, err := os.Stat(name); err == nil && info.Size() > 0 {
				written++
			}
		}
		if written == 2 {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("ended while waiting for journals")
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("no journals after a minute")
}

// A line of a gigabyte is refused without being held.
func TestGigabyteLine(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	name := filepath.Join(t.TempDir(), "long.csv")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("name,time,application,num_replicas,batch_size\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 30); err != nil { // a hole takes no room on the disk
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "oxgang", "trace", "describe", "--on-bad-row=skip", name)
	out, _ := cmd.CombinedOutput()
	if want := "error: " + name + ": all 1 rows are bad; the first: " + name + ":2: line too long, want at most 1048576 bytes\n"; string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if ok && runtime.GOOS == "linux" && usage.Maxrss > 256<<10 { // KiB; the race detector needs several times the memory
		t.Errorf("peak memory %d KiB, want at most 256 MiB", usage.Maxrss)
	}
}
