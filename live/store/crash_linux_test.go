package store

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
)

// The test binary is also the process that is killed: roles says as what.
const (
	roleVariable = "OXGANG_STORE_TEST_ROLE"
	dirVariable  = "OXGANG_STORE_TEST_DIR"
)

var roles = map[string]func(dir string) error{
	"write":  write,
	"hold":   holdOpen,
	"whole":  func(dir string) error { return dieAmid(dir, (*Store).write) },
	"by row": func(dir string) error { return dieAmid(dir, rowByRow) },
}

func TestMain(m *testing.M) {
	role := roles[os.Getenv(roleVariable)]
	if role == nil {
		os.Exit(m.Run())
	}
	if err := role(os.Getenv(dirVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// acting starts a process that plays a role on a directory, and returns it and what it says.
func acting(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be over
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

// kill ends a process with kill -9 and returns what it had said until then.
func kill(t *testing.T, cmd *exec.Cmd, out io.Reader) []string {
	t.Helper()
	must(t, cmd.Process.Kill())
	said, err := io.ReadAll(out)
	must(t, err)
	_ = cmd.Wait() // says that it was killed
	lines := strings.Split(string(said), "\n")
	return lines[:len(lines)-1] // the last one may be cut off
}

// holdOpen opens a store, says so, and waits.
func holdOpen(dir string) error {
	_, err := Open(dir)
	fmt.Println("open")
	if err == nil {
		select {}
	}
	return err
}

// TestKill: whenever a writer is killed, what it acknowledged is there.
func TestKill(t *testing.T) {
	rounds, random := 25, rng.Stream(1, "store")
	if testing.Short() {
		rounds = 5
	}
	dir := t.TempDir()
	p := &acknowledged{accepted: map[job.ID]bool{}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{}}
	for i := range rounds {
		if len(p.ended) > 150 { // a listing has the last 200
			dir, p = t.TempDir(), &acknowledged{accepted: map[job.ID]bool{}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{}}
		}
		cmd, out := acting(t, "write", dir)
		for range random.IntN(40) { // killed at some moment after so many acknowledgements
			line, err := out.ReadString('\n')
			must(t, err)
			must(t, p.hear([]string{strings.TrimSpace(line)}))
		}
		must(t, p.hear(kill(t, cmd, out)))
		st, all, err := look(dir)
		must(t, err)
		if err := p.kept(st, all); err != nil {
			t.Fatalf("kill %d: %v", i+1, err)
		}
		p.see(st, all)
	}
	t.Logf("killed %d times: %d jobs, %d ended, round %d", rounds, len(p.accepted), len(p.ended), p.round)
}

// rowByRow writes what one transaction should in several: the bug that TestKill_amid_a_plan
// must catch.
func rowByRow(s *Store, do func(*sql.Tx) error) error { return do(nil) }

// dieAmid commits a plan, then dies with half of the next one written, as write does it.
func dieAmid(dir string, how func(*Store, func(*sql.Tx) error) error) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	w := &writer{s: s, epochs: map[job.ID]int{}}
	for range most - 1 {
		if err := w.cycle(); err != nil {
			return err
		}
	}
	p := planOf(w.round+1, w.jobs)
	return how(s, func(tx *sql.Tx) error {
		part := func(do func(*sql.Tx) error) error {
			if tx == nil {
				return s.write(do)
			}
			return do(tx)
		}
		err := part(func(tx *sql.Tx) error { return advance(tx, p.Round, p.Time) })
		for i := range p.Changes[:2] {
			err = errors.Join(err, part(func(tx *sql.Tx) error {
				number, err := change(tx, &p.Changes[i])
				return errors.Join(err, hold(tx, number, p.Changes[i].Held))
			}))
		}
		if err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
}

// TestKill_amid_a_plan: a plan is there as a whole or not at all; and the check that says
// so sees one that was written row by row.
func TestKill_amid_a_plan(t *testing.T) {
	for role, want := range map[string]string{"whole": "", "by row": "is of generation 4 in round 5"} {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir()
			cmd, out := acting(t, role, dir)
			_, err := io.ReadAll(out)
			must(t, err)
			_ = cmd.Wait() // says that it was killed
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Fatalf("ended with %v, want kill -9", status)
			}
			st, _, err := look(dir)
			must(t, err)
			if err := whole(st); want != "" {
				wants(t, err, want)
			} else if err != nil || st.Round != most-1 || len(st.Jobs) != most-1 {
				t.Errorf("round %d of %d jobs: %v", st.Round, len(st.Jobs), err)
			}
		})
	}
}

// TestOpen_is_for_one: a second process is told who is the first, until that is killed.
func TestOpen_is_for_one(t *testing.T) {
	dir := t.TempDir()
	cmd, out := acting(t, "hold", dir)
	line, err := out.ReadString('\n')
	must(t, err)
	if line != "open\n" {
		t.Fatalf("said %q, want that it has opened", line)
	}
	_, err = Open(dir)
	wants(t, err, fmt.Sprintf("store: %s is used by process %d: stop that first, or use another directory", dir, cmd.Process.Pid))
	kill(t, cmd, out)
	s := opened(t, dir)
	_, err = Open(dir)
	wants(t, err, fmt.Sprintf("is used by process %d", os.Getpid()))
	accepted(t, s, "a", "")
}

// TestClose_lets_go: also of a directory whose lock a child of this process has, one that
// is just being started.
func TestClose_lets_go(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	must(t, err)
	child, err := syscall.Dup(int(s.lock.Fd()))
	must(t, err)
	defer syscall.Close(child)
	must(t, s.Close())
	opened(t, dir)
}

// TestCopies: the files as they are at any moment open, and hold what was written up to
// some moment after the last acknowledgement.
func TestCopies(t *testing.T) {
	copies, random := 40, rng.Stream(2, "store")
	if testing.Short() {
		copies = 5
	}
	dir := t.TempDir()
	cmd, out := acting(t, "write", dir)
	lines := make(chan string, 1<<16)
	go func() {
		defer close(lines)
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				return
			}
			lines <- strings.TrimSpace(line)
		}
	}()
	p := &acknowledged{accepted: map[job.ID]bool{}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{}}
	for i := range copies {
		for range 1 + random.IntN(30) {
			must(t, p.hear([]string{<-lines}))
		}
		must(t, cmd.Process.Signal(syscall.SIGSTOP))
		stopped(t, cmd.Process.Pid)
		for len(lines) > 0 {
			must(t, p.hear([]string{<-lines}))
		}
		to := t.TempDir()
		for _, name := range []string{"oxgang.db", "oxgang.db-wal"} {
			copyFile(t, filepath.Join(dir, name), filepath.Join(to, name))
		}
		must(t, cmd.Process.Signal(syscall.SIGCONT))
		st, _, err := look(to)
		must(t, err)
		if err := errors.Join(whole(st), atLeast(p, st)); err != nil || !prefix(st) {
			t.Fatalf("copy %d: %v, or never was: %s", i+1, err, summary(st))
		}
	}
}

// stopped waits until a process has stopped, all its threads.
func stopped(t *testing.T, pid int) {
	t.Helper()
	var status syscall.WaitStatus
	for !status.Stopped() {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			t.Fatalf("the writer ended: %v", status)
		}
	}
}
