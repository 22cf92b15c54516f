//go:build linux

package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	holderOrder = "OXGANG_HOLDER" // an order as JSON
	groupFD     = 5
	deathGrace  = time.Second
)

type order struct {
	Rank, Port, Supervisor int
	Grouped                bool // groupFD is the cgroup of the worker
}

// A response of a holder is sent after the start of the worker, and again after its end.
type response struct {
	Worker      process
	Error, Note string
	Exit        *Exit `json:",omitempty"`
}

// A holder is the parent process of one worker. It writes how the worker ended into a file before it ends itself, so
// the death of the supervisor does not lose the exit status. It shares the lock of the supervisor: if the lock is free,
// these files are final. A worker outlives the supervisor by at most deathGrace, in which it can end by itself.
type holder struct {
	order
	dir    string
	launch *Launch
	notes  error
}

func hold(dir, text string) error {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	h := &holder{dir: dir, launch: &Launch{}}
	wake := make(chan os.Signal, 16)
	signal.Notify(wake, syscall.SIGCHLD, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	report := json.NewEncoder(os.NewFile(reportFD, "pipe"))
	_, err := readJSON(filepath.Join(dir, launchFile), h.launch)
	err = errors.Join(err, closeOnExec(), json.Unmarshal([]byte(text), &h.order))
	// A worker that prints after the death of the supervisor must not get SIGPIPE.
	output, errOutput := os.OpenFile("/proc/self/fd/1", os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err = errors.Join(err, errOutput); err != nil {
		return report.Encode(response{Error: err.Error()})
	}
	pid, err := h.fork()
	if err != nil {
		return report.Encode(response{Error: err.Error()})
	}
	p, err := readProc(pid) // not reaped yet, so it is there
	h.note(err)
	_ = report.Encode(response{Worker: p.process, Note: message(h.notes)}) // the supervisor may be dead
	if exit, over := h.await(pid, wake); over {
		h.record(exit)
		_ = report.Encode(response{Exit: &exit})
	}
	h.keepOutput(output)
	return nil
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (h *holder) note(err error) { h.notes = errors.Join(h.notes, err) }

func (h *holder) orphaned() bool { return os.Getppid() != h.Supervisor }

// await returns how the worker ended. It returns false if the supervisor died and the worker did not end in time: the
// worker then dies with the holder.
func (h *holder) await(pid int, wake <-chan os.Signal) (e Exit, over bool) {
	var late <-chan time.Time
	for last := false; ; {
		var status unix.WaitStatus
		if got, err := unix.Wait4(pid, &status, unix.WNOHANG|unix.WALL, nil); got == pid {
			return exitOf(status), true
		} else if last || err != nil && !errors.Is(err, unix.EINTR) {
			return Exit{}, false
		}
		if late == nil && h.orphaned() {
			late = time.After(deathGrace)
		}
		select {
		case <-wake:
		case <-late:
			last = true
		}
	}
}

func exitPath(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("exit.%d.json", rank))
}

func (h *holder) record(e Exit) {
	for writeJSON(exitPath(h.dir, h.Rank), e) != nil { // such as a full disk
		if _, err := os.Stat(h.dir); err != nil {
			return
		}
		time.Sleep(tick)
	}
}

// keepOutput writes to the log what a dead supervisor has not read. A supervisor that was killed may take a moment to
// die, so keepOutput first waits until a living one has read all, for at most deathGrace.
func (h *holder) keepOutput(output *os.File) {
	for end := time.Now().Add(deathGrace); !h.orphaned(); time.Sleep(time.Millisecond) {
		if !unread(output) || time.Now().After(end) {
			return
		}
	}
	if log, err := openLog(h.launch); err == nil && output.SetReadDeadline(time.Now().Add(tick)) == nil {
		copyLines(log, output, prefixOf(h.Rank))
	}
}

func unread(pipe *os.File) bool {
	n := 0
	conn, err := pipe.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return err == nil && n > 0
}

// readExits returns how the workers ended, by rank, or nil unless all holders have written it.
func readExits(dir string) []Exit {
	l, err := ReadLaunch(dir)
	if err != nil {
		return nil
	}
	all := make([]Exit, len(l.Workers))
	for rank := range all {
		if found, err := readJSON(exitPath(dir, rank), &all[rank]); err != nil || !found {
			return nil
		}
	}
	return all
}

type child struct {
	rank      int
	worker    process
	pipe      *os.File
	responses *json.Decoder
}

func (sv *supervisor) startHolder(rank, port int, output *os.File) (pid int, c *child, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, nil, err
	}
	defer null.Close()
	pipe, report, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	files := []uintptr{null.Fd(), output.Fd(), output.Fd(), sv.lock.Fd(), report.Fd()}
	fd, grouped := sv.group.worker(rank)
	if grouped {
		files = append(files, uintptr(fd))
	}
	text, err := json.Marshal(order{rank, port, os.Getpid(), grouped})
	if err == nil { // The kernel continues a stopped holder that loses its supervisor, since it has its own process group.
		pid, err = syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{
			Env: append(os.Environ(), holderOrder+"="+string(text)), Files: files,
			Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM},
		})
	}
	if err = errors.Join(err, report.Close()); err != nil {
		return 0, nil, errors.Join(err, pipe.Close())
	}
	c = &child{rank: rank, pipe: pipe, responses: json.NewDecoder(pipe)}
	r, err := c.response()
	if c.worker = r.Worker; err != nil {
		err = errors.Join(err, pipe.Close())
	}
	if r.Note != "" {
		sv.note(errors.New(r.Note))
	}
	return pid, c, err
}

func (c *child) response() (r response, err error) {
	if err := c.responses.Decode(&r); err != nil {
		return r, fmt.Errorf("its holder did not respond: %w", err)
	}
	if r.Error != "" {
		err = errors.New(r.Error)
	}
	return r, err
}

// exit returns how the worker ended, or how the holder ended if the holder was killed first.
func (c *child) exit(holder unix.WaitStatus) Exit {
	defer c.pipe.Close()
	if r, err := c.response(); err == nil && r.Exit != nil {
		return *r.Exit
	}
	return exitOf(holder)
}
