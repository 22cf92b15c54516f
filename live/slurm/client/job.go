package client

import (
	"slices"
	"strconv"
	"time"
)

// An ID is the number of a job; that of each task of an array and of each component of a
// heterogeneous job is another.
type ID uint32

// String returns the number as the commands take it.
func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// A State is the base state of a job, as Slurm names it.
type State string

// The states that the scheduler asks for. Slurm has others, all of jobs that ended.
const (
	Pending   State = "PENDING"
	Running   State = "RUNNING"
	Suspended State = "SUSPENDED"
	Completed State = "COMPLETED"
	Cancelled State = "CANCELLED"
	Failure   State = "FAILED"
	Requeued  State = "REQUEUED" // in the accounting: this run ended by a requeue
)

// A Job is what Slurm knows of a job. Times that are not known are zero.
type Job struct {
	ID        ID
	Array     ID     // of all tasks of its array; 0: it is no task
	Task      int    // of the array, if Tasks is empty
	Tasks     string // of the array that were not started yet, as in "2-9%4"; empty: one task, or no array
	Het       ID     // of the leader of a heterogeneous job; 0: it is not part of one
	HetOffset int

	Name, User, Account, Partition, QOS string
	Comment, AdminComment, Reservation  string
	Dependency                          string
	Features                            string // what it demands of nodes
	Workdir, Output                     string

	State    State
	Flags    []string // as COMPLETING and REQUEUE_HOLD, in upper case
	Reason   string   // why it waits, or ended: Slurm's reason code
	Priority uint32   // 0: held
	Nice     int
	Restarts int  // how often it was requeued
	Requeue  bool // whether it may be requeued

	Submit, Eligible, Start, End time.Time // of a job that waits: when Slurm expects it to start
	Limit                        time.Duration
	Unlimited                    bool // it has no time limit

	Nodes         []string // it holds; by name
	Needed        int      // nodes it wants at least
	ReqNodes      []string // it wants these among its nodes
	Excluded      []string // it wants none of these
	CPUs          int      // wanted, or held
	NumTasks      int
	Memory        int64 // bytes wanted or held on all nodes; 0: not known
	GPUs          GPUs  // wanted in all, or held
	PerNode       GPUs  // wanted on each node; nil: not said so
	HeldGPUs      []Held
	ExitCode      int // of a job that ended
	Signal        int // by which it ended; 0: by none
	BatchHost     string
	TimeMinimum   time.Duration // a shorter time limit that it accepts
	ExclusiveNode bool          // it wants nodes to itself
}

// Held is what a job holds of one node.
type Held struct {
	Node    string
	GPUs    GPUs
	Indices []int // which GPUs, of the node's; nil: Slurm does not say
}

// Waits reports whether a job has not started, or was requeued.
func (j *Job) Waits() bool { return j.State == Pending }

// Holds reports whether a job holds nodes, also while it ends.
func (j *Job) Holds() bool {
	return j.State == Running || j.State == Suspended || slices.Contains(j.Flags, "COMPLETING")
}

// Kept reports whether somebody keeps a job from starting.
func (j *Job) Kept() bool {
	return j.Waits() && (j.Priority == 0 || slices.Contains(j.Flags, "REQUEUE_HOLD") || slices.Contains(j.Flags, "SPECIAL_EXIT"))
}

// Label returns a job's number as people write it: 12, 12_3, 12_[2-9%4] or 12+1.
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
