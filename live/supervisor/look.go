//go:build linux

package supervisor

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Look returns the state of the start of a job whose directory is dir, and changes nothing. If the supervisor runs but
// state.json cannot be read, the phase is Running and Note is set.
func Look(dir string) (State, error) {
	// The order matters: a generation begins once. If the lock is free after it began, it has no writer any more, and
	// the state read last is final.
	begun := unbegun(dir) != nil
	alive, err := held(dir)
	if err != nil {
		return State{}, fmt.Errorf("supervisor: %w", err)
	}
	r, err := readRecord(dir)
	switch {
	case !begun && !alive:
		return State{Phase: Absent}, nil // no worker was started
	case err != nil && alive: // the next write replaces the unreadable file
		return State{Phase: Running, Note: "cannot read its state: " + err.Error()}, nil
	case err != nil:
		return State{Phase: Gone, Detail: err.Error()}, nil //nolint:nilerr // what cannot be read is what is true of it
	case r != nil && (alive || r.Phase == Ended):
		return r.state(), nil
	case alive:
		return State{Phase: Starting}, nil
	case r != nil:
		exits := readExits(dir)
		return State{Phase: Gone, Workers: exits, Detail: cmp.Or(r.Detail, failure(exits)), Note: r.Note}, nil
	}
	return State{Phase: Absent}, nil // removed in the meantime
}

func failure(exits []Exit) string {
	for rank, e := range exits {
		if !e.OK() {
			return fmt.Sprintf("worker %d: %v", rank, e)
		}
	}
	return ""
}

// Stop stops the workers of the supervisor with directory dir: SIGTERM to every worker now, SIGKILL to every process at
// the deadline. A later call replaces the deadline. Without workers it does nothing.
func Stop(dir string, n Notice) error {
	s, err := Look(dir)
	if err != nil {
		return err
	}
	if s.Phase == Absent || s.Phase == Ended || s.Phase == Gone {
		return nil
	}
	// The workers, of any user, read it too.
	if err := replace(filepath.Join(dir, noticeFile), n, 0o644); err != nil {
		return fmt.Errorf("supervisor: write notice: %w", err)
	}
	// The signal is an optimisation: the supervisor reads the file every five seconds.
	if r, err := readRecord(dir); err == nil && r != nil {
		_ = signalProcess(r.Supervisor, unix.SIGUSR1)
	}
	return nil
}

// Kill sends SIGKILL to the supervisor with directory dir; its workers die within a second. Use it if a deadline has
// passed without effect. Look then returns Gone, and Sweep kills remaining processes.
func Kill(dir string) error {
	r, err := readRecord(dir)
	if err == nil && r == nil {
		err = errors.New("its process is not known")
	}
	if err == nil {
		err = signalProcess(r.Supervisor, unix.SIGKILL)
	}
	if err != nil {
		return fmt.Errorf("supervisor: kill: %w", err)
	}
	return nil
}

// Lives reports whether the supervisor with directory dir runs. It is much cheaper than Look.
func Lives(dir string) (bool, error) {
	alive, err := held(dir)
	if err != nil {
		return false, fmt.Errorf("supervisor: %w", err)
	}
	return alive, nil
}
