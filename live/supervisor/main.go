//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A step is a moment at which a supervisor may die.
type step int

const (
	stepLocked   step = iota + 1 // has the lock, nothing is written
	stepBegun                    // state.json says Starting
	stepReported                 // Start has returned
	stepForked                   // once for each worker
	stepRunning
	stepReaped   // a holder has ended
	stepStopping // SIGTERM was sent
	stepKilled   // SIGKILL was sent
	stepOver     // all workers have ended
	stepSwept    // all descendants have ended
	stepRetry    // writing Ended failed
	stepEnded
	steps
)

var (
	at          = func(step) {}
	subreaper   = func() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
	deathSignal = syscall.SIGKILL
)

const (
	tick     = 100 * time.Millisecond
	idleTick = 5 * time.Second
)

// A supervisor belongs to one goroutine, on one locked thread, because workers get SIGKILL when the thread that
// started them ends.
type supervisor struct {
	dir    string
	lock   *os.File // held until the process ends
	launch *Launch
	log    *logFile
	rec    record
	saved  bool // state.json equals rec
	group  *group
	wake   chan os.Signal
	timer  *time.Timer

	complaints int

	ranks   map[int]*child // holders of running workers, by pid of the holder
	pipes   []*os.File     // their output
	readers sync.WaitGroup

	stopping bool
	notice   *Notice
	noticeAt time.Time // on the monotonic clock
	graceAt  time.Time // zero if no worker failed
}

// Main is the main function of a supervisor with the absolute directory dir. It returns after it has written how the
// workers ended, or at once with an error if it cannot start.
func Main(dir string) error {
	if text := os.Getenv(holderOrder); text != "" {
		return hold(dir, text)
	}
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1) // a flood of output uses one core only
	lock, report, err := inherit(dir)
	var sv *supervisor
	if err == nil {
		sv, err = begin(dir, lock)
	}
	word := wellDone
	if err != nil {
		word = err.Error()
	}
	if report != nil {
		_, _ = report.WriteString(word) // the process that started it may have ended
		_ = report.Close()
	}
	if err != nil {
		return fmt.Errorf("supervisor: %w", err)
	}
	at(stepReported)
	sv.run()
	return nil
}

// inherit returns the lock of dir and the pipe from Start, which is nil if Main was started by hand.
func inherit(dir string) (lockHeld, report *os.File, err error) {
	if err := closeOnExec(); err != nil {
		return nil, nil, err
	}
	if os.Getenv(handedOver) == "" {
		lockHeld, err = takeLock(dir, os.O_CREATE)
		return lockHeld, nil, err
	}
	path := filepath.Join(dir, lockFile)
	lockHeld, report = os.NewFile(lockFD, path), os.NewFile(reportFD, "pipe")
	want, err := os.Stat(path)
	if err != nil {
		return nil, report, err
	}
	if got, err := lockHeld.Stat(); err != nil || !os.SameFile(got, want) {
		return nil, report, fmt.Errorf("descriptor %d is not %s", lockFD, path)
	}
	return lockHeld, report, lock(lockHeld)
}

// closeOnExec marks every descriptor beyond stderr, so that no worker inherits one. A worker with the lock would
// keep it.
func closeOnExec() error {
	open, err := os.ReadDir("/proc/self/fd")
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

func begin(dir string, lock *os.File) (*supervisor, error) {
	sv := &supervisor{dir: dir, lock: lock, launch: &Launch{}, ranks: map[int]*child{}}
	if err := unbegun(dir); err != nil {
		return nil, err
	}
	at(stepLocked)
	path := filepath.Join(dir, launchFile)
	found, err := readJSON(path, sv.launch)
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err == nil {
		err = sv.launch.Validate()
	}
	if err == nil {
		sv.log, err = openLog(sv.launch)
	}
	if err == nil {
		err = errors.Join(subreaper(), os.Chdir("/")) // it must not keep a directory busy
	}
	if err != nil {
		return nil, err
	}
	sv.listen()
	return sv, sv.open()
}

func (sv *supervisor) open() error {
	self, err := readProc(os.Getpid())
	if err != nil {
		return err
	}
	sv.rec = record{Version: recordVersion, Phase: Starting, Supervisor: self.process}
	for range sv.launch.Workers {
		sv.rec.Exits = append(sv.rec.Exits, Exit{Code: notStarted})
	}
	if err := sv.write(); err != nil {
		return err
	}
	at(stepBegun)
	return nil
}

// listen turns all signals into wake-ups; notice.json has the request.
func (sv *supervisor) listen() {
	sv.wake, sv.timer = make(chan os.Signal, 16), time.NewTimer(tick)
	signal.Notify(sv.wake, syscall.SIGCHLD, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
}

func (sv *supervisor) wait() {
	most := tick
	if sv.saved && !sv.stopping && len(sv.ranks) > 0 {
		most = idleTick
	}
	sv.timer.Reset(most)
	select {
	case <-sv.wake:
	case <-sv.timer.C:
	}
}

func (sv *supervisor) run() {
	sv.startWorkers()
	for sv.reap(); len(sv.ranks) > 0; sv.reap() {
		sv.readNotice()
		sv.enforce()
		sv.save()
		sv.wait()
	}
	at(stepOver)
	sv.sweep()
	at(stepSwept)
	sv.end()
	at(stepEnded)
}

func (sv *supervisor) enter(p Phase) {
	sv.rec.Phase, sv.saved = p, false
	sv.save()
}

func (sv *supervisor) save() {
	if sv.saved {
		return
	}
	if err := sv.write(); err != nil {
		sv.complain(err)
	}
}

func (sv *supervisor) complain(err error) {
	if sv.complaints++; sv.complaints <= 100 {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (sv *supervisor) write() error {
	r := sv.rec
	if r.Phase != Ended {
		r.Exits = nil
	}
	err := writeJSON(filepath.Join(sv.dir, stateFile), &r)
	sv.saved = err == nil
	return err
}

func (sv *supervisor) note(err error) {
	if err == nil {
		return
	}
	if sv.rec.Note != "" {
		sv.rec.Note += "; "
	}
	sv.rec.Note += err.Error()
	sv.saved = false
}

func (sv *supervisor) detail(format string, a ...any) {
	if sv.rec.Detail == "" {
		sv.rec.Detail, sv.saved = fmt.Sprintf(format, a...), false
	}
}
