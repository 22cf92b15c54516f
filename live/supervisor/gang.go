//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// reap collects the exit status of ended children, and reports whether children are left. Orphans become children
// of the supervisor, so without children no process of the generation is left.
func (sv *supervisor) reap() bool {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false
		case pid == 0:
			return true
		}
		if c, ok := sv.ranks[pid]; ok {
			at(stepReaped)
			delete(sv.ranks, pid)
			sv.over(c.rank, c.exit(status))
		}
	}
}

func exitOf(s unix.WaitStatus) Exit {
	if s.Signaled() {
		return Exit{Signal: int(s.Signal())}
	}
	return Exit{Code: s.ExitStatus()}
}

func (sv *supervisor) over(rank int, e Exit) {
	sv.rec.Exits[rank] = e
	if !e.OK() {
		sv.readNotice() // the worker may have seen it first
	}
	switch {
	case e.OK(), sv.stopping && (e.Code == TempFail || e.Signal == int(unix.SIGTERM) || e.Signal == int(unix.SIGKILL)):
	case sv.stopping:
		sv.detail("worker %d: %v", rank, e)
	default:
		sv.detail("worker %d: %v", rank, e)
		sv.fail()
	}
}

func (sv *supervisor) fail() {
	sv.graceAt = time.Now().Add(sv.launch.Grace)
	sv.terminate()
}

// terminate signals only workers. Their children get no signal, since data loaders are needed for the last
// checkpoint.
func (sv *supervisor) terminate() {
	if sv.stopping {
		return
	}
	sv.stopping = true
	for _, c := range sv.ranks {
		sv.note(c.worker.signal(unix.SIGTERM))
	}
	sv.enter(Stopping)
	at(stepStopping)
}

func (sv *supervisor) enforce() {
	now := time.Now()
	late := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if !late(sv.noticeAt) && !late(sv.graceAt) {
		return
	}
	if !sv.rec.Killed {
		sv.rec.Killed, sv.saved = true, false
	}
	sv.killAll()
	at(stepKilled)
}

func (sv *supervisor) killAll() int {
	sv.group.kill()
	all, err := processes()
	if err != nil {
		sv.complain(err)
		return 0
	}
	n := 0
	for _, p := range below(all, func(pid int) bool { return pid == os.Getpid() }) {
		if sv.ranks[p.PID] != nil || p.zombie {
			continue
		}
		n++
		if err := p.signal(unix.SIGKILL); err != nil {
			sv.complain(err)
		}
	}
	return n
}

func (sv *supervisor) sweep() {
	most := 0
	for sv.reap() {
		most = max(most, sv.killAll())
		sv.wait()
	}
	if most > 0 {
		sv.note(fmt.Errorf("processes that outlived the workers were killed: %d", most))
	}
	sv.note(sv.group.remove())
}

func (sv *supervisor) end() {
	sv.closeOutput()
	tail, err := sv.log.tail()
	if err != nil {
		sv.note(fmt.Errorf("some output was lost: %w", err))
	}
	sv.rec.Tail, sv.rec.Ended = tail, time.Now()
	for sv.enter(Ended); !sv.saved; sv.save() {
		at(stepRetry)
		if _, err := os.Stat(sv.dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		sv.wait()
	}
}

func (sv *supervisor) closeOutput() {
	for _, p := range sv.pipes {
		_ = p.SetReadDeadline(time.Now().Add(5 * time.Second))
	}
	sv.readers.Wait()
}
