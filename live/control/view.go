package control

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A View is a job as people see it.
type View struct {
	ID      job.ID          `json:"id"`
	Name    string          `json:"name"`
	UID     int             `json:"-"`     // of its user, where jobs are several users'
	Phase   string          `json:"phase"` // a job.Phase
	GPUs    int             `json:"gpus"`  // held
	MinGPUs int             `json:"min_gpus"`
	MaxGPUs int             `json:"max_gpus"`
	GPUType cluster.GPUType `json:"gpu_type,omitzero"` // of those held
	Batch   int             `json:"batch,omitzero"`    // samples of one step, of all workers; 0: not known
	Goodput float64         `json:"goodput,omitzero"`  // samples per second at initial efficiency; 0: not known
	// Progress and Target are samples at initial efficiency; 0: nothing yet, not known.
	Progress float64 `json:"progress"`
	Target   float64 `json:"target,omitzero"`
	Restarts int     `json:"restarts"` // starts after the first
	Reason   string  `json:"reason,omitzero"`
	Sentence string  `json:"sentence,omitzero"` // the reason, for people
	// When a waiting job starts, and any ends: with 80 % between early and late, and as likely before
	// as after likely. nil: not known.
	StartEarly  *time.Time      `json:"start_early,omitempty"`
	StartLikely *time.Time      `json:"start_likely,omitempty"`
	StartLate   *time.Time      `json:"start_late,omitempty"`
	EndEarly    *time.Time      `json:"end_early,omitempty"`
	EndLikely   *time.Time      `json:"end_likely,omitempty"`
	EndLate     *time.Time      `json:"end_late,omitempty"`
	Submitted   time.Time       `json:"submitted"`
	Started     time.Time       `json:"started,omitzero"`  // first; zero: not yet
	Since       time.Time       `json:"since,omitzero"`    // when what it holds last changed; at first Submitted
	Finished    time.Time       `json:"finished,omitzero"` // zero: not yet
	Outcome     string          `json:"outcome,omitzero"`  // of one that ended: done, failed or cancelled
	Detail      string          `json:"detail,omitzero"`   // of the outcome, for people
	Command     []string        `json:"command"`
	Quarantined int             `json:"quarantined,omitzero"` // refused reports: their values were impossible
	Checkpoint  *CheckpointView `json:"checkpoint,omitempty"` // the last; nil: none yet
	Trouble     string          `json:"trouble,omitzero"`     // what keeps its processes from being as planned, for people
	Profiling   bool            `json:"profiling,omitzero"`   // measuring batch sizes while it trains
	User        string          `json:"user,omitzero"`        // whose it is, where jobs are several users'
}

// Ended reports whether nothing more can happen to the job.
func (v *View) Ended() bool { return !v.Finished.IsZero() }

// A CheckpointView is the last state that a job saved.
type CheckpointView struct {
	Step     int64     `json:"step"`
	At       time.Time `json:"at"`
	Progress float64   `json:"progress"` // samples at initial efficiency
}

// Top is the machine at one time.
type Top struct {
	Machine string     `json:"machine"`
	Policy  string     `json:"policy"`
	Round   int        `json:"round"`
	Slots   []SlotView `json:"slots"`
	CPUs    Amount     `json:"cpus"`   // cores
	Memory  Amount     `json:"memory"` // bytes
	Prices  []Price    `json:"prices,omitempty"`
	Waiting int        `json:"waiting"` // jobs
	Running int        `json:"running"`
	// Banner is a problem that concerns all jobs: "cannot write plans: no space left on
	// device". Empty: there is none.
	Banner string `json:"banner,omitzero"`
}

// A SlotView is one place for a worker.
type SlotView struct {
	Index   int             `json:"index"`
	Type    cluster.GPUType `json:"type"`
	Visible string          `json:"visible,omitzero"` // its CUDA_VISIBLE_DEVICES
	Job     job.ID          `json:"job,omitzero"`     // empty: nobody has it
	// Generation counts the starts of the job from 1; Rank is that of the worker.
	Generation int `json:"generation,omitzero"`
	Rank       int `json:"rank"`
}

// An Amount is how much of a resource jobs have been given, and how much there is. A Total of 0
// means that the resource is not counted.
type Amount struct {
	Used  float64 `json:"used"`
	Total float64 `json:"total"`
}

// A Price is what one unit of a resource costs now, in the policy's own measure.
type Price struct {
	Resource string  `json:"resource"` // a GPU type, "cpus" or "memory"
	Price    float64 `json:"price"`
}
