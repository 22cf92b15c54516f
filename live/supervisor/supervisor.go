// Package supervisor starts, watches and stops the worker processes of one generation
// of a job, which is one start of it. A supervisor is a small process of its own, so
// that the workers, their output and their exit statuses outlive the scheduler that
// started them, however it ends.
//
// A generation has a directory with four files: launch.json says what to run; the lock
// is held by the supervisor while it lives; state.json has what the supervisor knows;
// notice.json asks it to stop. The invariants, each with a test that seeds the defect:
//
//  1. A generation begins at most once: its supervisor holds the lock from before
//     launch.json is written, and state.json exists before the first worker.
//  2. state.json says Ended only when no process of the generation is left.
//  3. Exit statuses are written, with as many attempts as that takes, before the
//     supervisor releases the lock.
//  4. When the supervisor dies, its workers die with it. Sweep kills the processes
//     that the workers had started.
package supervisor

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/account"
)

// Names of the files of a generation.
const (
	launchFile = "launch.json"
	lockFile   = "lock"
	stateFile  = "state.json"
	noticeFile = "notice.json"
	stderrFile = "stderr" // of the supervisor itself: empty unless it broke
)

// TempFail is the exit code of a worker that stopped on notice, after a
// checkpoint, and wants to go on. See EX_TEMPFAIL in sysexits.h.
const TempFail = 75

// NotStarted is the exit code of a worker that never ran: State.Detail says
// why. It is a shell's for "command not found".
const NotStarted = 127

// ErrBegun says that a generation was begun before. Look tells whether its supervisor
// is still alive.
var ErrBegun = errors.New("the generation has begun before")

// A Launch is what a supervisor needs to run one generation of a job.
type Launch struct {
	Job        string   `json:"job"`
	Generation int      `json:"generation"` // from 1
	Tag        string   `json:"tag"`        // OXGANG_RUN of its processes: state directory, job and generation, uniquely on this machine, as parts between slashes
	Command    []string `json:"command"`
	Dir        string   `json:"dir"`     // where workers start, absolute
	Env        []string `json:"env"`     // all that workers inherit, as name=value
	Workers    []Worker `json:"workers"` // by rank
	Log        string   `json:"log"`     // absolute; its directory is there
	// LogBytes is the most of one log file, LogFiles how many there are at
	// most: log, log.1 and on to the oldest.
	LogBytes int64         `json:"log_bytes"`
	LogFiles int           `json:"log_files"`
	Grace    time.Duration `json:"grace"`          // from SIGTERM to SIGKILL of the workers left when one fails
	Cgroup   string        `json:"cgroup"`         // a cgroup v2 directory that may be written to; empty: none
	User     *account.User `json:"user,omitempty"` // of the workers; nil: the supervisor's own
}

// A Worker is one process of a generation.
type Worker struct {
	Env    []string `json:"env"`    // added to Launch.Env
	CPUs   []int    `json:"cpus"`   // cores it may run on; nil: any
	Cores  float64  `json:"cores"`  // most it may use at a time, by cgroup; 0: no limit
	Memory int64    `json:"memory"` // bytes, by cgroup; 0: no limit
}

// A Phase is how far a generation has come.
type Phase string

// The phases. Absent and Gone are never written: Look returns them if there is no
// supervisor and no other phase is known.
const (
	Absent   Phase = "absent"   // no worker was ever started here
	Starting Phase = "starting" // not all workers run yet
	Running  Phase = "running"
	Stopping Phase = "stopping" // on notice, or because a worker failed
	Ended    Phase = "ended"    // no process is left
	Gone     Phase = "gone"     // the supervisor died without an ending: Sweep
)

// A State is what is known of a generation.
type State struct {
	Phase   Phase
	Workers []Exit    // by rank, of Ended
	Ended   time.Time // of Ended
	Killed  bool      // a worker had to be ended with SIGKILL
	Tail    []string  // the last lines of its output, at most 20, of Ended
	Detail  string    // the first thing that went wrong: "worker 2: exit code 1"; empty: nothing
	Note    string    // what was not possible and left out: "no cgroup: ..."; empty: nothing
}

// An Exit says how a worker ended: by a code, or by a signal where Signal > 0.
type Exit struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
}

// OK reports whether the worker said that all went well.
func (e Exit) OK() bool { return e == Exit{} }

// String returns "exit code 1" or "signal 9".
func (e Exit) String() string {
	if e.Signal > 0 {
		return fmt.Sprintf("signal %d", e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Validate returns all that is wrong with l.
func (l *Launch) Validate() error {
	var errs []error
	wrong := func(is bool, format string, a ...any) {
		if is {
			errs = append(errs, fmt.Errorf("launch of job %q: "+format, append([]any{l.Job}, a...)...))
		}
	}
	wrong(l.Job == "", "no job, want its ID")
	wrong(l.Generation < 1, "generation %d, want at least 1", l.Generation)
	wrong(l.Tag == "", "no tag, want one that no other generation has")
	wrong(len(l.Command) == 0 || l.Command[0] == "", "no command, want a program")
	wrong(len(l.Workers) == 0, "no workers, want at least 1")
	wrong(!filepath.IsAbs(l.Dir), "directory %q, want an absolute path", l.Dir)
	wrong(!filepath.IsAbs(l.Log), "log %q, want an absolute path", l.Log)
	wrong(l.Cgroup != "" && !filepath.IsAbs(l.Cgroup), "cgroup %q, want an absolute path", l.Cgroup)
	wrong(l.LogBytes < 1, "%d bytes per log file, want at least 1", l.LogBytes)
	wrong(l.LogFiles < 1, "%d log files, want at least 1", l.LogFiles)
	wrong(l.User != nil && (l.User.UID < 0 || l.User.GID < 0), "user %v, want numbers of at least 0", l.User)
	wrong(l.Grace < 0, "a grace of %v, want at least 0", l.Grace)
	for _, s := range append([]string{l.Tag, l.Dir}, l.Command...) {
		wrong(strings.ContainsRune(s, 0), "%q holds a zero byte, want none", s)
	}
	errs = append(errs, checkEnv(l.Env, "environment"))
	for rank, w := range l.Workers {
		errs = append(errs, w.validate(rank))
	}
	return errors.Join(errs...)
}

func (w *Worker) validate(rank int) error {
	errs := []error{checkEnv(w.Env, fmt.Sprintf("worker %d: environment", rank))}
	if w.Memory < 0 {
		errs = append(errs, fmt.Errorf("worker %d: %d bytes of memory, want at least 0", rank, w.Memory))
	}
	if !(w.Cores >= 0) || math.IsInf(w.Cores, 0) {
		errs = append(errs, fmt.Errorf("worker %d: %g cores, want a finite number of at least 0", rank, w.Cores))
	}
	for _, cpu := range w.CPUs {
		if cpu < 0 {
			errs = append(errs, fmt.Errorf("worker %d: core %d, want at least 0", rank, cpu))
		}
	}
	return errors.Join(errs...)
}

// checkEnv checks that every entry has a name and can be handed to a process.
func checkEnv(env []string, where string) error {
	for _, e := range env {
		if name, _, found := strings.Cut(e, "="); !found || name == "" || strings.ContainsRune(e, 0) {
			return fmt.Errorf("%s: %q, want name=value without zero bytes", where, e)
		}
	}
	return nil
}
