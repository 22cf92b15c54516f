package config

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/tools/events"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Options configure a Backend.
type Options struct {
	Queue    *v1alpha1.Queue   // that it serves, as it was when the backend was opened
	Nodes    inventory.Options // which nodes belong to the queue, and the names of their GPU types
	Kinds    []jobadapter.Kind // of job that it schedules. Default jobadapter.Kinds
	Identity string            // of the process that writes its plans
	Times
	// Explain, if not nil, returns why jobs have what a plan gives them.
	Explain func(s *policy.Snapshot, p *policy.Plan) Reasons
	// Expect, if not nil, returns when jobs are expected to start and end; nil while nothing is
	// known. It is called for every plan, and must return at once.
	Expect func() map[job.ID]Expected
	// Events, if not nil, gets a Kubernetes event for every decision that users are told about.
	Events events.EventRecorder
	// Log gets errors. Default: they are not logged.
	Log *slog.Logger
	// Turn, if not nil, is shared by all queues of a process: one of them at a time compares what the
	// watches show of pods and nodes with the API server.
	Turn *Turn
	// Kueue, if not nil, reports whether the cluster has Kueue. It is asked of jobs that name a queue of it.
	Kueue func() bool
	// Priority, if not nil, returns the value of a PriorityClass, of the cluster's default one if the name is empty,
	// and whether there is one of that name.
	Priority func(class string) (value int32, known bool)
	// Now, if not nil, is the time of day, which epochs are at least: so they grow also where everything that knew of the last
	// ones is gone, as after a restored backup of etcd.
	Now func() time.Time
	// Inputs, if not nil, returns a digest of all events that the scheduler has had so far.
	Inputs func() string
}

// Times say how long jobs and their agents may take.
type Times struct {
	// Start is how long the pods of a generation may take until all of them run. After that
	// the generation is stopped, and the job is started again later. Default 5 min.
	Start time.Duration
	// Quiet is how long the pods of a job whose program sends no messages must run until the
	// job counts as training. Default 0.
	Quiet time.Duration
	// Silence is how long an agent may send nothing until its job counts as rigid.
	// Default 10 min.
	Silence time.Duration
	// Report is the time between two reports that agents are told to keep. Default 30 s.
	Report time.Duration
}

// Reasons say why jobs have what they have. Both are empty if nothing is known of a job.
type Reasons interface {
	Reason(id job.ID) string // a word of a closed list
	Text(id job.ID) string   // a sentence; it is asked for only where a plan is written
}

// DefaultOptions returns the defaults; Queue and Identity are still to be filled in.
func DefaultOptions() Options {
	return Options{
		Nodes: inventory.Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}},
		Kinds: jobadapter.Kinds, Times: Times{Start: 5 * time.Minute, Silence: 10 * time.Minute, Report: 30 * time.Second},
		Log: slog.New(slog.DiscardHandler),
	}
}

// Validate returns an error that joins all that is wrong with o.
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

// Acts reports whether jobs are started by the backend; otherwise plans are only made.
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

// Grace returns how long a lender waits until it takes nodes that it wants back.
func (o *Options) Grace() time.Duration {
	if l := o.Queue.Spec.Loans; l != nil && l.GraceSeconds > 0 {
		return time.Duration(l.GraceSeconds) * time.Second
	}
	return defaultGrace
}

// Defaults of a queue that does not set these values; its CRD has the same. Source: Lyra §4, §7.1.
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

// MostGPUs returns the most GPUs that a job of a namespace gets; 0: it is not bounded.
func (o *Options) MostGPUs(namespace string) int {
	most := o.Queue.Spec.Limits.MaxGPUs
	for _, n := range o.Queue.Spec.Namespaces {
		if n.Name == namespace && n.MaxGPUs > 0 && (most == 0 || n.MaxGPUs < most) {
			most = n.MaxGPUs
		}
	}
	return int(most)
}

// PriorityOf returns the priority of a job by the name of its PriorityClass, at most that of the queue's limits.
func (o *Options) PriorityOf(class string) float64 {
	if o.Priority == nil {
		return 0
	}
	value, _ := o.Priority(class)
	if most := o.Queue.Spec.Limits.MaxPriority; most != nil {
		value = min(value, *most)
	}
	return float64(value)
}

// NoClass returns why a job cannot have pods, if the cluster has not the PriorityClass that they name; empty: it has.
func (o *Options) NoClass(class string) string {
	if class == "" || o.Priority == nil {
		return ""
	}
	if _, known := o.Priority(class); known {
		return ""
	}
	return fmt.Sprintf("its pods name PriorityClass %q, and the cluster has none of that name", class)
}

// Expected is the prediction for a job.
type Expected struct {
	Unblock string        // the cheapest change that would give it GPUs, in a clause; empty: not known
	ETA     *v1alpha1.ETA // nil: not known
}
