//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/live/account"
)

// How Start hands over to the supervisor: the lock that it took and a pipe for the
// supervisor's first words, as the descriptors after stderr.
const (
	handedOver = "OXGANG_KEEPER" // set in its environment: the descriptors are there
	lockFD     = 3
	reportFD   = 4
	wellDone   = "begun\n" // what the supervisor writes if it has begun; otherwise it writes its error
)

// patience is how long Start waits for the supervisor's first words: some fsyncs,
// on a busy disk.
const patience = 30 * time.Second

// Start begins the generation l in the directory dir, which it makes. exe is
// the command that runs Main, without the directory: {"oxgang", "keeper"}. It
// returns once the supervisor has the lock and has written that it began, or says
// why it has not; ErrBegun if that happened before. The supervisor runs in a
// session of its own and goes on when this process ends.
func Start(exe []string, dir string, l *Launch) error {
	err := l.Validate()
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err == nil {
		err = start(exe, dir, l)
	}
	if err != nil {
		return fmt.Errorf("keeper: job %s: generation %d: %w", l.Job, l.Generation, err)
	}
	return nil
}

// start takes the lock before it checks anything, and holds it until the supervisor has
// it, too. So if two processes start the same generation, one finds the lock taken.
func start(exe []string, dir string, l *Launch) error {
	if err := makeFolder(dir, l.User); err != nil {
		return err
	}
	held, err := claim(dir)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := writeJSON(filepath.Join(dir, launchFile), l); err != nil {
		return err
	}
	return spawnProcess(exe, dir, held)
}

// makeFolder makes the directory of a generation. The workers of a user pass through it, to the notice; all else in it
// is the supervisor's.
func makeFolder(dir string, u *account.User) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil && u != nil {
		err = os.Chmod(dir, 0o711)
	}
	return err
}

// claim takes the lock of a generation that has not begun. If another process has the
// lock, it waits until that has begun the generation or has failed to.
func claim(dir string) (*os.File, error) {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		held, err := takeLock(dir, os.O_CREATE)
		if err != nil && !errors.Is(err, errHeld) {
			return nil, err
		}
		if begun := unbegun(dir); begun != nil {
			return nil, errors.Join(begun, closeAny(held))
		}
		if err == nil || time.Now().After(end) {
			return held, err
		}
	}
}

// closeAny closes a file that may be none.
func closeAny(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// unbegun says ErrBegun if the generation of dir has a state, readable or not.
func unbegun(dir string) error {
	r, err := readRecord(dir)
	if r != nil || err != nil {
		return errors.Join(ErrBegun, err)
	}
	return nil
}

// spawn starts the supervisor and waits for its first words.
func spawn(exe []string, dir string, held *os.File) error {
	hear, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer hear.Close()
	defer report.Close()
	stderr, err := os.OpenFile(filepath.Join(dir, stderrFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer stderr.Close()
	cmd := exec.Command(exe[0], slices.Concat(exe[1:], []string{dir})...)
	cmd.Env = append(os.Environ(), handedOver+"=1")
	cmd.Stderr = stderr
	cmd.ExtraFiles = []*os.File{held, report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that no zombie is left; its word counts, not its status
	_ = report.Close()
	return listen(hear, stderr.Name())
}

// listen reads the supervisor's first words to their end.
func listen(hear *os.File, stderr string) error {
	if err := hear.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	words, err := io.ReadAll(io.LimitReader(hear, 64<<10))
	switch said := string(words); {
	case said == wellDone:
		return nil
	case said != "":
		return errors.New(strings.TrimSpace(said))
	case err != nil:
		return fmt.Errorf("the keeper said nothing: %w", err)
	}
	why, _ := os.ReadFile(stderr)
	return fmt.Errorf("the keeper ended without a word: %s", why[max(0, len(why)-1<<10):])
}
