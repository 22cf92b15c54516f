// Package status describes the state of a scheduler: jobs, nodes, GPUs, reasons, expected times, and problems.
// Journals, machines, Kubernetes and Slurm clusters all provide this document; tables, the page and -o json show
// it. docs/status.schema.json is its JSON schema.
package status

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// version is the version of the status document. It increases if a field is removed or gets another meaning, but not
// for new fields.
const version = "oxgang.dev/status/v1"

// A backend is the kind of system whose status the document has, such as Slurm.
type backend string

// The backends.
const (
	Journal    backend = "journal"
	Machine    backend = "machine"
	Kubernetes backend = "kubernetes"
	Slurm      backend = "slurm"
)

// A Status is the state of a scheduler at one time.
type Status struct {
	Version string    `json:"version"`
	Backend backend   `json:"backend"`
	Title   string    `json:"title"` // of the machine, the cluster or the journal
	At      time.Time `json:"at"`
	Policy  string    `json:"policy"`           // one for each queue
	Queues  []Queue   `json:"queues,omitempty"` // empty if the user may not see any
	GPUs    []GPUs    `json:"gpus"`             // empty if not all pods are visible
	Nodes   []Node    `json:"nodes"`            // nodes with GPUs; if not all pods are visible, only nodes with jobs
	Jobs    []Job     `json:"jobs"`             // not ended
	Ended   []Job     `json:"ended,omitempty"`  // latest first
	// Attention lists general problems that need a person.
	Attention []string `json:"attention,omitempty"`
	// SilentSince is the last time at which the scheduler is known to have run, if it does not answer now while its
	// cluster does; zero: it answers, or this is not known.
	SilentSince time.Time `json:"silent_since,omitzero"`
	// Notes list missing parts of the document, with the reason.
	Notes []string `json:"notes,omitempty"`
}

// A Queue is a set of nodes that one policy schedules, and the jobs for them.
type Queue struct {
	Name       string    `json:"name"`
	Mode       string    `json:"mode,omitempty"` // of a Kubernetes queue
	Policy     string    `json:"policy"`
	Round      int64     `json:"round"` // 0 if unknown
	Planned    time.Time `json:"planned,omitzero"`
	Unseen     bool      `json:"unseen,omitempty"` // the numbers below are unknown
	Running    int       `json:"running"`
	Waiting    int       `json:"waiting"`
	GPUs       int       `json:"gpus"`              // on its nodes
	Held       int       `json:"held"`              // by jobs
	Active     string    `json:"active,omitempty"`  // True or False; empty if unknown
	Message    string    `json:"message,omitempty"` // reason for Active
	Namespaces []string  `json:"namespaces,omitempty"`
	Prices     []Price   `json:"prices,omitempty"`
}

// A Price is the dual price of one GPU of a type, in the policy's unit.
type Price struct {
	Type  cluster.GPUType `json:"type"`
	Price float64         `json:"price"`
}

// A GPUs counts the GPUs of one type, of a queue or of the whole cluster.
type GPUs struct {
	Queue    string          `json:"queue,omitempty"`
	Type     cluster.GPUType `json:"type"` // empty if unknown
	Total    int             `json:"total"`
	Held     int             `json:"held"`
	Unusable int             `json:"unusable"`           // not held, on nodes that start no jobs
	Starting int             `json:"starting,omitempty"` // of rented nodes; not in Total
}

// Free returns the number of available GPUs.
func (g *GPUs) Free() int { return g.Total - g.Held - g.Unusable }

// A Node is a machine with GPUs.
type Node struct {
	Name  string          `json:"name"`
	Queue string          `json:"queue,omitempty"`
	Type  cluster.GPUType `json:"type"`
	GPUs  int             `json:"gpus"` // 0 if unknown
	Used  int             `json:"used"`
	Held  []Holder        `json:"held,omitempty"`
	// Closed is why the node starts no jobs; empty if it does.
	Closed string `json:"closed,omitempty"`
	// Idle explains in a sentence why GPUs are idle, and Cause is its code; both are empty if none are idle or the
	// cause is unknown.
	Cause string `json:"cause,omitempty"`
	Idle  string `json:"idle,omitempty"`
	// CPUs (cores), Memory (bytes) and Slots are for single machines only.
	CPUs   Amount `json:"cpus,omitzero"`
	Memory Amount `json:"memory,omitzero"`
	Slots  []Slot `json:"slots,omitempty"`
	// Use has the measured use of its GPUs, by index; empty if it is not measured.
	Use []Usage `json:"use,omitempty"`
}

// A Usage is the measured use of one GPU. Unknown values are 0, or nil.
type Usage struct {
	GPU     string   `json:"gpu"`            // its index on the node, or its UUID
	Job     job.ID   `json:"job,omitempty"`  // that holds it, if this is known
	Busy    *float64 `json:"busy,omitempty"` // share of time in which it computed, 0 to 1
	Memory  Amount   `json:"memory,omitzero"`
	Celsius float64  `json:"celsius,omitempty"`
	Watts   float64  `json:"watts,omitempty"`
}

// A Holder is a job that has GPUs on a node, or a pod that has GPUs and no job.
type Holder struct {
	Job  job.ID `json:"job"`
	GPUs int    `json:"gpus"`
}

// A Slot is a place for one worker on a machine.
type Slot struct {
	Index   int             `json:"index"`
	Type    cluster.GPUType `json:"type"`
	Visible string          `json:"visible,omitempty"` // value of CUDA_VISIBLE_DEVICES
	Job     job.ID          `json:"job,omitempty"`     // empty for a free slot
	// Generation counts the starts of the job from 1.
	Generation int `json:"generation,omitempty"`
	Rank       int `json:"rank"`
}

// An Amount is how much of a resource is used and exists. Total 0: the resource is not counted.
type Amount struct {
	Used  float64 `json:"used"`
	Total float64 `json:"total"`
}

// A Job is one job. Unknown fields are empty.
type Job struct {
	ID        job.ID `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind,omitempty"` // Kubernetes: kind of its object
	Namespace string `json:"namespace,omitempty"`
	UID       string `json:"uid,omitempty"`
	User      string `json:"user,omitempty"`
	Owner     int    `json:"-"` // uid on this machine
	Account   string `json:"account,omitempty"`
	Queue     string `json:"queue,omitempty"` // Slurm: its partition
	QOS       string `json:"qos,omitempty"`
	Priority  int64  `json:"priority,omitempty"`

	Phase    string `json:"phase"`              // waiting, profiling, starting, running, restoring, stopping, or how it ended
	State    string `json:"state,omitempty"`    // Slurm's state
	Reason   string `json:"reason,omitempty"`   // the policy's reason, or Slurm's code
	Sentence string `json:"sentence,omitempty"` // the reason in words
	Brief    string `json:"brief,omitempty"`    // Sentence in at most 12 words, for lists
	Unblock  string `json:"unblock,omitempty"`  // what would help
	Trouble  string `json:"trouble,omitempty"`  // what needs a person

	Asked   string          `json:"asked,omitempty"` // what was submitted, in words
	MinGPUs int             `json:"min_gpus,omitempty"`
	MaxGPUs int             `json:"max_gpus,omitempty"`
	GPUs    int             `json:"gpus"` // held
	GPUType cluster.GPUType `json:"gpu_type,omitempty"`
	Nodes   []Share         `json:"nodes,omitempty"`
	Also    *Other          `json:"also,omitempty"`
	Unseen  bool            `json:"unseen,omitempty"`
	Pods    int             `json:"pods,omitempty"`  // Kubernetes: not ended
	Ready   int             `json:"ready,omitempty"` // running workers of these
	Plan    *Plan           `json:"plan,omitempty"`  // Kubernetes: its part of the last plan

	Batch       int         `json:"batch,omitempty"`   // samples per step
	Goodput     float64     `json:"goodput,omitempty"` // samples per second at initial efficiency
	Progress    float64     `json:"progress"`          // samples at initial efficiency
	Target      float64     `json:"target,omitempty"`  // samples at initial efficiency
	Restarts    int         `json:"restarts"`          // after the first start
	Profiling   bool        `json:"profiling,omitempty"`
	Checkpoint  *Checkpoint `json:"checkpoint,omitempty"`
	Quarantined int         `json:"quarantined,omitempty"` // rejected reports
	Command     []string    `json:"command,omitempty"`
	IdleHours   float64     `json:"idle_gpu_hours,omitempty"` // held and not used, since measuring began

	Submitted time.Time `json:"submitted,omitzero"`
	Started   time.Time `json:"started,omitzero"` // first start
	Since     time.Time `json:"since,omitzero"`   // last change of what it holds
	Finished  time.Time `json:"finished,omitzero"`
	Outcome   string    `json:"outcome,omitempty"` // done, failed or cancelled
	Detail    string    `json:"detail,omitempty"`

	Start Range `json:"start,omitzero"` // expected start of a waiting job
	End   Range `json:"end,omitzero"`
}

// A Share is the number of GPUs of a job on a node.
type Share struct {
	Node string `json:"node"`
	GPUs int    `json:"gpus"`
}

// An Other has the GPUs of a second type that a heterogeneous job holds.
type Other struct {
	GPUs    int             `json:"gpus"`
	GPUType cluster.GPUType `json:"gpu_type"`
	Nodes   int             `json:"nodes"`
}

// A Plan is what the last plan assigns to one job.
type Plan struct {
	Round   int64           `json:"round"`
	GPUs    int             `json:"gpus"`
	GPUType cluster.GPUType `json:"gpu_type,omitempty"`
	Nodes   []Share         `json:"nodes,omitempty"`
}

// A Checkpoint is the last saved state of a job.
type Checkpoint struct {
	Step     int64     `json:"step"`
	At       time.Time `json:"at"`
	Progress float64   `json:"progress"` // samples at initial efficiency
}

// A Range is an expected time: between Early and Late with the given Probability. Likely is the median.
type Range struct {
	Early       time.Time `json:"early,omitzero"`
	Likely      time.Time `json:"likely,omitzero"`
	Late        time.Time `json:"late,omitzero"`
	Probability float64   `json:"probability,omitempty"` // 0 if unknown
	Source      string    `json:"source,omitempty"`      // origin of the range
	Unknown     string    `json:"unknown,omitempty"`     // why there is none, or no better one
}

// Known reports whether a range has a bound.
func (r *Range) Known() bool { return !r.Early.IsZero() || !r.Late.IsZero() }

// HasEnded reports whether the job has ended.
func (j *Job) HasEnded() bool { return !j.Finished.IsZero() || j.Outcome != "" }

// Holds reports whether the job holds GPUs, or nodes without GPUs.
func (j *Job) Holds() bool { return j.GPUs > 0 || len(j.Nodes) > 0 }

// All returns the jobs, including ended ones, in order of submission.
func (s *Status) All() []Job {
	all := slices.Concat(s.Jobs, s.Ended)
	slices.SortStableFunc(all, func(a, b Job) int { return a.Submitted.Compare(b.Submitted) })
	return all
}

// Job returns a job that has not ended, or nil.
func (s *Status) Job(id job.ID) *Job {
	for i := range s.Jobs {
		if s.Jobs[i].ID == id {
			return &s.Jobs[i]
		}
	}
	return nil
}

// Fill sets the version and the brief reasons of jobs, and replaces nil lists by empty ones.
func (s *Status) Fill() {
	s.Version = version
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Brief == "" && j.Sentence != "" {
			j.Brief = j.brief()
		}
	}
	s.GPUs, s.Nodes, s.Jobs = emptied(s.GPUs), emptied(s.Nodes), emptied(s.Jobs)
}

func emptied[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
