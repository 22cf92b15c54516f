//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Look returns the state of the generation of dir. It changes nothing. Of one whose state.json
// cannot be read, and whose supervisor lives, it says that it runs, and in the note why nothing
// else is known.
func Look(dir string) (State, error) {
	// The order matters. What has begun never begins again: if the lock is free
	// after that, nobody writes any more, and what is read last is the last word.
	begun := unbegun(dir) != nil
	alive, err := held(dir)
	if err != nil {
		return State{}, fmt.Errorf("keeper: %w", err)
	}
	r, err := readRecord(dir)
	switch {
	case !begun && !alive:
		return State{Phase: Absent}, nil // launched or not: what has not written has started no worker
	case err != nil && alive: // its next word replaces what cannot be read
		return State{Phase: Running, Note: "its state cannot be read: " + err.Error()}, nil
	case err != nil:
		return State{Phase: Gone, Detail: err.Error()}, nil //nolint:nilerr // what cannot be read is what is true of it
	case r != nil && (alive || r.Phase == Ended):
		return r.state(), nil
	case alive:
		return State{Phase: Starting}, nil
	case r != nil:
		return State{Phase: Gone, Detail: r.Detail, Note: r.Note}, nil
	}
	return State{Phase: Absent}, nil // its directory was removed meanwhile
}

// Stop asks the generation of dir to stop: SIGTERM to every worker now, SIGKILL
// to every process at the deadline. It may be called again, with another
// deadline too: the last one holds. Where nothing runs, there is nothing to do.
func Stop(dir string, n Notice) error {
	s, err := Look(dir)
	if err != nil {
		return err
	}
	if s.Phase == Absent || s.Phase == Ended || s.Phase == Gone {
		return nil
	}
	// The workers read it, too, whoever's they are. Who may come here is up to the directories above.
	if err := replace(filepath.Join(dir, noticeFile), n, 0o644); err != nil {
		return fmt.Errorf("keeper: write notice: %w", err)
	}
	// The signal only makes it quicker: the supervisor looks at the file every
	// five seconds.
	if r, err := readRecord(dir); err == nil && r != nil {
		_ = signalProcess(r.Supervisor, unix.SIGUSR1)
	}
	return nil
}

// Kill ends the supervisor of dir with SIGKILL, and its workers with it: it is for one that has
// let a deadline pass, because it was stopped or hangs. Look then says that it is gone, and Sweep kills
// what is left. It returns an error if the supervisor is not known.
func Kill(dir string) error {
	r, err := readRecord(dir)
	if err == nil && r == nil {
		err = errors.New("it has not said which process it is")
	}
	if err == nil {
		err = notOver(signalProcess(r.Supervisor, unix.SIGKILL))
	}
	if err != nil {
		return fmt.Errorf("keeper: kill: %w", err)
	}
	return nil
}

// Lives reports whether the generation of dir has a supervisor: while it has, the generation has
// not ended. It is much cheaper than Look.
func Lives(dir string) (bool, error) {
	alive, err := held(dir)
	if err != nil {
		return false, fmt.Errorf("keeper: %w", err)
	}
	return alive, nil
}
