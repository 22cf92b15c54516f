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
	env := sv.environ(rank, port)
	path, err := program(sv.launch, env)
	if err != nil {
		return err
	}
	read, write, err := outputPipe()
	if err != nil {
		return err
	}
	defer write.Close()
	pid, err := sv.fork(rank, path, env, write)
	if err != nil {
		return errors.Join(sv.explain(path, err), read.Close())
	}
	sv.ranks[pid] = rank
	p, err := readProc(pid) // not reaped yet, so it is there
	sv.note(err)
	sv.rec.Workers = append(sv.rec.Workers, p.process)
	prefix := ""
	if rank > 0 {
		prefix = fmt.Sprintf("[rank %d] ", rank)
	}
	sv.pipes = append(sv.pipes, read)
	sv.readers.Go(func() {
		defer read.Close()
		copyLines(sv.log, read, prefix)
	})
	return nil
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

func (sv *supervisor) fork(rank int, path string, env []string, output *os.File) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	unpin, err := pin(sv.launch.Workers[rank].CPUs)
	sv.note(err)
	defer unpin()
	attr := &syscall.ProcAttr{
		Dir: sv.launch.Dir, Env: env,
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: deathSignal},
	}
	if u := sv.launch.User; u != nil { // before it enters its directory
		attr.Sys.Credential = u.Credential()
	}
	fd, grouped := sv.group.worker(rank)
	if !grouped {
		return syscall.ForkExec(path, sv.launch.Command, attr)
	}
	attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, fd
	pid, err := syscall.ForkExec(path, sv.launch.Command, attr)
	if err == nil {
		return pid, nil
	}
	// Retry without the cgroup, to learn whether the program or the cgroup is the problem.
	attr.Sys.UseCgroupFD = false
	pid, again := syscall.ForkExec(path, sv.launch.Command, attr)
	if again == nil {
		sv.note(fmt.Errorf("worker %d: not in its cgroup: %w", rank, err))
	}
	return pid, again
}

func pin(cpus []int) (unpin func(), err error) {
	var before, set unix.CPUSet
	if cpus == nil {
		return func() {}, nil
	}
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	err = unix.SchedGetaffinity(0, &before)
	if err == nil {
		err = unix.SchedSetaffinity(0, &set)
	}
	if err != nil {
		return func() {}, fmt.Errorf("not pinned to cores %v: %w", cpus, err)
	}
	return func() { _ = unix.SchedSetaffinity(0, &before) }, nil
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

func (sv *supervisor) explain(path string, err error) error {
	name := sv.launch.Command[0]
	there := sv.launch.User.Do(func() error {
		_, err := os.Stat(path)
		return err
	})
	if there == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the interpreter in its first line does not exist", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (sv *supervisor) environ(rank, port int) []string {
	l, world := sv.launch, strconv.Itoa(len(sv.launch.Workers))
	own := []string{
		"RANK=" + strconv.Itoa(rank), "LOCAL_RANK=" + strconv.Itoa(rank), "GROUP_RANK=0",
		"WORLD_SIZE=" + world, "LOCAL_WORLD_SIZE=" + world,
		"MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + strconv.Itoa(port),
		"TORCHELASTIC_RUN_ID=" + l.Job + "-" + strconv.Itoa(l.Generation),
		"TORCHELASTIC_RESTART_COUNT=" + strconv.Itoa(l.Generation-1),
		runVariable + "=" + l.Tag,
		"OXGANG_NOTICE=" + filepath.Join(sv.dir, noticeFile),
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
