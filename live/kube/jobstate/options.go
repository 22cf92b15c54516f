package jobstate

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

// Options configure the Backend of a queue. Fields after Timeouts may be nil, except Log.
type Options struct {
	Queue    *v1alpha1.Queue // the state at Open
	Nodes    inventory.Options
	Kinds    []jobadapter.Kind // default jobadapter.Kinds
	Identity string            // of the process, in its plans
	Timeouts
	// Explain explains the allocations of a plan.
	Explain func(s *policy.Snapshot, p *policy.Plan) Reasons
	// Expect returns predictions, or nil if there are none yet. It must not block.
	Expect func() map[job.ID]Expected
	// Events records an event for every published decision.
	Events events.EventRecorder
	// Log receives errors. Default: discarded.
	Log *slog.Logger
	// Turn is shared by all queues of a process.
	Turn *Turn
	// Kueue reports whether the cluster has Kueue.
	Kueue func() bool
	// Priority returns the value of a PriorityClass, and whether it exists. "" is the default class.
	Priority func(class string) (value int32, known bool)
	// Now is the wall-clock time. Epochs are at least its Unix time.
	Now func() time.Time
	// Inputs returns a digest of the scheduler's events so far.
	Inputs func() string
}

// Timeouts are time limits for jobs and their programs.
type Timeouts struct {
	// Start limits the time from a job's start until all its pods run. Default 5 min.
	Start time.Duration
	// Quiet is how long pods that send no messages run until the job counts as training. Default 0.
	Quiet time.Duration
	// Silence is the time without messages after which a job is no longer resized. Default 10 min.
	Silence time.Duration
	// Report is the requested interval of reports. Default 30 s.
	Report time.Duration
}

// A Reasons explains in words why each job has its GPUs. It returns "" for an unknown job.
type Reasons interface {
	Reason(id job.ID) string // a word of a closed list
	Text(id job.ID) string   // called only for plans that are written
}

// DefaultOptions returns the defaults. The caller must set Queue and Identity.
func DefaultOptions() Options {
	return Options{
		Nodes: inventory.Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}},
		Kinds: jobadapter.Kinds, Timeouts: Timeouts{Start: 5 * time.Minute, Silence: 10 * time.Minute, Report: 30 * time.Second},
		Log: slog.New(slog.DiscardHandler),
	}
}

// Validate returns all errors in o, joined.
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

// Mode returns the mode of the queue.
func (o *Options) Mode() v1alpha1.Mode { return o.Queue.Spec.Mode }

// Acts reports whether the queue's mode allows the backend to start jobs.
func (o *Options) Acts() bool { return o.Mode() == v1alpha1.Admit || o.Mode() == v1alpha1.Resize }

// Writes reports whether the queue's mode allows the backend to write plans.
func (o *Options) Writes() bool { return o.Mode() != v1alpha1.Observe && o.Mode() != v1alpha1.Off }

// Headroom returns the fraction of the lender's GPUs that is never lent.
func (o *Options) Headroom() float64 {
	if l := o.Queue.Spec.Loans; l != nil && l.HeadroomPercent != nil {
		return float64(*l.HeadroomPercent) / 100
	}
	return defaultHeadroom
}

// Grace returns how long a job may take to leave a borrowed node.
func (o *Options) Grace() time.Duration {
	if l := o.Queue.Spec.Loans; l != nil && l.GraceSeconds > 0 {
		return time.Duration(l.GraceSeconds) * time.Second
	}
	return defaultGrace
}

// Defaults as in the CRD. Source: Lyra §4, §7.1.
const (
	defaultHeadroom = 0.02
	defaultGrace    = 5 * time.Minute
)

// Weights returns the weight of each namespace of the queue.
func (o *Options) Weights() map[string]int32 {
	all := make(map[string]int32, len(o.Queue.Spec.Namespaces))
	for _, n := range o.Queue.Spec.Namespaces {
		all[n.Name] = max(1, n.Weight)
	}
	return all
}

// MostGPUs returns the most GPUs that a job in the namespace may have; 0: no limit.
func (o *Options) MostGPUs(namespace string) int {
	most := o.Queue.Spec.Limits.MaxGPUs
	for _, n := range o.Queue.Spec.Namespaces {
		if n.Name == namespace && n.MaxGPUs > 0 && (most == 0 || n.MaxGPUs < most) {
			most = n.MaxGPUs
		}
	}
	return int(most)
}

// PriorityOf returns the value of a PriorityClass, limited to the queue's maximum.
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

// NoClass returns a message for users if the PriorityClass does not exist, otherwise "".
func (o *Options) NoClass(class string) string {
	if class == "" || o.Priority == nil {
		return ""
	}
	if _, known := o.Priority(class); known {
		return ""
	}
	return fmt.Sprintf("its pods name PriorityClass %q, which does not exist", class)
}

// An Expected predicts when a job starts and ends, and what would help it.
type Expected struct {
	Unblock string        // cheapest change that would give it GPUs; empty: not known
	ETA     *v1alpha1.ETA // nil: not known
}
