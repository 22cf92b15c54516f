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

// A step is a moment at which a supervisor may die; tests have it die at each.
type step int

const (
	stepLocked   step = iota + 1 // has the lock and has seen that nothing is written
	stepBegun                    // state.json says Starting
	stepReported                 // Start has returned
	stepForked                   // a worker runs; once for each
	stepRunning                  // state.json says Running
	stepStopping                 // SIGTERM was sent
	stepKilled                   // SIGKILL was sent
	stepOver                     // all workers are over
	stepSwept                    // no descendant is left
	stepRetry                    // state.json could not say Ended; it is tried again
	stepEnded                    // state.json says Ended
	steps                        // how many there are, and one
)

// Variables that tests change: what happens at a step, and two properties that the supervisor
// depends on: orphans become its children, and its workers die with it.
var (
	at          = func(step) {}
	subreaper   = func() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
	deathSignal = syscall.SIGKILL
)

// How often the supervisor wakes up without a signal: every tick while there is something to do, and
// otherwise seldom, to find a notice whose signal was lost.
const (
	tick     = 100 * time.Millisecond
	idleTick = 5 * time.Second
)

// A supervisor is the state of Main. One goroutine has it, on one thread: workers
// are sent SIGKILL when the thread that started them ends.
type supervisor struct {
	dir    string
	lock   *os.File // held until the process ends
	launch *Launch
	log    *logFile
	rec    record
	saved  bool // state.json is rec
	group  *group
	wake   chan os.Signal
	timer  *time.Timer

	complaints int

	ranks   map[int]int // of the workers that run, by pid
	pipes   []*os.File  // their output
	readers sync.WaitGroup

	stopping bool
	notice   *Notice
	noticeAt time.Time // the notice's deadline, of the monotonic clock
	graceAt  time.Time // when the grace ends; zero: no worker failed
}

// Main is the body of the supervisor of dir, an absolute path. It returns when the
// generation has ended and that is written, or at once with the reason why it
// cannot begin; the process ends then.
func Main(dir string) error {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1) // a flood of output takes one core, not all
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
		_, _ = report.WriteString(word) // whoever started it may be gone
		_ = report.Close()
	}
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	at(stepReported)
	sv.run()
	return nil
}

// inherit returns the lock of dir and the pipe that Start handed over; by hand,
// it takes the lock, and there is no pipe. No other descriptor reaches workers.
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

// closeOnExec marks every descriptor beyond stderr: one that a worker has, of
// the lock above all, would outlive the supervisor.
func closeOnExec() error {
	open, err := os.ReadDir("/proc/self/fd")
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// begin prepares the generation and writes that it has begun.
func begin(dir string, lock *os.File) (*supervisor, error) {
	sv := &supervisor{dir: dir, lock: lock, launch: &Launch{}, ranks: map[int]int{}}
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
		err = errors.Join(subreaper(), os.Chdir("/")) // so that it keeps no directory busy
	}
	if err != nil {
		return nil, err
	}
	sv.listen()
	return sv, sv.open()
}

// open writes that the generation has begun: from here on no other supervisor will.
func (sv *supervisor) open() error {
	self, err := readProc(os.Getpid())
	if err != nil {
		return err
	}
	sv.rec = record{Version: recordVersion, Phase: Starting, Supervisor: self.process}
	for range sv.launch.Workers {
		sv.rec.Exits = append(sv.rec.Exits, Exit{Code: NotStarted})
	}
	if err := sv.write(); err != nil {
		return err
	}
	at(stepBegun)
	return nil
}

// listen makes every signal that others may send a mere wake-up: what to do is
// in notice.json.
func (sv *supervisor) listen() {
	sv.wake, sv.timer = make(chan os.Signal, 16), time.NewTimer(tick)
	signal.Notify(sv.wake, syscall.SIGCHLD, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
}

// wait returns when something may have happened, or the tick is over.
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

// run runs the generation from its workers' start to its end.
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

// enter changes the phase and writes it.
func (sv *supervisor) enter(p Phase) {
	sv.rec.Phase, sv.saved = p, false
	sv.save()
}

// save writes the record if it has changed. If that fails, the next call tries
// again: it is called every tick until it has succeeded.
func (sv *supervisor) save() {
	if sv.saved {
		return
	}
	if err := sv.write(); err != nil {
		sv.complain(err)
	}
}

// complain writes an error to stderr, a hundred times at most: what failed is tried again every
// tick, and the file must not grow for ever.
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

// note adds an error to State.Note, and the supervisor goes on.
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

// detail says what went wrong; the first word counts.
func (sv *supervisor) detail(format string, a ...any) {
	if sv.rec.Detail == "" {
		sv.rec.Detail, sv.saved = fmt.Sprintf(format, a...), false
	}
}
