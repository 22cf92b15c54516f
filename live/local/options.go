package local

import (
	"errors"
	"fmt"
	"time"
)

// Options configure a Backend.
type Options struct {
	Dir     string // state directory, absolute
	Machine Machine
	// Supervisor is the command that runs supervisor.Main; the directory is appended.
	Supervisor []string
	Socket     string // path of the agent API's unix socket
	URL        string // URL of the agent API on loopback
	Cgroup     string // cgroup v2 directory for jobs; empty: none
	// Grace is the time from a notice until the job is killed. Default 60 s.
	Grace time.Duration
	// Report is the interval of agents' reports. Default 30 s (Sia §3.3.1).
	Report time.Duration
	// Quiet is how long a running program may send no message until it counts as training. Default 1 min.
	Quiet time.Duration
	// Silence is how long an agent may send no message until its job counts as rigid. Default 5 min.
	Silence  time.Duration
	LogBytes int64 // maximum size of each log file; default 16 MiB
	LogFiles int   // maximum number per job; default 4
	Quotas   Quotas
}

// DefaultOptions returns the defaults, without Dir, Machine, Supervisor, Socket and URL.
func DefaultOptions() Options {
	return Options{Grace: time.Minute, Report: 30 * time.Second, Quiet: time.Minute, Silence: 5 * time.Minute, LogBytes: 16 << 20, LogFiles: 4}
}

// Validate returns an error that joins all that is wrong with o.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Dir == "" || len(o.Supervisor) == 0 {
		bad("state directory %q, supervisor %q: set both", o.Dir, o.Supervisor)
	}
	if len(o.Machine.Slots) == 0 {
		bad("machine %s: no slots, want at least 1", o.Machine.Name)
	}
	for name, d := range map[string]time.Duration{"grace": o.Grace, "report interval": o.Report, "quiet": o.Quiet, "silence": o.Silence} {
		if d <= 0 {
			bad("%s %v, want more than 0", name, d)
		}
	}
	if o.LogBytes < 1<<10 || o.LogFiles < 1 {
		bad("logs of %d bytes in %d files, want at least 1024 in 1", o.LogBytes, o.LogFiles)
	}
	return errors.Join(errs...)
}
