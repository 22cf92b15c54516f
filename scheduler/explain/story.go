package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Story explains a job, either its whole life or its state at one time. Times are since the start of the recording.
type Story struct {
	Job     job.ID   `json:"job"`
	Policy  string   `json:"policy"`
	Asked   string   `json:"asked"`
	Moment  *Moment  `json:"moment,omitempty"`  // set by At
	Changes []Change `json:"changes,omitempty"` // set by Life, by time
	Totals  *Totals  `json:"totals,omitempty"`  // set by Life
	// Note is a limit of the answer, such as a truncated journal; otherwise empty.
	Note string `json:"note,omitempty"`
}

// A Holding is what a job holds: GPUs of one type on a number of nodes, and perhaps GPUs of a second type.
type Holding struct {
	Nodes int             `json:"nodes"`
	GPUs  int             `json:"gpus"`
	Type  cluster.GPUType `json:"type"`
	// CPUs (cores) and Memory (bytes) are set only in Moment.Holds; 0 if nodes do not count them.
	CPUs   float64 `json:"cpus,omitzero"`
	Memory int64   `json:"memory,omitzero"`
	// Also is the GPUs of a second type, or nil.
	Also *Holding `json:"also,omitempty"`
}

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

// A What is a kind of Change: the job started, was preempted, ended, and so on.
type What string

// The kinds of change.
const (
	Submitted What = "submitted"
	Profiled  What = "profiled"
	Waits     What = "waits" // begins to wait, or waits for another reason
	Started   What = "started"
	Resumed   What = "resumed" // started again after a wait
	Grown     What = "grown"
	Shrunk    What = "shrunk"
	Moved     What = "moved"
	Preempted What = "preempted"
	Lost      What = "lost" // a failure took its GPUs
	Ended     What = "ended"
)

// A Change is one line of a job's history.
type Change struct {
	At     journal.Seconds `json:"at"`
	What   What            `json:"what"`
	From   *Holding        `json:"from,omitempty"`
	To     *Holding        `json:"to,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Text   string          `json:"text"`
	// Details states the prices and speeds behind the reason; may be empty.
	Details string `json:"details,omitempty"`

	event event
}

type event struct {
	at     time.Duration
	what   What   // empty: nothing happened yet
	verb   string // "grew from 2 to 4 t4 GPUs"
	since  string // how it got them, after "has been running on 4 GPUs for 1m30s. It": "grew from 2 GPUs"
	reason string
	takers string // who got its GPUs: "; b started on 4 of its previous GPUs", or empty
}

// text returns "1m30s ago it grew from 2 to 4 t4 GPUs, because more GPUs make it 2 times as fast".
func (e *event) text(when string) string {
	if e.reason == "" {
		return when + " it " + e.verb
	}
	return when + " it " + e.verb + ", because " + e.reason
}

// Totals sum up a job's time and GPU-hours over the recording.
type Totals struct {
	Submitted journal.Seconds  `json:"submitted"`
	Ended     *journal.Seconds `json:"ended,omitempty"`   // nil if the job did not end in the recording
	Outcome   string           `json:"outcome,omitempty"` // how the job ended; if it ended before the recording, Ended is nil
	Profiling journal.Seconds  `json:"profiling"`
	Waiting   journal.Seconds  `json:"waiting"` // time with neither GPUs nor profiling
	Holding   journal.Seconds  `json:"holding"`
	GPUHours  float64          `json:"gpu_hours"`  // GPU-hours in use "held" of the ledger: without profiling
	Restarts  int              `json:"restarts"`   // starts after the first
	LostHours float64          `json:"lost_hours"` // GPU-hours from starts to the beginning of training
}

// A Moment is the state of a job at one time, and why it has that state.
type Moment struct {
	At       journal.Seconds  `json:"at"`
	Phase    string           `json:"phase"` // a job.Phase, or "not submitted"
	Since    *journal.Seconds `json:"since,omitempty"`
	Holds    *Holding         `json:"holds,omitempty"`
	Before   *Holding         `json:"before,omitempty"` // GPUs before the last change
	Takers   []Taker          `json:"takers,omitempty"` // jobs that got these GPUs
	Lost     string           `json:"lost,omitempty"`   // when and how a failure took Before: "lost at 1h02m03s: node failed"
	Reason   string           `json:"reason,omitempty"`
	Sentence string           `json:"sentence"`
	Details  string           `json:"details,omitempty"` // prices and speeds behind Sentence; may be empty
	Ended    bool             `json:"ended,omitempty"`   // whether the job ended before At
	Cluster  *View            `json:"cluster,omitempty"`
	Next     string           `json:"next"` // what happened next, in words; may be empty
	NextAt   *journal.Seconds `json:"next_at,omitempty"`
	// Best is the best configuration at today's prices; nil if the reason names none.
	Best *Holding `json:"best,omitempty"`
	// LostHours are the GPU-hours so far from starts to the beginning of training; Starts is the number of these
	// starts.
	LostHours float64 `json:"lost_hours,omitzero"`
	Starts    int     `json:"starts,omitzero"`
	// Package whatif computes the fields below, which a recording lacks. Unblock is the cheapest change that would
	// help. Start and End estimate when the job gets GPUs and completes.
	Unblock string `json:"unblock,omitempty"`
	// Weight is Terms in words; empty if the policy has no weights.
	Weight string        `json:"weight,omitempty"`
	Terms  *policy.Terms `json:"terms,omitempty"`
	// Racks is Locality in words: how much longer steps of the class took in several racks; empty if not measured.
	Racks    string             `json:"racks,omitempty"`
	Locality *perf.LocalityCost `json:"locality,omitempty"`
	// Change is Unblock as a value; nil if unknown.
	Change *counterfactual.Change `json:"change,omitempty"`
	Start  *Expected              `json:"start,omitempty"`
	End    *Expected              `json:"end,omitempty"`
	// Live: At is now, under a running scheduler. Otherwise it is a time of a recording.
	Live bool `json:"-"`

	resumed bool   // its last change was a start after a wait
	changed string // when, how and why its GPUs changed last; empty if Sentence states it
	lostAgo string // Lost, with the time that has passed since
}

// SetChange sets Change, and Unblock as its text. It sets totals in c.Of to 0 if they differ from Cluster, because jobs
// came or ended after c was computed.
func (m *Moment) SetChange(c *counterfactual.Change) {
	if v := m.Cluster; v != nil {
		free := slices.IndexFunc(v.Types, func(t TypeView) bool { return t.Type == c.Gets.GPUType && t.Free == c.Of.Free })
		if free < 0 {
			c.Of.Free = 0
		}
		if c.Of.Running != v.Running {
			c.Of.Running = 0
		}
		if c.Of.Waiting != v.Waiting-1 {
			c.Of.Waiting = 0
		}
	}
	m.Change, m.Unblock = c, c.String()
}

// Unblockable reports whether some change could give the job GPUs: it has none, and is not being profiled.
func (m *Moment) Unblockable() bool { return m.Holds == nil && m.Phase != job.Profiling.String() }

// An Expected is an estimate of the time until something happens, such as the start of a job. A time of zero means now.
type Expected struct {
	Early  journal.Seconds `json:"early"`
	Likely journal.Seconds `json:"likely"`
	Late   journal.Seconds `json:"late"`
	Open   bool            `json:"open,omitzero"` // the time may be later than Late
	// Share is the probability of Early to Late; Likely is the median. Held is how many of the last Of intervals of this
	// kind were right.
	Share float64 `json:"probability"`
	Held  int     `json:"held"`
	Of    int     `json:"of"`
	// Unknown states why there is no estimate; empty if there is one.
	Unknown string `json:"unknown,omitempty"`
}

// A View is the state of the cluster at one time: free and used GPUs, and the numbers of running and waiting jobs.
type View struct {
	Types   []TypeView `json:"types"`
	Running int        `json:"running"`
	Waiting int        `json:"waiting"` // jobs without GPUs
}

// A TypeView is the number of GPUs of one type, and how many are free.
type TypeView struct {
	Type cluster.GPUType `json:"type"`
	GPUs int             `json:"gpus"`
	Free int             `json:"free"`
	// Starting is the number of rented GPUs that are not up yet. Refused states that the provider had too few nodes.
	Starting int      `json:"starting,omitzero"`
	Refused  bool     `json:"refused,omitzero"`
	Price    *float64 `json:"price,omitempty"` // dual price, if the policy has one
	// CPU and Memory are the prices of a core and of 10^9 bytes of memory.
	CPU    float64 `json:"cpu_price,omitzero"`
	Memory float64 `json:"memory_price,omitzero"`
}

// An UnknownJobError states that a job is not in the journal.
type UnknownJobError struct {
	Job     job.ID
	Closest []job.ID // up to three jobs of the journal whose names are closest
}

func (e *UnknownJobError) Error() string {
	if len(e.Closest) == 0 {
		return printable.Named("job", string(e.Job)) + ": not in this journal, which has no jobs"
	}
	names := make([]string, len(e.Closest))
	for i, id := range e.Closest {
		names[i] = string(id)
	}
	return printable.Named("job", string(e.Job)) + ": not in this journal; the closest names are " + strings.Join(names, ", ")
}
