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

// reap takes the exit status of every child that is over, workers and orphans,
// and reports whether there are children left. None are: no process of the
// generation is left, since every orphan's parent is the keeper.
func (k *keeper) reap() bool {
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
		if rank, ok := k.ranks[pid]; ok {
			delete(k.ranks, pid)
			k.over(rank, exitOf(status))
		}
	}
}

func exitOf(s unix.WaitStatus) Exit {
	if s.Signaled() {
		return Exit{Signal: int(s.Signal())}
	}
	return Exit{Code: s.ExitStatus()}
}

// over notes how a worker ended. If it failed, the others have the grace left;
// one that stops on notice has not failed.
func (k *keeper) over(rank int, e Exit) {
	k.rec.Exits[rank] = e
	if !e.OK() {
		k.readNotice() // the worker may have seen it first
	}
	switch {
	case e.OK(), k.stopping && (e.Code == TempFail || e.Signal == int(unix.SIGTERM) || e.Signal == int(unix.SIGKILL)):
	case k.stopping:
		k.detail("worker %d: %v", rank, e)
	default:
		k.detail("worker %d: %v", rank, e)
		k.fail()
	}
}

// fail stops the workers that are left after one has failed or did not start.
func (k *keeper) fail() {
	k.graceAt = time.Now().Add(k.launch.Grace)
	k.terminate()
}

// terminate sends SIGTERM to every worker, once. Only to the workers: what they
// started, loaders of their data say, they need for their last checkpoint.
func (k *keeper) terminate() {
	if k.stopping {
		return
	}
	k.stopping = true
	for pid := range k.ranks {
		k.note(notOver(unix.Kill(pid, unix.SIGTERM))) // our child, not reaped: the pid is its own
	}
	k.enter(Stopping)
	at(stepStopping)
}

// notOver is err without that the process is over.
func notOver(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// enforce kills every process of the generation when its time is up.
func (k *keeper) enforce() {
	now := time.Now()
	late := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if !late(k.noticeAt) && !late(k.graceAt) {
		return
	}
	if !k.rec.Killed {
		k.rec.Killed, k.saved = true, false
	}
	k.killAll()
	at(stepKilled)
}

// killAll sends SIGKILL to every process below the keeper and returns how many
// there were. One that is started meanwhile is left for the next call.
func (k *keeper) killAll() int {
	k.group.kill()
	all, err := processes()
	if err != nil {
		k.complain(err)
		return 0
	}
	n := 0
	for _, p := range below(all, func(pid int) bool { return pid == os.Getpid() }) {
		if p.zombie {
			continue
		}
		n++
		if err := p.signal(unix.SIGKILL); err != nil {
			k.complain(err)
		}
	}
	return n
}

// sweep kills what the workers have left, until nothing is.
func (k *keeper) sweep() {
	most := 0
	for k.reap() {
		most = max(most, k.killAll())
		k.wait()
	}
	if most > 0 {
		k.note(fmt.Errorf("%d processes that the workers left were killed", most))
	}
	k.note(k.group.remove())
}

// end writes how the generation ended, however often that must be tried, unless its
// directory was removed: then nobody can read it any more.
func (k *keeper) end() {
	k.closeOutput()
	tail, err := k.log.tail()
	if err != nil {
		k.note(fmt.Errorf("some output was lost: %w", err))
	}
	k.rec.Tail, k.rec.Ended = tail, time.Now()
	for k.enter(Ended); !k.saved; k.save() {
		at(stepRetry)
		if _, err := os.Stat(k.dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		k.wait()
	}
}

// closeOutput waits until the output is written. Its writers are dead, so that
// it has an end; unless somebody outside was given a descriptor, who is not
// waited for.
func (k *keeper) closeOutput() {
	for _, p := range k.pipes {
		_ = p.SetReadDeadline(time.Now().Add(5 * time.Second))
	}
	k.readers.Wait()
}
