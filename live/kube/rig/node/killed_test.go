package node

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// victim is the environment variable by which TestKilled tells its copy that it is one.
const victim = "OXGANG_RIG_VICTIM"

// TestKilled: a program that a test started, with nothing that would end it, ends when the
// test's binary is killed. It holds the end of a pipe; when no process holds it any more, its
// reader is told.
func TestKilled(t *testing.T) {
	if os.Getenv(victim) != "" {
		sleep := exec.Command("sleep", "1000")
		sleep.Stdout = os.Stdout
		if err := sleep.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("ready")
		select {}
	}
	if testing.Short() {
		t.Skip("it makes namespaces")
	}
	if err := Unable(); err != nil {
		t.Skipf("REAL NODES ARE NOT TESTED: %v", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	copied := exec.Command("/proc/self/exe", "-test.run=^TestKilled$", "-test.v")
	copied.Env = append(os.Environ(), stage+"=", victim+"=1")
	copied.Stdout = write
	if err := copied.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(read)
	for line := ""; line != "ready\n"; {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("the copy was not ready: %v", err)
		}
	}
	if err := copied.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Errorf("a process outlives the binary that was killed: %v", err)
	}
	_ = copied.Wait() // it was killed
}
