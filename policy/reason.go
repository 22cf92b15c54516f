package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Reason states why a job got a decision: a Kind, and numbers whose meaning the Kind documents.
type Reason struct {
	Kind   Kind
	Config cluster.Configuration // see Kind
	Value  float64
	Limit  float64
}

// A Kind is one of the possible reasons for a decision.
type Kind uint8

// The kinds of reason, with the meaning of Config, Value and Limit. A speed is relative to the job's speed on
// its minimum; 0: unknown.
const (
	Unexplained      Kind = iota
	AsPlanned             // keeps what it has; Value: speed; Limit, if not 0: speed with Config, which is worth its price but is not free
	Started               // gets its first or next GPUs; Value: speed
	Grown                 // Config: before; Value, Limit: speed now and before
	Shrunk                // Config: before; others gain more; Value: value of each GPU to it, Limit: price, at least Value; both 0: other reasons
	Moved                 // Config: before, on another GPU type or other nodes; Value, Limit: as for Grown, not always a gain
	KeptNoRestart         // a better configuration exists (Config), but is not worth a restart; Value: its gain factor, Limit: the factor that would pay
	AboveShare            // keeps its GPUs, with more than their share of CPUs or memory; Value: speed relative to the share
	BelowShare            // keeps its GPUs, with less than their share of CPUs and memory, which would not make it faster; Value: as for AboveShare
	PinnedRestore         // starting or restoring a checkpoint; not interrupted
	PinnedNonPreempt      // non-preemptive
	Reserved              // holds its reservation
	WaitNoCapacity        // Config: smallest that would do; Value: free GPUs of its type, Limit: GPUs needed
	WaitPrice             // Config: its best choice; Value: its gain per GPU, at least 0, Limit: price per GPU with CPUs and memory, at least Value; equal: a tie
	WaitHost              // GPUs are free, but on no node with the CPUs and memory it wants; Config: GPUs, Value: cores, Limit: host bytes
	WaitOrder             // Value: jobs ahead of it in the queue, Limit: GPUs it needs
	WaitBackfill          // it would fit, but delay the first in the queue; Value: estimated seconds until that starts, Limit: GPUs it needs
	WaitNodes             // the job's rented nodes are starting; Config: planned, Value: missing nodes
	WaitBudget            // more nodes would exceed the budget; Config: planned, Value: cost per hour with it, Limit: allowed, less
	Reclaimed             // the job's nodes on loan, or rented, went back; Config: before
	WaitProfile           // the job's one-GPU profiles are not complete
	WaitTurn              // time sharing: it has had its share; Value: seconds of service, Limit: seconds since submission
	WaitPlanned           // time sharing: its rounds come later; Config: planned, Value: seconds until then, Limit: its seconds in the window
	Unpredicted           // keeps what it has; its batch sizes do not follow its schedule, so the present one is assumed to stay; Value: its samples
	Evicted               // granted Config, but fragmentation leaves no placement
	Impossible            // Config: its request, which the cluster can never grant
	Refused               // the plan broke a rule; the last good one stays
	KeptNoPlace           // keeps what it has; granted Config, but fragmentation leaves no placement
	WaitQuota             // Config: its request; Value: GPUs left in its queue's quota, Limit: GPUs it needs
	WaitServed            // jobs with GPUs are before it, and the rest is too little or does not suit it; numbers as for WaitNoCapacity
	WaitPriority          // jobs of a higher priority are before it, and the rest is too little or does not suit it; numbers as for WaitNoCapacity
	Promised              // gets what it needs to end in time, as promised (policy/oxgang); Value: seconds until it should have ended at the latest, negative: past
	kinds
)

var kindNames = [kinds]string{
	"unexplained", "as planned", "started", "grown", "shrunk", "moved", "kept to avoid a restart",
	"above its share of CPUs or memory", "below its share of CPUs and memory",
	"pinned in restore", "non-preemptive", "reserved", "waiting: no capacity", "waiting: price too high", "waiting: no CPUs or memory",
	"waiting: queue order", "waiting: would delay the first in the queue", "waiting: nodes on their way", "waiting: budget", "preempted: servers on loan went back", "waiting: not yet profiled", "waiting: its turn is over", "waiting: planned for later", "batch size not predicted", "evicted: fragmentation",
	"impossible on this cluster", "plan refused", "kept: no placement for another", "waiting: quota", "waiting: others are first", "waiting: higher priority", "promised",
}

func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return kindNames[k]
}

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Turn returns the reason of a job that waits because it has had its share of time (WaitTurn).
func Turn(j *Job, now time.Time) Reason {
	return Reason{Kind: WaitTurn, Value: j.AttainedService(now).Seconds(), Limit: max(0, j.Age(now).Seconds())}
}
