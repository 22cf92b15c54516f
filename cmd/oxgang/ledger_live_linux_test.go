package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/scheduler/journal"
)

// TestLedger_of_serve: the ledger of what oxgang serve recorded, which was killed and started again while jobs ran, has all
// GPU time from its first record to the end of its last round, and of each job what its processes took but for the time in which
// they started and in which nobody had seen yet that they had ended.
func TestLedger_of_serve(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 20 seconds")
	}
	dir := t.TempDir()
	state := "OXGANG_STATE=" + filepath.Join(dir, "state")
	script := filepath.Join(dir, "job.sh")
	text := fmt.Sprintf("#!/bin/sh\nfrom=$(date +%%s.%%N)\nsleep $2\necho \"$1 $from $(date +%%s.%%N)\" >> %s/truth\n", dir)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	first := serving(t, state)
	for _, args := range [][]string{{"a", "2", "12"}, {"b", "1", "4"}} {
		tells(t, state, args[0], "submit", "--name", args[0], "--gpus", args[1], "--", script, args[0], args[2])
	}
	tells(t, state, "GPUs 3 of 4", "top")
	time.Sleep(2 * time.Second)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	time.Sleep(6 * time.Second)
	second := serving(t, state)
	tells(t, state, "GPUs 0 of 4", "top")
	if err := second.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = second.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "state", "journal", "*.oxj"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, journals %v, want two", err, files)
	}
	slices.Sort(files)
	used, there := ledgerOf(t, state, files)
	if want := 4 * lasted(t, files).Seconds(); there < want-1e-6 || there > want+4*0.5 { // the last round counts to its end
		t.Errorf("%.9f GPU-seconds there, want %.9f, and up to a round more", there, want)
	}
	for name, took := range took(t, filepath.Join(dir, "truth")) {
		if got := used[name]; got < took-0.5 || got > took+8 { // b ends while nobody sees it
			t.Errorf("job %s: %.2f GPU-seconds in the ledger, and its processes took %.2f", name, got, took)
		}
	}
}

// serving starts a scheduler of four slots.
func serving(t *testing.T, state string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "oxgang", "serve", "--slots", "4", "--round", "500ms", "--cgroup", "")
	cmd.Env = append(os.Environ(), state)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tells(t, state, "of 4", "top")
	return cmd
}

// ledgerOf returns what oxgang ledger says of journals: GPU-seconds by job, and those that were there.
func ledgerOf(t *testing.T, state string, files []string) (used map[string]float64, there float64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "oxgang", append([]string{"ledger", "--by", "job", "-o", "json"}, files...)...)
	cmd.Env = append(os.Environ(), state)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Rows []struct {
			Of   []string `json:"of"`
			Used float64  `json:"gpu_seconds"`
		} `json:"rows"`
		Total struct {
			Used float64 `json:"gpu_seconds"`
		} `json:"total"`
		Pools []struct {
			There float64 `json:"there_gpu_seconds"`
			Jobs  float64 `json:"jobs_gpu_seconds"`
			Free  float64 `json:"free_gpu_seconds"`
		} `json:"pools"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	used, sum := map[string]float64{}, 0.0
	for _, r := range said.Rows {
		used[r.Of[0]] += r.Used
		sum += r.Used
	}
	p := said.Pools[0]
	if math.Abs(sum-said.Total.Used) > 1e-6 || math.Abs(sum-p.Jobs) > 1e-6 || math.Abs(p.There-p.Jobs-p.Free) > 1e-6 {
		t.Errorf("jobs sum to %v, and %+v, %+v", sum, said.Total, p)
	}
	return used, p.There
}

// lasted returns the time from the start of the first journal to the end of the last.
func lasted(t *testing.T, files []string) time.Duration {
	t.Helper()
	var from, to time.Time
	for i, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		j, err := journal.OpenFile(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		h := j.Header()
		if i == 0 {
			from = h.Start
		}
		last, err := j.Last()
		if err != nil {
			t.Fatal(err)
		}
		to = h.Start.Add(last.At)
	}
	return to.Sub(from)
}

// took returns the seconds that processes of each job took together, as they wrote them.
func took(t *testing.T, file string) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		var name string
		var from, to float64
		if _, err := fmt.Sscan(line, &name, &from, &to); err != nil {
			t.Fatal(err)
		}
		all[name] += to - from
	}
	return all
}
