package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/local/statedir"
)

// Options configure the scheduler of one machine.
type Options struct {
	Dir      string            // absolute; created if missing
	Slots    int               // 0: one per GPU, or per core without GPUs
	Policy   string            // default oxgang
	Settings map[string]string // of the policy
	Round    time.Duration     // time between plans; default 30 s
	Grace    time.Duration     // time from the request to stop until workers are killed; default 60 s
	Report   time.Duration     // time between reports of agents; default 30 s
	Quiet    time.Duration     // how long a program sends no message until it counts as training; default 1 min
	Listen   string            // address of the agent API on loopback; default 127.0.0.1:0, any free port
	Metrics  string            // address on loopback; may be empty
	Cgroup   string            // cgroup v2 directory for jobs; auto (default): the delegated one; empty: none
	Keep     statedir.Limits   // default statedir.Default
	Group    string            // its members may submit jobs, which run as them; empty: all jobs run as the scheduler's user
	Quotas   map[string]int    // GPUs by user name; * for all others
	Program
}

// A Program has the options that come from the calling program and not from the user.
type Program struct {
	Supervisor []string             // command that runs supervisor.Main, without the directory
	Tool       string               // name and version, for journals
	Log        io.Writer            // default io.Discard
	Traces     trace.TracerProvider // may be nil
	Recover    bool                 // rebuild lost parts of the database
	Ready      func()               // may be nil
}

// DefaultOptions returns the defaults. Dir and Supervisor are still empty.
func DefaultOptions() Options {
	l := local.DefaultOptions()
	return Options{
		Policy: "oxgang", Round: 30 * time.Second, Grace: l.Grace, Report: l.Report, Quiet: l.Quiet, Listen: "127.0.0.1:0", Cgroup: "auto", Keep: statedir.Default(),
		Program: Program{Tool: "oxgang", Log: io.Discard},
	}
}

// Validate returns all errors of o.
func (o *Options) Validate() error {
	var errs []error
	if o.Slots < 0 || o.Slots > maxSlots {
		errs = append(errs, fmt.Errorf("slots %d, want 0 to %d", o.Slots, maxSlots))
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"round", o.Round}, {"grace", o.Grace}, {"report", o.Report}} {
		if d.d < 100*time.Millisecond || d.d > 24*time.Hour {
			errs = append(errs, fmt.Errorf("%s %v, want 100ms to 24h", d.name, d.d))
		}
	}
	if err := o.Keep.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("keep: %w", err))
	}
	if !loopback(o.Listen) {
		errs = append(errs, fmt.Errorf("listen %q, want an address on loopback and a port: it receives unencrypted tokens", o.Listen))
	}
	if o.Metrics != "" && !loopback(o.Metrics) {
		errs = append(errs, fmt.Errorf("metrics %q, want an address on loopback and a port: they need no password", o.Metrics))
	}
	if len(o.Quotas) > 0 && o.Group == "" {
		errs = append(errs, errors.New("quotas need a group: without one, all jobs belong to one user"))
	}
	return errors.Join(errs...)
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && net.ParseIP(host).IsLoopback()
}

const maxSlots = 4096
