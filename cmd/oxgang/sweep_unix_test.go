//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const swept = `axes:
  policy: [fifo, easy, srtf]
  seed: 1..6
set:
  generate.jobs: 30
`

// Kill -9 in the middle of a sweep loses no run that it said was done: the same command runs the
// others and comes to the tables of a sweep that nothing stopped.
func TestSweep_killed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "sweep.yaml")
	if err := os.WriteFile(file, []byte(swept), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "killed")
	said := 0
	for _, lines := range []int{1, 4} { // after the line of how many there are
		cmd := exec.CommandContext(t.Context(), "oxgang", "lab", "sweep", file, "--out", out, "--workers", "2")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		messages := bufio.NewScanner(stderr)
		for n := 0; n <= lines && messages.Scan(); n++ {
			if n == 0 && messages.Text() != fmt.Sprintf("18 runs, %d of them done before", said) && said == 0 {
				t.Fatalf("it says %q", messages.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		said += lines
	}
	last, err := exec.CommandContext(t.Context(), "oxgang", "lab", "sweep", file, "--out", out, "-o", "csv").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, last)
	}
	found := 0
	if _, err := fmt.Sscanf(string(last), "18 runs, %d of them done before", &found); err != nil || found < said || found == 18 {
		t.Errorf("%d runs were found, want at least the %d that were said to be done, and not all", found, said)
	}
	if n := len(regexp.MustCompile(`(?m)^\d+: `).FindAll(last, -1)); n != 18-found {
		t.Errorf("%d runs were run, want those that were not found, %d", n, 18-found)
	}
	whole := filepath.Join(dir, "whole")
	if text, err := exec.CommandContext(t.Context(), "oxgang", "lab", "sweep", file, "--out", whole, "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	same(t, out, whole)
}

// same checks that two sweeps have the same tables.
func same(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"summary.csv", "runs.csv", "summary.parquet", "runs.parquet"} {
		got, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s differs", name)
		}
	}
}

// The script for Slurm, run as the array's tasks would run it, makes the tables of one process.
func TestSweep_slurm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "it's swept.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(swept, "1..6", "1..2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := exec.CommandContext(t.Context(), "oxgang", "lab", "sweep", file, "--as", "slurm", "--shards", "3").Output()
	if err != nil {
		t.Fatal(err)
	}
	for task := range 3 {
		cmd := exec.CommandContext(t.Context(), "bash", "-s")
		cmd.Stdin, cmd.Dir = strings.NewReader(string(script)), dir
		cmd.Env = append(os.Environ(), fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", task))
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	whole := filepath.Join(dir, "whole")
	if text, err := exec.CommandContext(t.Context(), "oxgang", "lab", "sweep", file, "--out", whole, "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	same(t, filepath.Join(dir, "it's swept-sweep"), whole)
}
