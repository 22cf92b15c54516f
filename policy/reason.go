package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Reason is the one dominant reason for what a job got in a round, with its numbers. The
// comment of each kind says which numbers it carries.
type Reason struct {
	Kind   Kind
	Config cluster.Configuration // the configuration the kind speaks of
	Value  float64
	Limit  float64
}

// A Kind is one entry of the closed list of reasons.
type Kind uint8

// The kinds of reason. "Value" and "Limit" name the numbers of the Reason.
const (
	Unexplained      Kind = iota
	AsPlanned             // keeps what it has; Value: its speed, relative to that on the least it runs on, 0: not known; Limit, if not 0: speed with Config, which is worth its price, but not free
	Started               // gets its first or next GPUs; Value: as of AsPlanned
	Grown                 // Config: before; Value, Limit: its speed now and before, in one unit; 0: not known
	Shrunk                // Config: before; GPUs do more for others; Value: what each was worth to it, Limit: their price, at least Value; both 0: not the price alone
	Moved                 // Config: before, on another GPU type, as many GPUs on more or fewer nodes, or more of them that were no better; Value, Limit: as of Grown; need not be a gain
	KeptNoRestart         // a better configuration (Config) is not worth a restart; Value: gain factor, Limit: factor from which restart and GPUs pay, more than Value
	AboveShare            // keeps its GPUs, with more than their share of CPUs or memory; Value: its speed, relative to that with the share
	BelowShare            // keeps its GPUs, with less than their share of CPUs and memory, which would not make it faster; Value: as of AboveShare
	PinnedRestore         // starting or restoring a checkpoint; not interrupted
	PinnedNonPreempt      // non-preemptive, keeps what it has
	Reserved              // holds its reservation
	WaitNoCapacity        // Config: smallest that would do; Value: GPUs free of its type, Limit: GPUs needed
	WaitPrice             // Config: its best offer; Value: what it offers per GPU, at least 0, Limit: today's price per GPU with the CPUs and memory that come with it, no less than Value; as much: a tie
	WaitHost              // GPUs are free, but no node has them with the CPUs and memory it wants; Config: GPUs, Value: cores, Limit: host bytes
	WaitOrder             // others are first in the queue; Value: jobs ahead of it, Limit: GPUs it needs
	WaitBackfill          // it would fit, but the first in the queue would start later; Value: seconds until that one is believed to start, Limit: GPUs it needs
	WaitNodes             // rented nodes for it are on their way; Config: what it is to have, Value: how many of its nodes are not there yet
	WaitBudget            // more nodes would cost more than may be spent; Config: what it is to have, Value: what would be paid per hour with it, Limit: what may be, less
	Reclaimed             // nodes on loan, or rented, that it was on went back to their owner; Config: what it had
	WaitProfile           // its one-GPU profiles are not complete
	WaitTurn              // time sharing: it has had its share; Value: seconds of service, Limit: seconds since it was submitted
	WaitPlanned           // time sharing: its rounds come later; Config: what it is to get, Value: seconds until then, Limit: seconds that it is to have it in the window planned
	Unpredicted           // keeps what it has; its batch sizes do not follow its schedule, or that says too little: planned as if the one it has stayed; Value: samples of it
	Evicted               // allocated, but no placement on unbroken nodes (fragmentation); Config: what it would have had
	Impossible            // no configuration the cluster could ever grant; Config: what it asks for
	Refused               // the plan broke a rule and was refused; the last good plan stays
	KeptNoPlace           // keeps what it has; Config: what it was granted, for which there was no placement on unbroken nodes (fragmentation)
	WaitQuota             // its queue has too little quota left; Config: what it asks for; Value: GPUs that the queue may use more, Limit: GPUs it needs
	WaitServed            // jobs that have GPUs are before it in the order of its policy, and what they leave is not enough, or not for it; numbers as of WaitNoCapacity
	WaitPriority          // jobs of a higher priority are before it, and what they leave is not enough, or not for it; numbers as of WaitNoCapacity
	kinds
)

var kindNames = [kinds]string{
	"unexplained", "as planned", "started", "grown", "shrunk", "moved", "kept to avoid a restart",
	"above its share of CPUs or memory", "below its share of CPUs and memory",
	"pinned in restore", "non-preemptive", "reserved", "waiting: no capacity", "waiting: price too high", "waiting: no CPUs or memory",
	"waiting: queue order", "waiting: would delay the first in the queue", "waiting: nodes on their way", "waiting: budget", "preempted: servers on loan went back", "waiting: not yet profiled", "waiting: its turn is over", "waiting: planned for later", "batch size not predicted", "evicted: fragmentation",
	"impossible on this cluster", "plan refused", "kept: no placement for another", "waiting: quota", "waiting: others are first", "waiting: higher priority",
}

// String returns the kind in a few words.
func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return kindNames[k]
}

// Kinds returns every kind of the closed list.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Turn returns the reason for which a job waits that takes turns with others, with the service
// that it had since it was submitted.
func Turn(j *Job, now time.Time) Reason {
	return Reason{Kind: WaitTurn, Value: j.AttainedService(now).Seconds(), Limit: max(0, j.Age(now).Seconds())}
}
