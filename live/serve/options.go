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
	Dir      string            // state directory; absolute. Made if it is not there
	Slots    int               // places for workers; 0: one for each GPU, or core where there is no GPU
	Policy   string            // by name. Default oxgang
	Settings map[string]string // of the policy
	Round    time.Duration     // between plans. Default 30 s
	Grace    time.Duration     // from a notice until workers are killed. Default 60 s
	Report   time.Duration     // between reports of agents. Default 30 s
	Quiet    time.Duration     // a program that never speaks counts as training after that. Default 1 min
	Listen   string            // of the agent API on loopback. Default 127.0.0.1:0, any free port
	Metrics  string            // where metrics are served on loopback; empty: nowhere
	Cgroup   string            // a cgroup v2 directory in which to put jobs; auto: the delegated one, if any; empty: none. Default auto
	Keep     statedir.Limits   // what is deleted of jobs that have ended. Default: statedir.Default
	Group    string            // whose members may submit jobs, which run as who submitted them; empty: all jobs are the scheduler's user's
	Quotas   map[string]int    // GPUs that jobs of a user may hold at once, by name; *: of all others
	Program
}

// A Program is what the program gives that calls Run.
type Program struct {
	Supervisor []string             // the command that supervises a generation, without its directory
	Tool       string               // name and version, for journals
	Log        io.Writer            // gets messages for people. Default: io.Discard
	Traces     trace.TracerProvider // gets a trace of each round; nil: nobody does
	Recover    bool                 // rebuild from the folders of jobs what the database has lost
	Ready      func()               // is called once commands and agents are answered; nil: nothing is
}

// DefaultOptions returns the defaults; Dir and Supervisor are still to be filled in.
func DefaultOptions() Options {
	l := local.DefaultOptions()
	return Options{
		Policy: "oxgang", Round: 30 * time.Second, Grace: l.Grace, Report: l.Report, Quiet: l.Quiet, Listen: "127.0.0.1:0", Cgroup: "auto", Keep: statedir.Default(),
		Program: Program{Tool: "oxgang", Log: io.Discard},
	}
}

// Validate returns an error that joins all that is wrong with o.
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
		errs = append(errs, fmt.Errorf("listen %q, want an address on loopback and a port: tokens pass there in the clear", o.Listen))
	}
	if o.Metrics != "" && !loopback(o.Metrics) {
		errs = append(errs, fmt.Errorf("metrics %q, want an address on loopback and a port: everybody who can reach it may read them", o.Metrics))
	}
	if len(o.Quotas) > 0 && o.Group == "" {
		errs = append(errs, errors.New("quotas without a group, want one: otherwise all jobs are one user's"))
	}
	return errors.Join(errs...)
}

// loopback reports whether an address is an IP address of this machine alone, and a port.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// maxSlots bounds the workers of one machine.
const maxSlots = 4096
