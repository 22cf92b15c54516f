//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func (sv *supervisor) readNotice() {
	var n Notice
	found, err := readJSON(filepath.Join(sv.dir, noticeFile), &n)
	if err != nil && !strings.Contains(sv.rec.Note, err.Error()) {
		sv.note(err)
	}
	if err != nil || !found || sv.notice != nil && *sv.notice == n {
		return
	}
	// The monotonic clock counts from here on.
	sv.notice, sv.noticeAt = &n, time.Now().Add(time.Until(n.Deadline))
	sv.terminate()
}

func (sv *supervisor) startWorkers() {
	sv.readNotice()
	if sv.stopping {
		sv.detail("stopped before it started: %s", sv.notice.Reason)
		for rank := range sv.rec.Exits {
			sv.rec.Exits[rank] = Exit{Code: TempFail}
		}
		return
	}
	if err := sv.startAll(); err != nil {
		sv.detail("%v", err)
		sv.fail()
		return
	}
	sv.enter(Running)
	at(stepRunning)
}

func (sv *supervisor) startAll() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	sv.group, err = newGroup(sv.launch)
	sv.note(err)
	for rank := range sv.launch.Workers {
		if err := sv.startWorker(rank, port); err != nil {
			return fmt.Errorf("worker %d: %w", rank, err)
		}
		at(stepForked)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (sv *supervisor) startWorker(rank, port int) error {
	read, write, err := outputPipe()
	if err != nil {
		return err
	}
	defer write.Close()
	pid, c, err := sv.startHolder(rank, port, write)
	if err != nil {
		return errors.Join(err, read.Close())
	}
	sv.ranks[pid] = c
	sv.rec.Workers = append(sv.rec.Workers, c.worker)
	sv.pipes = append(sv.pipes, read)
	sv.readers.Go(func() {
		defer read.Close()
		copyLines(sv.log, read, prefixOf(rank))
	})
	return nil
}

func prefixOf(rank int) string {
	if rank == 0 {
		return ""
	}
	return fmt.Sprintf("[rank %d] ", rank)
}

func outputPipe() (read, write *os.File, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(p[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(p[0]), unix.Close(p[1]))
	}
	return os.NewFile(uintptr(p[0]), "output"), os.NewFile(uintptr(p[1]), "output"), nil
}

func (h *holder) fork() (pid int, err error) {
	env := h.environ()
	path, err := program(h.launch, env)
	if err != nil {
		return 0, err
	}
	h.note(pin(h.launch.Workers[h.Rank].CPUs))
	attr := &syscall.ProcAttr{
		Dir: h.launch.Dir, Env: env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: deathSignal},
	}
	if u := h.launch.User; u != nil { // before it enters its directory
		attr.Sys.Credential = u.Credential()
	}
	if h.Grouped {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, groupFD
	}
	pid, err = syscall.ForkExec(path, h.launch.Command, attr)
	if err != nil && h.Grouped {
		// Retry without the cgroup, to learn whether the program or the cgroup is the problem.
		before := err
		attr.Sys.UseCgroupFD = false
		if pid, err = syscall.ForkExec(path, h.launch.Command, attr); err == nil {
			h.note(fmt.Errorf("worker %d: not in its cgroup: %w", h.Rank, before))
		}
	}
	if err != nil {
		err = explain(h.launch, path, err)
	}
	return pid, err
}

func pin(cpus []int) error {
	if cpus == nil {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("not pinned to cores %v: %w", cpus, err)
	}
	return nil
}

// program looks with the rights of the job's user, so the error reveals no more than the user may know.
func program(l *Launch, env []string) (path string, err error) {
	err = l.User.Do(func() error {
		path, err = findProgram(l, env)
		return err
	})
	return path, err
}

func findProgram(l *Launch, env []string) (string, error) {
	if info, err := os.Stat(l.Dir); err != nil {
		return "", fmt.Errorf("directory: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("directory: %s is a file", l.Dir)
	}
	return Program(l.Command[0], l.Dir, env)
}

func explain(l *Launch, path string, err error) error {
	name := l.Command[0]
	there := l.User.Do(func() error {
		_, err := os.Stat(path)
		return err
	})
	if there == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the interpreter in its first line does not exist", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (h *holder) environ() []string {
	l, world, rank := h.launch, strconv.Itoa(len(h.launch.Workers)), h.Rank
	own := []string{
		"RANK=" + strconv.Itoa(rank), "LOCAL_RANK=" + strconv.Itoa(rank), "GROUP_RANK=0",
		"WORLD_SIZE=" + world, "LOCAL_WORLD_SIZE=" + world,
		"MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + strconv.Itoa(h.Port),
		"TORCHELASTIC_RUN_ID=" + l.Job + "-" + strconv.Itoa(l.Generation),
		"TORCHELASTIC_RESTART_COUNT=" + strconv.Itoa(l.Generation-1),
		runVariable + "=" + l.Tag,
		"OXGANG_NOTICE=" + filepath.Join(h.dir, noticeFile),
	}
	place := map[string]int{}
	var env []string
	for _, list := range [][]string{l.Env, l.Workers[rank].Env, own} {
		for _, e := range list {
			name, _, _ := strings.Cut(e, "=")
			if i, ok := place[name]; ok {
				env[i] = e
				continue
			}
			place[name] = len(env)
			env = append(env, e)
		}
	}
	return env
}
