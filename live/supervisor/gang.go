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

// reap takes the exit status of every child that is over, workers and orphans, and reports
// whether there are children left. If there are none, no process of the generation is left,
// since orphans become children of the supervisor.
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
		if rank, ok := sv.ranks[pid]; ok {
			delete(sv.ranks, pid)
			sv.over(rank, exitOf(status))
		}
	}
}

func exitOf(s unix.WaitStatus) Exit {
	if s.Signaled() {
		return Exit{Signal: int(s.Signal())}
	}
	return Exit{Code: s.ExitStatus()}
}

// over records how a worker ended. If it has failed, the others have the grace to end;
// a worker that stops on notice has not failed.
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

// fail stops the workers that are left after one has failed or did not start.
func (sv *supervisor) fail() {
	sv.graceAt = time.Now().Add(sv.launch.Grace)
	sv.terminate()
}

// terminate sends SIGTERM to every worker, once. It sends none to what the workers have
// started, data loaders say: they need it for their last checkpoint.
func (sv *supervisor) terminate() {
	if sv.stopping {
		return
	}
	sv.stopping = true
	for pid := range sv.ranks {
		sv.note(notOver(unix.Kill(pid, unix.SIGTERM))) // our child, not reaped: the pid is its own
	}
	sv.enter(Stopping)
	at(stepStopping)
}

// notOver returns err, or nil if err says that the process is over.
func notOver(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// enforce kills every process of the generation when its time is up.
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

// killAll sends SIGKILL to every process below the supervisor and returns how many
// there were. One that is started meanwhile is left for the next call.
func (sv *supervisor) killAll() int {
	sv.group.kill()
	all, err := processes()
	if err != nil {
		sv.complain(err)
		return 0
	}
	n := 0
	for _, p := range below(all, func(pid int) bool { return pid == os.Getpid() }) {
		if p.zombie {
			continue
		}
		n++
		if err := p.signal(unix.SIGKILL); err != nil {
			sv.complain(err)
		}
	}
	return n
}

// sweep kills what the workers have left, until nothing is.
func (sv *supervisor) sweep() {
	most := 0
	for sv.reap() {
		most = max(most, sv.killAll())
		sv.wait()
	}
	if most > 0 {
		sv.note(fmt.Errorf("%d processes that the workers left were killed", most))
	}
	sv.note(sv.group.remove())
}

// end writes how the generation ended, however often that must be tried, unless its
// directory was removed: then nobody can read it any more.
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

// closeOutput waits until the output is written. Its writers are dead, so it has an end, unless
// a process outside the generation was given a descriptor: closeOutput does not wait for that.
func (sv *supervisor) closeOutput() {
	for _, p := range sv.pipes {
		_ = p.SetReadDeadline(time.Now().Add(5 * time.Second))
	}
	sv.readers.Wait()
}
