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

const (
	handedOver = "OXGANG_KEEPER" // announces the lock and the response pipe as the descriptors after stderr
	lockFD     = 3
	reportFD   = 4
	wellDone   = "begun\n" // a supervisor that did not begin sends an error
)

const patience = 30 * time.Second

// Start starts the workers of a job under a supervisor, which has its own session and outlives this process. It creates
// the directory dir for the supervisor's files. The supervisor is the command exe with dir as its last argument; it calls Main. Start returns
// when the supervisor has its lock and has recorded its start, or ErrBegun if this start of the job has begun before.
func Start(exe []string, dir string, l *Launch) error {
	err := l.Validate()
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err == nil {
		err = start(exe, dir, l)
	}
	if err != nil {
		return fmt.Errorf("supervisor: job %s: generation %d: %w", l.Job, l.Generation, err)
	}
	return nil
}

// start holds the lock until the supervisor has it, so that two processes cannot start one generation.
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

// makeFolder lets the workers' user pass through the directory, to the notice, but not list it.
func makeFolder(dir string, u *account.User) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil && u != nil {
		err = os.Chmod(dir, 0o711)
	}
	return err
}

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

func closeAny(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

func unbegun(dir string) error {
	r, err := readRecord(dir)
	if r != nil || err != nil {
		return errors.Join(errBegun, err)
	}
	return nil
}

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
	go func() { _ = cmd.Wait() }() // leave no zombie
	_ = report.Close()
	return listen(hear, stderr.Name())
}

func listen(hear *os.File, stderr string) error {
	if err := hear.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	words, err := io.ReadAll(io.LimitReader(hear, 64<<10))
	switch response := string(words); {
	case response == wellDone:
		return nil
	case response != "":
		return errors.New(strings.TrimSpace(response))
	case err != nil:
		return fmt.Errorf("the supervisor did not respond: %w", err)
	}
	why, _ := os.ReadFile(stderr)
	return fmt.Errorf("the supervisor ended without a response: %s", why[max(0, len(why)-1<<10):])
}
