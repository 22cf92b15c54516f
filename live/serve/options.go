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

// Options configure a Run.
type Options struct {
	Dir      string            // state directory, absolute; created if missing
	Slots    int               // places for workers; 0 for one per GPU, or per core without GPUs
	Policy   string            // default oxgang
	Settings map[string]string // of the policy
	Round    time.Duration     // between plans; default 30 s
	Grace    time.Duration     // from a notice until workers are killed; default 60 s
	Report   time.Duration     // between reports of agents; default 30 s
	Quiet    time.Duration     // a silent program counts as training after this; default 1 min
	Listen   string            // of the agent API on loopback; default 127.0.0.1:0, any free port
	Metrics  string            // address of metrics on loopback; may be empty
	Cgroup   string            // a cgroup v2 directory for jobs; auto for the delegated one; empty for none. Default auto
	Keep     statedir.Limits   // retention of data of ended jobs; default statedir.Default
	Group    string            // its members may submit jobs, which run as the submitting user; empty: all jobs run as the scheduler's user
	Quotas   map[string]int    // maximum GPUs by user name; * for all others
	Program
}

// A Program has the options that the calling program sets.
type Program struct {
	Supervisor []string             // command that supervises a generation, without its directory
	Tool       string               // name and version, for journals
	Log        io.Writer            // messages for people; default io.Discard
	Traces     trace.TracerProvider // gets a trace of each round; may be nil
	Recover    bool                 // rebuild lost parts of the database from the directories of jobs
	Ready      func()               // called when commands and agents are answered; may be nil
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
