package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/scheduler"
)

// play serves the script in a process of its own and returns what it said; killed: it was.
func play(t *testing.T, dir, die string) (out string, killed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, self, "serve", dir, die).CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("still serving after a minute: %s", text)
	}
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v: %s", err, text)
	}
	return string(text), err != nil
}

// steps returns the name of each step that a run went through, by number from 1.
func steps(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "steps"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{""}
	for line := range strings.Lines(string(text)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	return names
}

// points returns the first, a middle and the last step of each name: where a crash is tried.
func points(names []string) []int {
	at := map[string][]int{}
	var order []string
	for i, name := range names[1:] {
		if at[name] == nil {
			order = append(order, name)
		}
		at[name] = append(at[name], i+1)
	}
	var all []int
	for _, name := range order {
		n := at[name]
		for _, i := range []int{0, len(n) / 2, len(n) - 1} {
			if len(all) == 0 || all[len(all)-1] != n[i] {
				all = append(all, n[i])
			}
		}
	}
	return all
}

// endings checks what became of the jobs of the script: each ended once, as it should, and
// lost no step that it had saved.
func endings(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs, err := s.Jobs(true)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != len(script) {
		t.Errorf("%d jobs, want %d, each accepted once", len(jobs), len(script))
	}
	for i, j := range jobs {
		want := scheduler.Done
		if j.Spec.Name == "d" {
			want = scheduler.Cancelled
		}
		if j.Ended == nil || j.Ended.Outcome != want {
			t.Errorf("job %s: ended %+v, want %v", j.Spec.ID, j.Ended, want)
		}
		saved, err := os.ReadFile(filepath.Join(statedir.Folder(dir, j.Spec.ID), "checkpoints", "steps"))
		if want == scheduler.Done && (err != nil || string(saved) != strconv.Itoa(script[i].steps)) {
			t.Errorf("job %s: saved step %s (%v), want %d", j.Spec.ID, saved, err, script[i].steps)
		}
	}
}

// sound checks what the workers wrote down.
func sound(t *testing.T, dir string) *audit {
	t.Helper()
	a, err := readAudit(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range a.wrong {
		t.Error(wrong)
	}
	if len(a.live) > 0 {
		t.Errorf("workers that never ended: %v", a.live)
	}
	return a
}

// The scheduler is killed at each kind of step, the first, some middle and the last time, and
// started again: no worker is doubled, none is lost, and what runs is soon what is planned.
// Source: reliability, fault F1.
func TestCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	play(t, dir, "never")
	endings(t, dir)
	if a := sound(t, dir); a.begun["a"] < 3 {
		t.Fatalf("job a was started %d times, want it grown, shrunk and preempted", a.begun["a"])
	}
	names := steps(t, dir)
	all := points(names)
	worst := make(chan int, len(all))
	t.Run("points", func(t *testing.T) {
		for _, n := range all {
			t.Run(fmt.Sprintf("%d %s", n, names[n]), func(t *testing.T) {
				t.Parallel()
				worst <- crash(t, n)
			})
		}
	})
	close(worst)
	most := 0
	for ms := range worst {
		most = max(most, ms)
	}
	t.Logf("%d steps of %d kinds, %d crashes; what ran was what was planned after at most %d ms", len(names)-1, len(kinds(names)), len(all), most)
	if most > 10_000 {
		t.Errorf("got %d ms, want at most 10 s", most)
	}
}

func kinds(names []string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names[1:] {
		set[n] = true
	}
	return set
}

// crash kills the scheduler at step n, starts it again, and returns the milliseconds until
// processes were equal to the plan.
func crash(t *testing.T, n int) int {
	dir := filepath.Join(t.TempDir(), "a[b]*?c") // which is a pattern, for some
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, killed := play(t, dir, strconv.Itoa(n)); !killed {
		t.Skipf("this time there were fewer steps: %s", out)
	}
	if out, killed := play(t, dir, "never"); killed {
		t.Fatalf("killed once more: %s", out)
	}
	endings(t, dir)
	sound(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "converged"))
	if err != nil {
		t.Fatal(err)
	}
	ms, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// The checks of the audit see what they are for.
func TestAudit_sees_doubles(t *testing.T) {
	for name, lines := range map[string]string{
		"slot":       "a 1 0 3 begins 10\nb 1 0 3 begins 11\n",
		"generation": "a 1 0 3 begins 10\na 2 0 2 begins 11\n",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "audit"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := readAudit(dir); err != nil || len(a.wrong) != 1 || !strings.Contains(a.wrong[0], name) {
			t.Errorf("%s: got %v (%v), want one complaint about a %s", name, a.wrong, err, name)
		}
	}
}
