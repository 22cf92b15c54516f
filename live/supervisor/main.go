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

// A step is a moment at which a keeper may die; tests have it die at each.
type step int

const (
	stepLocked   step = iota + 1 // has the lock and has seen that nothing is written
	stepBegun                    // state.json says Starting
	stepTold                     // Start has returned
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

// What tests change: what happens at a step, and two things that the keeper
// must not be without: orphans come to it, and its workers die with it.
var (
	at          = func(step) {}
	subreaper   = func() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
	deathSignal = syscall.SIGKILL
)

// How often the keeper looks around, signals or not: a tick while there is something to be
// done, and else only so that a notice whose signal was lost is found.
const (
	tick = 100 * time.Millisecond
	calm = 5 * time.Second
)

// A keeper is the state of Main. One goroutine has it, on one thread: workers
// are sent SIGKILL when the thread that started them ends.
type keeper struct {
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

// Main is the body of the keeper of dir, an absolute path. It returns when the
// generation has ended and that is written, or at once with the reason why it
// cannot begin; the process ends then.
func Main(dir string) error {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1) // a flood of output takes one core, not all
	lock, tell, err := inherit(dir)
	var k *keeper
	if err == nil {
		k, err = begin(dir, lock)
	}
	word := wellDone
	if err != nil {
		word = err.Error()
	}
	if tell != nil {
		_, _ = tell.WriteString(word) // whoever started it may be gone
		_ = tell.Close()
	}
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	at(stepTold)
	k.keep()
	return nil
}

// inherit returns the lock of dir and the pipe that Start handed over; by hand,
// it takes the lock, and there is no pipe. No other descriptor reaches workers.
func inherit(dir string) (lockHeld, tell *os.File, err error) {
	if err := closeOnExec(); err != nil {
		return nil, nil, err
	}
	if os.Getenv(handedOver) == "" {
		lockHeld, err = takeLock(dir, os.O_CREATE)
		return lockHeld, nil, err
	}
	path := filepath.Join(dir, lockFile)
	lockHeld, tell = os.NewFile(lockFD, path), os.NewFile(tellFD, "pipe")
	want, err := os.Stat(path)
	if err != nil {
		return nil, tell, err
	}
	if got, err := lockHeld.Stat(); err != nil || !os.SameFile(got, want) {
		return nil, tell, fmt.Errorf("descriptor %d is not %s", lockFD, path)
	}
	return lockHeld, tell, lock(lockHeld)
}

// closeOnExec marks every descriptor beyond stderr: one that a worker has, of
// the lock above all, would outlive the keeper.
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
func begin(dir string, lock *os.File) (*keeper, error) {
	k := &keeper{dir: dir, lock: lock, launch: &Launch{}, ranks: map[int]int{}}
	if err := unbegun(dir); err != nil {
		return nil, err
	}
	at(stepLocked)
	path := filepath.Join(dir, launchFile)
	found, err := readJSON(path, k.launch)
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err == nil {
		err = k.launch.Validate()
	}
	if err == nil {
		k.log, err = openLog(k.launch)
	}
	if err == nil {
		err = errors.Join(subreaper(), os.Chdir("/")) // so that it keeps no directory busy
	}
	if err != nil {
		return nil, err
	}
	k.listen()
	return k, k.open()
}

// open writes that the generation has begun: from here on no other keeper will.
func (k *keeper) open() error {
	self, err := readProc(os.Getpid())
	if err != nil {
		return err
	}
	k.rec = record{Version: recordVersion, Phase: Starting, Keeper: self.process}
	for range k.launch.Workers {
		k.rec.Exits = append(k.rec.Exits, Exit{Code: NotStarted})
	}
	if err := k.write(); err != nil {
		return err
	}
	at(stepBegun)
	return nil
}

// listen makes every signal that others may send a mere wake-up: what to do is
// in notice.json.
func (k *keeper) listen() {
	k.wake, k.timer = make(chan os.Signal, 16), time.NewTimer(tick)
	signal.Notify(k.wake, syscall.SIGCHLD, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
}

// wait returns when something may have happened, or it is time to look around.
func (k *keeper) wait() {
	most := tick
	if k.saved && !k.stopping && len(k.ranks) > 0 {
		most = calm
	}
	k.timer.Reset(most)
	select {
	case <-k.wake:
	case <-k.timer.C:
	}
}

// keep runs the generation from its workers' start to its end.
func (k *keeper) keep() {
	k.startWorkers()
	for k.reap(); len(k.ranks) > 0; k.reap() {
		k.readNotice()
		k.enforce()
		k.save()
		k.wait()
	}
	at(stepOver)
	k.sweep()
	at(stepSwept)
	k.end()
	at(stepEnded)
}

// enter changes the phase and writes it.
func (k *keeper) enter(p Phase) {
	k.rec.Phase, k.saved = p, false
	k.save()
}

// save writes the record if it has changed. If that fails, the next call tries
// again: it is called every tick until it has succeeded.
func (k *keeper) save() {
	if k.saved {
		return
	}
	if err := k.write(); err != nil {
		k.complain(err)
	}
}

// complain tells of trouble that is tried again every tick, a hundred times at
// most: the file that it goes to does not grow for ever.
func (k *keeper) complain(err error) {
	if k.complaints++; k.complaints <= 100 {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (k *keeper) write() error {
	r := k.rec
	if r.Phase != Ended {
		r.Exits = nil
	}
	err := writeJSON(filepath.Join(k.dir, stateFile), &r)
	k.saved = err == nil
	return err
}

// note adds to what was done without.
func (k *keeper) note(err error) {
	if err == nil {
		return
	}
	if k.rec.Note != "" {
		k.rec.Note += "; "
	}
	k.rec.Note += err.Error()
	k.saved = false
}

// detail says what went wrong; the first word counts.
func (k *keeper) detail(format string, a ...any) {
	if k.rec.Detail == "" {
		k.rec.Detail, k.saved = fmt.Sprintf(format, a...), false
	}
}
