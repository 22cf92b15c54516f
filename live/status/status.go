// Package status describes what a scheduler does at one time: what runs, who waits and why, since when, when a job starts or
// ends, which GPUs are idle and why, and what needs a person. A journal, a machine, a Kubernetes cluster and a Slurm fill in the
// same document; the tables of commands, the page and -o json show it. docs/status.schema.json is its JSON schema.
package status

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Version is the version of the document. It changes if a field gets another meaning or goes; a new field does not change it.
const Version = "oxgang.dev/status/v1"

// A Backend is the kind of system that a Status describes.
type Backend string

// The backends.
const (
	Journal    Backend = "journal"
	Machine    Backend = "machine"
	Kubernetes Backend = "kubernetes"
	Slurm      Backend = "slurm"
)

// A Status is the state of a scheduler, its nodes and its jobs at one time.
type Status struct {
	Version string    `json:"version"`
	Backend Backend   `json:"backend"`
	Title   string    `json:"title"` // the machine, the cluster or the journal
	At      time.Time `json:"at"`
	Policy  string    `json:"policy"`           // in words; with several queues, one for each
	Queues  []Queue   `json:"queues,omitempty"` // of our schedulers; none if the user may not see them
	GPUs    []GPUs    `json:"gpus"`             // none if not all pods are visible
	Nodes   []Node    `json:"nodes"`            // with GPUs; if not all pods are visible, the ones that jobs are on
	Jobs    []Job     `json:"jobs"`             // not ended
	Ended   []Job     `json:"ended,omitempty"`  // the latest first
	// Attention lists problems that concern all jobs and need a person.
	Attention []string `json:"attention,omitempty"`
	// Notes say what is missing from the document, and why.
	Notes []string `json:"notes,omitempty"`
}

// A Queue is a set of nodes that one policy schedules.
type Queue struct {
	Name       string    `json:"name"`
	Mode       string    `json:"mode,omitempty"` // of a Kubernetes queue
	Policy     string    `json:"policy"`
	Round      int64     `json:"round"`             // the last one; 0: none is known
	Planned    time.Time `json:"planned,omitzero"`  // time of the last plan
	Unseen     bool      `json:"unseen,omitempty"`  // the numbers below are not known
	Running    int       `json:"running"`           // jobs with GPUs
	Waiting    int       `json:"waiting"`           // jobs without GPUs
	GPUs       int       `json:"gpus"`              // on its nodes
	Held       int       `json:"held"`              // of these, by jobs
	Active     string    `json:"active,omitempty"`  // True or False; empty: not known
	Message    string    `json:"message,omitempty"` // why it is active or not
	Namespaces []string  `json:"namespaces,omitempty"`
	Prices     []Price   `json:"prices,omitempty"` // none if the policy has none
}

// A Price is that of one GPU of a type, in the policy's own measure.
type Price struct {
	Type  cluster.GPUType `json:"type"`
	Price float64         `json:"price"`
}

// GPUs counts the GPUs of one type, or of one type in one queue.
type GPUs struct {
	Queue    string          `json:"queue,omitempty"`
	Type     cluster.GPUType `json:"type"` // empty: not known
	Total    int             `json:"total"`
	Held     int             `json:"held"`
	Unusable int             `json:"unusable"`           // not held, on nodes that start no job
	Starting int             `json:"starting,omitempty"` // of rented nodes that are not there yet; not in Total
}

// Free returns the number of GPUs that a job could have.
func (g *GPUs) Free() int { return g.Total - g.Held - g.Unusable }

// A Node is a machine with GPUs.
type Node struct {
	Name  string          `json:"name"`
	Queue string          `json:"queue,omitempty"`
	Type  cluster.GPUType `json:"type"`
	GPUs  int             `json:"gpus"` // 0: not known
	Used  int             `json:"used"`
	Held  []Holder        `json:"held,omitempty"`
	// Closed says why no job comes to the node; empty: jobs do.
	Closed string `json:"closed,omitempty"`
	// Cause, from a closed list, and Idle say why GPUs are idle; empty: none is, or the reason is not known.
	Cause string `json:"cause,omitempty"`
	Idle  string `json:"idle,omitempty"`
	// CPUs (cores) and Memory (bytes) are counted on a single machine only, as are Slots.
	CPUs   Amount `json:"cpus,omitzero"`
	Memory Amount `json:"memory,omitzero"`
	Slots  []Slot `json:"slots,omitempty"`
}

// A Holder is a job, or a pod without a job, that has GPUs of a node.
type Holder struct {
	Job  job.ID `json:"job"`
	GPUs int    `json:"gpus"`
}

// A Slot is a place for one worker on a machine.
type Slot struct {
	Index   int             `json:"index"`
	Type    cluster.GPUType `json:"type"`
	Visible string          `json:"visible,omitempty"` // its CUDA_VISIBLE_DEVICES
	Job     job.ID          `json:"job,omitempty"`     // empty: the slot is free
	// Generation counts the starts of the job from 1; Rank is that of the worker.
	Generation int `json:"generation,omitempty"`
	Rank       int `json:"rank"`
}

// An Amount is how much of a resource jobs have, and how much there is. Total 0: the resource is not counted.
type Amount struct {
	Used  float64 `json:"used"`
	Total float64 `json:"total"`
}

// A Job is one job. Fields that a backend does not know are empty.
type Job struct {
	ID        job.ID `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind,omitempty"` // Kubernetes: of its object
	Namespace string `json:"namespace,omitempty"`
	UID       string `json:"uid,omitempty"`
	User      string `json:"user,omitempty"`
	Owner     int    `json:"-"` // uid of the user on this machine
	Account   string `json:"account,omitempty"`
	Queue     string `json:"queue,omitempty"` // Slurm: its partition
	QOS       string `json:"qos,omitempty"`
	Priority  int64  `json:"priority,omitempty"`

	Phase    string `json:"phase"`              // waiting, profiling, starting, running, restoring, stopping, or how it ended
	State    string `json:"state,omitempty"`    // Slurm's word
	Reason   string `json:"reason,omitempty"`   // name of the policy's reason, or Slurm's code
	Sentence string `json:"sentence,omitempty"` // the reason in words
	Unblock  string `json:"unblock,omitempty"`  // what would end its waiting
	Trouble  string `json:"trouble,omitempty"`  // what needs a person; empty: nothing known does

	Asked   string          `json:"asked,omitempty"` // what was submitted, in words
	MinGPUs int             `json:"min_gpus,omitempty"`
	MaxGPUs int             `json:"max_gpus,omitempty"`
	GPUs    int             `json:"gpus"` // held
	GPUType cluster.GPUType `json:"gpu_type,omitempty"`
	Nodes   []Share         `json:"nodes,omitempty"`
	Also    *Other          `json:"also,omitempty"`
	Unseen  bool            `json:"unseen,omitempty"` // what it holds is not visible to the user
	Pods    int             `json:"pods,omitempty"`   // Kubernetes: of its workers, not ended
	Ready   int             `json:"ready,omitempty"`  // of these, running
	Plan    *Plan           `json:"plan,omitempty"`   // Kubernetes: what the last plan has for it

	Batch       int         `json:"batch,omitempty"`   // samples of one step, of all workers
	Goodput     float64     `json:"goodput,omitempty"` // samples per second at initial efficiency
	Progress    float64     `json:"progress"`          // samples at initial efficiency
	Target      float64     `json:"target,omitempty"`  // samples at initial efficiency
	Restarts    int         `json:"restarts"`          // starts after the first
	Profiling   bool        `json:"profiling,omitempty"`
	Checkpoint  *Checkpoint `json:"checkpoint,omitempty"`  // the last one
	Quarantined int         `json:"quarantined,omitempty"` // rejected reports: their values were impossible
	Command     []string    `json:"command,omitempty"`

	Submitted time.Time `json:"submitted,omitzero"`
	Started   time.Time `json:"started,omitzero"`  // first
	Since     time.Time `json:"since,omitzero"`    // when what it holds last changed; at first Submitted
	Finished  time.Time `json:"finished,omitzero"` // zero: it has not ended, if Outcome is empty, too
	Outcome   string    `json:"outcome,omitempty"` // done, failed or cancelled
	Detail    string    `json:"detail,omitempty"`  // of the outcome

	Start Range `json:"start,omitzero"` // of a job that waits
	End   Range `json:"end,omitzero"`
}

// A Share is the number of GPUs that a job has of one node.
type Share struct {
	Node string `json:"node"`
	GPUs int    `json:"gpus"`
}

// An Other is what a heterogeneous job holds of a second GPU type.
type Other struct {
	GPUs    int             `json:"gpus"`
	GPUType cluster.GPUType `json:"gpu_type"`
	Nodes   int             `json:"nodes"`
}

// A Plan is what a plan has for a job.
type Plan struct {
	Round   int64           `json:"round"`
	GPUs    int             `json:"gpus"`
	GPUType cluster.GPUType `json:"gpu_type,omitempty"`
	Nodes   []Share         `json:"nodes,omitempty"`
}

// A Checkpoint is the last state that a job saved.
type Checkpoint struct {
	Step     int64     `json:"step"`
	At       time.Time `json:"at"`
	Progress float64   `json:"progress"` // samples at initial efficiency
}

// A Range is when something is expected: between Early and Late with a probability, and as likely before Likely as after it. Each of
// the three may be unknown.
type Range struct {
	Early       time.Time `json:"early,omitzero"`
	Likely      time.Time `json:"likely,omitzero"`
	Late        time.Time `json:"late,omitzero"`
	Probability float64   `json:"probability,omitempty"` // 0: not known
	Source      string    `json:"source,omitempty"`      // where the range comes from
	Unknown     string    `json:"unknown,omitempty"`     // why there is none, or none that is better
}

// Known reports whether a range has a bound.
func (r *Range) Known() bool { return !r.Early.IsZero() || !r.Late.IsZero() }

// HasEnded reports whether nothing more can happen to the job.
func (j *Job) HasEnded() bool { return !j.Finished.IsZero() || j.Outcome != "" }

// Holds reports whether the job has GPUs, or is on nodes without them.
func (j *Job) Holds() bool { return j.GPUs > 0 || len(j.Nodes) > 0 }

// All returns the jobs in order of submission, whether they have ended or not.
func (s *Status) All() []Job {
	all := slices.Concat(s.Jobs, s.Ended)
	slices.SortStableFunc(all, func(a, b Job) int { return a.Submitted.Compare(b.Submitted) })
	return all
}

// Job returns the job with an ID that has not ended; nil if there is none.
func (s *Status) Job(id job.ID) *Job {
	for i := range s.Jobs {
		if s.Jobs[i].ID == id {
			return &s.Jobs[i]
		}
	}
	return nil
}

// Fill replaces lists that JSON would have as null.
func (s *Status) Fill() {
	s.Version = Version
	s.GPUs, s.Nodes, s.Jobs = emptied(s.GPUs), emptied(s.Nodes), emptied(s.Jobs)
}

func emptied[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
