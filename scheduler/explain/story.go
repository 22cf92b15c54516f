package explain

import (
	"fmt"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Story is an answer: the life of a job, or one moment of it. All times
// count from the start of the recording.
type Story struct {
	Job     job.ID   `json:"job"`
	Policy  string   `json:"policy"`
	Asked   string   `json:"asked"`             // what was submitted, in words
	Moment  *Moment  `json:"moment,omitempty"`  // of At
	Changes []Change `json:"changes,omitempty"` // of Life, by time
	Totals  *Totals  `json:"totals,omitempty"`  // of Life
	// Note says what limits the answer, for example a truncated journal, or a moment
	// after the end of the recording. Empty: nothing does.
	Note string `json:"note,omitempty"`
}

// A Holding is a number of GPUs of one type on a number of nodes, and of a second type if a
// job has one.
type Holding struct {
	Nodes int             `json:"nodes"`
	GPUs  int             `json:"gpus"`
	Type  cluster.GPUType `json:"type"`
	// CPUs (cores) and Memory (host bytes) are those of a Moment's Holds; 0 where
	// nodes do not count them.
	CPUs   float64 `json:"cpus,omitzero"`
	Memory int64   `json:"memory,omitzero"`
	// Also is what a heterogeneous job holds of a second type; nil: nothing.
	Also *Holding `json:"also,omitempty"`
}

// holding returns the GPUs of an allocation; nil if it has none.
func holding(a cluster.Allocation) *Holding {
	h := ofType(a.Configuration)
	if h != nil {
		h.Also = ofType(a.Also)
	}
	return h
}

func ofType(c cluster.Configuration) *Holding {
	if c.IsZero() {
		return nil
	}
	return &Holding{Nodes: c.Nodes, GPUs: c.GPUs, Type: c.GPUType}
}

// A What is a kind of change in a job's life.
type What string

// What may happen to a job.
const (
	Submitted What = "submitted"
	Profiled  What = "profiled"
	Waits     What = "waits" // begins to wait, or goes on waiting for another reason
	Started   What = "started"
	Resumed   What = "resumed" // started again after a wait
	Grown     What = "grown"
	Shrunk    What = "shrunk"
	Moved     What = "moved"
	Preempted What = "preempted"
	Lost      What = "lost" // its GPUs, by a failure
	Ended     What = "ended"
)

// A Change is one line of a life.
type Change struct {
	At     journal.Seconds `json:"at"`
	What   What            `json:"what"`
	From   *Holding        `json:"from,omitempty"`
	To     *Holding        `json:"to,omitempty"`
	Reason string          `json:"reason,omitempty"` // name of the policy's reason
	Text   string          `json:"text"`
	// Details has the prices and speeds behind the reason; empty: there are none.
	Details string `json:"details,omitempty"`
}

// Totals sum up a life, as far as it is recorded.
type Totals struct {
	Submitted journal.Seconds  `json:"submitted"`
	Ended     *journal.Seconds `json:"ended,omitempty"`   // nil: not in the recording
	Outcome   string           `json:"outcome,omitempty"` // how it ended; without Ended: before the recording
	Profiling journal.Seconds  `json:"profiling"`
	Waiting   journal.Seconds  `json:"waiting"`    // with neither GPUs nor profiling
	Holding   journal.Seconds  `json:"holding"`    // with GPUs
	GPUHours  float64          `json:"gpu_hours"`  // of Holding: as the ledger's "held", without profiling and what is idle from its end to that of the round
	Restarts  int              `json:"restarts"`   // starts after the first
	LostHours float64          `json:"lost_hours"` // GPU-hours that it held after starts and restarts until training began
}

// A Moment is the state of a job at one time.
type Moment struct {
	At       journal.Seconds  `json:"at"`
	Phase    string           `json:"phase"` // a job.Phase, or "not submitted"
	Since    *journal.Seconds `json:"since,omitempty"`
	Holds    *Holding         `json:"holds,omitempty"`
	Before   *Holding         `json:"before,omitempty"` // what it held before Holds
	Takers   []Taker          `json:"takers,omitempty"` // who got of the GPUs of Before that it has no more
	Lost     string           `json:"lost,omitempty"`   // when and how it lost Before, as with a node: "lost at 1h02m03s: node failed"; empty: it did not
	Reason   string           `json:"reason,omitempty"`
	Sentence string           `json:"sentence"`
	Details  string           `json:"details,omitempty"` // the prices and speeds behind Sentence; empty: there are none
	Ended    bool             `json:"ended,omitempty"`   // before: nothing is to come
	Cluster  *View            `json:"cluster,omitempty"`
	Next     string           `json:"next"` // what came next, in words; empty: the moment is now, or nothing comes
	NextAt   *journal.Seconds `json:"next_at,omitempty"`
	// Best is the configuration that the reason calls the best at today's prices; nil: it
	// names none.
	Best *Holding `json:"best,omitempty"`
	// LostHours are the GPU-hours that it has held so far after its starts until training
	// began; Starts is the number of these starts.
	LostHours float64 `json:"lost_hours,omitzero"`
	Starts    int     `json:"starts,omitzero"`
	// The fields below are not known from a recording. Callers that have simulated the run
	// further (package whatif) set them. Unblock is a clause with the cheapest change that
	// would help; empty: not asked for. Start and End say when the job gets GPUs and when it is
	// complete; nil: not asked for.
	Unblock string `json:"unblock,omitempty"`
	// Weight says in words what Terms are: what the job counted beside others in the last plan.
	// Empty and nil: its policy does not weigh jobs, or they were not asked for.
	Weight string        `json:"weight,omitempty"`
	Terms  *policy.Terms `json:"terms,omitempty"`
	// Racks says in words what Locality is: how much longer steps of its class took in several racks. Empty and nil: it was not
	// measured, or not asked for.
	Racks    string             `json:"racks,omitempty"`
	Locality *perf.LocalityCost `json:"locality,omitempty"`
	// Change is what Unblock says, for programs; nil: not known.
	Change *counterfactual.Change `json:"change,omitempty"`
	Start  *Expected              `json:"start,omitempty"`
	End    *Expected              `json:"end,omitempty"`
}

// Unblockable reports whether a change may give the job GPUs: it has none, and is not being profiled. Until its profiles are complete
// nothing does.
func (m *Moment) Unblockable() bool { return m.Holds == nil && m.Phase != job.Profiling.String() }

// An Expected says in how long after a Moment something is expected. Its zero value, but for
// Unknown, says that it is expected now.
type Expected struct {
	Early  journal.Seconds `json:"early"`
	Likely journal.Seconds `json:"likely"`
	Late   journal.Seconds `json:"late"`
	Open   bool            `json:"open,omitzero"` // it may be later than Late
	// Share is the probability with which it is between Early and Late; Likely is the median. Of
	// the last Of such ranges of this run, Held held.
	Share float64 `json:"probability"`
	Held  int     `json:"held"`
	Of    int     `json:"of"`
	// Unknown says why the times are not known; empty: they are known.
	Unknown string `json:"unknown,omitempty"`
}

// A View is the state of the cluster at one time.
type View struct {
	Types   []TypeView `json:"types"`
	Running int        `json:"running"` // jobs that hold GPUs
	Waiting int        `json:"waiting"` // jobs that do not
}

// A TypeView is the state of one GPU type.
type TypeView struct {
	Type cluster.GPUType `json:"type"`
	GPUs int             `json:"gpus"`
	Free int             `json:"free"`
	// Starting is the number of GPUs of rented nodes that are not there yet. Refused says that
	// the provider did not have all nodes of the last order.
	Starting int      `json:"starting,omitzero"`
	Refused  bool     `json:"refused,omitzero"`
	Price    *float64 `json:"price,omitempty"` // dual price, where the policy has one
	// CPU and Memory are the prices of a core and of 10^9 bytes of host memory.
	CPU    float64 `json:"cpu_price,omitzero"`
	Memory float64 `json:"memory_price,omitzero"`
}

// An UnknownJobError says that a journal does not have a job.
type UnknownJobError struct {
	Job     job.ID
	Closest []job.ID // up to three jobs of the journal whose names are closest
}

// Error names the job and those that may have been meant.
func (e *UnknownJobError) Error() string {
	if len(e.Closest) == 0 {
		return fmt.Sprintf("job %s: not in this journal, which has no jobs", e.Job)
	}
	names := make([]string, len(e.Closest))
	for i, id := range e.Closest {
		names[i] = string(id)
	}
	return fmt.Sprintf("job %s: not in this journal; the closest names are %s", e.Job, strings.Join(names, ", "))
}
