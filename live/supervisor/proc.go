//go:build linux

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

type proc struct {
	process
	parent int
	zombie bool // dead, not reaped yet
}

func readProc(pid int) (proc, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, err
	}
	return parseStat(pid, text)
}

// parseStat reads "1 (name) S 0 ...". The name may contain anything, so fields are counted from the last bracket.
// See proc_pid_stat(5).
func parseStat(pid int, text []byte) (proc, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return proc{}, fmt.Errorf("/proc/%d/stat: %d fields after the name, want at least 20", pid, len(fields))
	}
	parent, err := strconv.Atoi(string(fields[1]))
	start, err2 := strconv.ParseUint(string(fields[19]), 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return proc{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	dead := fields[0][0] == 'Z' || fields[0][0] == 'X'
	return proc{process{pid, start}, parent, dead}, nil
}

func processes() (map[int]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := map[int]proc{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, err := readProc(pid); err == nil {
				all[pid] = p
			}
		}
	}
	return all, nil
}

// below returns the descendants of root processes. A child is never older than its parent; if it seems older, the
// parent's pid was reused between two readings.
func below(all map[int]proc, root func(pid int) bool) []proc {
	var found []proc
	for _, p := range all {
		for at, steps := p, 0; steps < len(all); steps++ {
			parent, ok := all[at.parent]
			if root(at.parent) && (!ok || parent.Start <= at.Start) {
				found = append(found, p)
				break
			}
			if !ok || parent.Start > at.Start {
				break
			}
			at = parent
		}
	}
	return found
}

// signal sends a signal to this very process, never to another with a reused pid.
// It opens the descriptor first and then checks that the pid is still p's.
func (p process) signal(sig unix.Signal) error {
	if p.PID <= 1 || p.PID == os.Getpid() {
		return fmt.Errorf("process %d: refused to signal it", p.PID)
	}
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	switch {
	case !p.alive():
		return nil
	case err == nil:
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
	case !errors.Is(err, unix.ESRCH):
		err = unix.Kill(p.PID, sig) // Linux before 5.3, or a sandbox without descriptors
	}
	if err == nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return fmt.Errorf("process %d: %w", p.PID, err)
}

func (p process) alive() bool {
	now, err := readProc(p.PID)
	return err == nil && now.Start == p.Start && !now.zombie
}
