// Package supervisor starts, watches and stops the worker processes of one generation (one start) of a job. A
// supervisor is a small separate process, so that workers, output and exit statuses outlive the scheduler.
//
// A generation has a directory with four files and one for each worker: launch.json, the lock of the supervisor,
// state.json, notice.json (a request to stop) and exit.RANK.json. Invariants, each with a test that seeds the defect:
//
// 1. A generation begins at most once. Its supervisor holds the lock from before launch.json is written, and
// state.json exists before the first worker.
// 2. state.json says Ended only when no process of the generation is left.
// 3. The supervisor writes the exit statuses before it releases the lock, and retries as often as needed.
// 4. When the supervisor dies, its workers die within a second. Sweep kills their remaining processes.
// 5. Each worker has a holder, its parent process, which writes exit.RANK.json before it ends, also after the death of
// the supervisor.
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

const (
	launchFile = "launch.json"
	lockFile   = "lock"
	stateFile  = "state.json"
	noticeFile = "notice.json"
	stderrFile = "stderr" // empty unless the supervisor failed
)

// TempFail is the exit code of a worker that was asked to stop and has saved a checkpoint. See EX_TEMPFAIL in
// sysexits.h.
const TempFail = 75

// notStarted is the exit code of a worker that could not be started; State.Detail has the reason. It is the shell's
// code for "command not found".
const notStarted = 127

// errBegun is returned if this start of the job has already begun.
var errBegun = errors.New("the generation has begun before")

// A Launch tells a supervisor how to make one start of a job.
type Launch struct {
	Job        string        `json:"job"`
	Generation int           `json:"generation"` // number of this start of the job, from 1
	Tag        string        `json:"tag"`        // OXGANG_RUN of its processes: state directory/job/generation, unique on this machine
	Command    []string      `json:"command"`
	Dir        string        `json:"dir"`            // working directory, absolute
	Env        []string      `json:"env"`            // environment of all workers, as name=value
	Workers    []Worker      `json:"workers"`        // by rank
	Log        string        `json:"log"`            // absolute; its directory exists
	LogBytes   int64         `json:"log_bytes"`      // maximum size of each log file
	LogFiles   int           `json:"log_files"`      // maximum number of log files
	Grace      time.Duration `json:"grace"`          // from SIGTERM to SIGKILL of the other workers, when one fails
	Cgroup     string        `json:"cgroup"`         // a writable cgroup v2 directory; may be empty
	User       *account.User `json:"user,omitempty"` // nil for the supervisor's own
}

// A Worker is one process of a job.
type Worker struct {
	Env    []string `json:"env"`    // in addition to Launch.Env
	CPUs   []int    `json:"cpus"`   // cores it may run on; nil for any
	Cores  float64  `json:"cores"`  // limit by cgroup; 0 for none
	Memory int64    `json:"memory"` // bytes, limit by cgroup; 0 for none
}

// A Phase is the stage of one start of a job.
type Phase string

// The phases. Absent and Gone are never written.
const (
	Absent   Phase = "absent" // no worker was ever started
	Starting Phase = "starting"
	Running  Phase = "running"
	Stopping Phase = "stopping" // asked to stop, or a worker failed
	Ended    Phase = "ended"    // no process is left
	Gone     Phase = "gone"     // the supervisor died before it wrote the end: call Sweep
)

// A State is the state of one start of a job.
type State struct {
	Phase   Phase
	Workers []Exit    // by rank; set if Ended, or if Gone and all workers had ended by themselves
	Ended   time.Time // time of the end, if Ended
	Killed  bool
	Tail    []string // last lines of output, at most 20, if Ended
	Detail  string   // the first failure: "worker 2: exit code 1"; may be empty
	Note    string   // what could not be set up, such as "no cgroup: ..."; may be empty
}

// An Exit has the exit code of a worker, or its signal if Signal > 0.
type Exit struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
}

// OK reports whether the worker succeeded.
func (e Exit) OK() bool { return e == Exit{} }

func (e Exit) String() string {
	if e.Signal > 0 {
		return fmt.Sprintf("signal %d", e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Validate returns all errors of l.
func (l *Launch) Validate() error {
	var errs []error
	wrong := func(is bool, format string, a ...any) {
		if is {
			errs = append(errs, fmt.Errorf("launch of job %q: "+format, append([]any{l.Job}, a...)...))
		}
	}
	wrong(l.Job == "", "no job, want its ID")
	wrong(l.Generation < 1, "generation %d, want at least 1", l.Generation)
	wrong(l.Tag == "", "no tag, want a unique one")
	wrong(len(l.Command) == 0 || l.Command[0] == "", "no command, want a program")
	wrong(len(l.Workers) == 0, "no workers, want at least 1")
	wrong(!filepath.IsAbs(l.Dir), "directory %q, want an absolute path", l.Dir)
	wrong(!filepath.IsAbs(l.Log), "log %q, want an absolute path", l.Log)
	wrong(l.Cgroup != "" && !filepath.IsAbs(l.Cgroup), "cgroup %q, want an absolute path", l.Cgroup)
	wrong(l.LogBytes < 1, "%d bytes per log file, want at least 1", l.LogBytes)
	wrong(l.LogFiles < 1, "%d log files, want at least 1", l.LogFiles)
	wrong(l.User != nil && (l.User.UID < 0 || l.User.GID < 0), "user %v, want numbers of at least 0", l.User)
	wrong(l.Grace < 0, "a grace period of %v, want at least 0", l.Grace)
	for _, s := range append([]string{l.Tag, l.Dir}, l.Command...) {
		wrong(strings.ContainsRune(s, 0), "%q contains a zero byte", s)
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

func checkEnv(env []string, where string) error {
	for _, e := range env {
		if name, _, found := strings.Cut(e, "="); !found || name == "" || strings.ContainsRune(e, 0) {
			return fmt.Errorf("%s: %q, want name=value without zero bytes", where, e)
		}
	}
	return nil
}
