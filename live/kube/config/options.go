package config

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/tools/events"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/policy"
)

// Options configure a World.
type Options struct {
	Queue    *v1alpha1.Queue   // that it serves, as it was when the world was opened
	Nodes    inventory.Options // which nodes are its, and what their GPUs are called
	Kinds    []jobadapter.Kind // of job that it schedules. Default jobadapter.Kinds
	Identity string            // who writes its plans
	// Start is the longest that pods of a generation may take until all of them run; then
	// it is stopped, and tried again later. Default 5 min.
	Start time.Duration
	// Quiet is how long the pods of a job whose program never speaks run until it is taken
	// to train. Default 0.
	Quiet time.Duration
	// Silence is how long an agent may say nothing before its job is taken for rigid.
	// Default 10 min.
	Silence time.Duration
	// Report is what agents are told to leave between two reports. Default 30 s.
	Report time.Duration
	// Explain, if not nil, says why each job has what a plan gives it.
	Explain func(s *policy.Snapshot, p *policy.Plan) map[job.ID]Because
	// Expect, if not nil, says what is expected of jobs; nil as long as nothing is known. It is
	// asked for every plan, and has to answer at once.
	Expect func() map[job.ID]Expected
	// Events, if not nil, gets an event for every decision that people are told.
	Events events.EventRecorder
	// Log hears what goes wrong. Default: nothing is said.
	Log *slog.Logger
	// Inputs, if not nil, returns a digest of everything that the scheduler was told so far.
	Inputs func() string
}

// A Because is why a job has what it has: in a word, of a closed list, and in a sentence.
type Because struct{ Reason, Message string }

// DefaultOptions returns the defaults; Queue and Identity are still to be filled in.
func DefaultOptions() Options {
	return Options{
		Nodes: inventory.Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}},
		Kinds: jobadapter.Kinds, Start: 5 * time.Minute, Silence: 10 * time.Minute, Report: 30 * time.Second, Log: slog.New(slog.DiscardHandler),
	}
}

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	var errs []error
	if o.Queue == nil {
		errs = append(errs, errors.New("no queue"))
	}
	if o.Identity == "" {
		errs = append(errs, errors.New("no identity"))
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"start", o.Start}, {"silence", o.Silence}, {"report", o.Report}} {
		if d.d <= 0 {
			errs = append(errs, fmt.Errorf("%s %v, want more than 0", d.name, d.d))
		}
	}
	return errors.Join(errs...)
}

// Mode returns what may be done to jobs.
func (o *Options) Mode() v1alpha1.Mode { return o.Queue.Spec.Mode }

// Acts reports whether jobs are started by the world; otherwise plans are only made.
func (o *Options) Acts() bool { return o.Mode() == v1alpha1.Admit || o.Mode() == v1alpha1.Resize }

// Writes reports whether anything may be written at all.
func (o *Options) Writes() bool { return o.Mode() != v1alpha1.Observe && o.Mode() != v1alpha1.Off }

// Headroom returns the share of a lender's nodes that is never lent.
func (o *Options) Headroom() float64 {
	if l := o.Queue.Spec.Loans; l != nil && l.HeadroomPercent != nil {
		return float64(*l.HeadroomPercent) / 100
	}
	return defaultHeadroom
}

// Grace returns how long a lender waits for nodes that it wants back.
func (o *Options) Grace() time.Duration {
	if l := o.Queue.Spec.Loans; l != nil && l.GraceSeconds > 0 {
		return time.Duration(l.GraceSeconds) * time.Second
	}
	return defaultGrace
}

// What a queue that does not say has, as its definition has it. Source: Lyra §4, §7.1.
const (
	defaultHeadroom = 0.02
	defaultGrace    = 5 * time.Minute
)

// Weights returns the weight of each namespace that may use the queue.
func (o *Options) Weights() map[string]int32 {
	all := make(map[string]int32, len(o.Queue.Spec.Namespaces))
	for _, n := range o.Queue.Spec.Namespaces {
		all[n.Name] = max(1, n.Weight)
	}
	return all
}

// Expected is what is expected of a job.
type Expected struct {
	Unblock string        // the cheapest change that would give it GPUs, in a clause; empty: not known
	ETA     *v1alpha1.ETA // nil: not known
}
