package client

import (
	"slices"
	"strconv"
	"time"
)

// An ID is a job number. Each task of an array and each component of a heterogeneous job has its own.
type ID uint32

func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// A State is the base state of a job, by Slurm's name.
type State string

// The states that the scheduler uses; others are final.
const (
	Pending   State = "PENDING"
	Running   State = "RUNNING"
	suspended State = "SUSPENDED"
	Completed State = "COMPLETED"
	Cancelled State = "CANCELLED"
	Failure   State = "FAILED"
	Requeued  State = "REQUEUED" // in the accounting: this run ended with a requeue
)

// A Job is a job as Slurm reports it. Unknown times are zero.
type Job struct {
	ID        ID
	Array     ID // number of the array; 0: none
	Task      int
	Tasks     string // tasks that have not started, such as "2-9%4"; empty: one task, or no array
	Het       ID     // leader of a heterogeneous job; 0: none
	HetOffset int

	Name, User, Account, Partition, QOS string
	Comment, AdminComment               string
	Dependency                          string

	State    State
	Flags    []string // such as COMPLETING and REQUEUE_HOLD
	Reason   string   // Slurm's reason code
	Priority uint32   // 0: held
	Nice     int
	Restarts int // number of requeues
	Requeue  bool

	Submit, Eligible, Start, End time.Time
	Limit                        time.Duration
	Unlimited                    bool

	Nodes    []string // held, by name
	Needed   int      // minimum number of nodes that it requests
	ReqNodes []string
	Excluded []string
	CPUs     int // requested or, while it runs, held
	NumTasks int
	Memory   int64 // bytes on all nodes; 0: unknown
	GPUs     GPUs
	PerNode  GPUs // GPUs requested on each node; nil: not stated
	HeldGPUs []Held
	ExitCode int // exit code, after its end
	Signal   int // signal that ended the job; 0: none
}

// Held is what a job holds on one node.
type Held struct {
	Node    string
	GPUs    GPUs
	Indices []int
}

// Waits reports whether a job waits for its first start, or again after it was requeued.
func (j *Job) Waits() bool { return j.State == Pending }

// Holds reports whether a job holds nodes, including while it completes.
func (j *Job) Holds() bool {
	return j.State == Running || j.State == suspended || slices.Contains(j.Flags, "COMPLETING")
}

// IsHeld reports whether a waiting job is held.
func (j *Job) IsHeld() bool {
	return j.Waits() && (j.Priority == 0 || slices.Contains(j.Flags, "REQUEUE_HOLD") || slices.Contains(j.Flags, "SPECIAL_EXIT"))
}

// Label returns a job's number in Slurm's notation: 12, 12_3, 12_[2-9%4] or 12+1.
func (j *Job) Label() string {
	switch {
	case j.Het != 0:
		return j.Het.String() + "+" + strconv.Itoa(j.HetOffset)
	case j.Tasks != "":
		return j.Array.String() + "_[" + j.Tasks + "]"
	case j.Array != 0:
		return j.Array.String() + "_" + strconv.Itoa(j.Task)
	}
	return j.ID.String()
}
