package local

import (
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/device"
)

// Options configure a Backend.
type Options struct {
	Dir     string // the state directory; absolute
	Machine device.Machine
	// Supervisor is the command, without the directory, that supervises a generation
	// (supervisor.Main).
	Supervisor []string
	Socket     string // where workers find the agent API: a unix socket,
	URL        string // and the same on loopback
	Cgroup     string // a cgroup v2 directory in which to put jobs; empty: none
	// Grace is the time from a notice until what still runs is killed. Default 60 s; on
	// notice the client ends its step and writes a checkpoint.
	Grace time.Duration
	// Report is how often agents report. Default 30 s (Sia §3.3.1).
	Report time.Duration
	// Quiet is how long a program that never speaks runs until it is taken to be under way.
	// Default 1 min: one that speaks does so when it trains.
	Quiet time.Duration
	// Silence is how long an agent that has spoken may be silent before its job is taken for
	// rigid. Default 5 min.
	Silence  time.Duration
	LogBytes int64 // of each log file of a job. Default 16 MiB
	LogFiles int   // kept of a job. Default 4
	Quotas   Quotas
}

// DefaultOptions returns the defaults; Dir, Machine, Supervisor, Socket and URL are still to be
// filled in.
func DefaultOptions() Options {
	return Options{Grace: time.Minute, Report: 30 * time.Second, Quiet: time.Minute, Silence: 5 * time.Minute, LogBytes: 16 << 20, LogFiles: 4}
}

// Validate returns an error that joins all that is wrong with o.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Dir == "" || len(o.Supervisor) == 0 {
		bad("state directory %q, supervisor %q: want both", o.Dir, o.Supervisor)
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
