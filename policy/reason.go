package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Reason states why a job got its decision: a Kind, with a configuration and two numbers whose meaning depends
// on the Kind.
type Reason struct {
	Kind   Kind
	Config cluster.Configuration // see Kind
	Value  float64
	Limit  float64
}

// A Kind is one of the possible reasons for a decision.
type Kind uint8

// The kinds of reason, with the meaning of Config, Value and Limit. Each sentence is about one job. "Speed" is
// relative to the job's speed on its smallest configuration, 0 if unknown. "Before" is the configuration in the
// last round.
const (
	Unexplained      Kind = iota
	AsPlanned             // keeps its GPUs; Value: speed; Limit: speed with Config, a better configuration that is not free, or 0 if there is none
	Started               // gets GPUs after it had none; Value: speed
	Grown                 // gets more GPUs; Config: before; Value: speed now; Limit: speed before
	Shrunk                // gets fewer GPUs because others gain more; Config: before; Value: what the job gains from each GPU; Limit: price per GPU, at least Value; both are 0 if the cause is another
	Moved                 // gets another GPU type or other nodes, not always for more speed; Config: before; Value: speed now; Limit: speed before
	KeptNoRestart         // keeps its GPUs because Config, though better, is not worth a restart; Value: speed gain of Config, as a factor; Limit: smallest factor that would be worth it
	AboveShare            // keeps its GPUs, with more CPUs or memory than is proportional to them; Value: speed relative to the proportional share
	BelowShare            // keeps its GPUs, with fewer CPUs and less memory than is proportional, and is not slower for it; Value: speed relative to the proportional share
	PinnedRestore         // starts or restores a checkpoint, and is not interrupted
	PinnedNonPreempt      // keeps its GPUs because it is non-preemptive
	Reserved              // holds its reservation
	WaitNoCapacity        // waits because too few GPUs are free; Config: smallest possible; Value: free GPUs of its type; Limit: GPUs needed
	WaitPrice             // waits because other jobs gain more from the GPUs; Config: its best choice; Value: its gain per GPU; Limit: price per GPU with CPUs and memory, at least Value; a tie if equal
	WaitHost              // waits because no node has the free GPUs together with the CPUs and memory it wants; Config: GPUs; Value: cores; Limit: bytes of memory
	WaitOrder             // waits behind other jobs in the queue; Value: number of these jobs; Limit: GPUs it needs
	WaitBackfill          // would fit, but would delay the first job of the queue; Value: estimated seconds until that job starts; Limit: GPUs it needs
	WaitNodes             // waits for rented nodes that are starting; Config: planned; Value: missing nodes
	WaitBudget            // waits because more nodes would exceed the budget; Config: planned; Value: cost per hour with these nodes; Limit: allowed cost per hour
	Reclaimed             // lost its nodes, on loan or rented, because they went back; Config: before
	WaitProfile           // gets nothing yet, because its profiling on one GPU is not complete
	WaitTurn              // waits because it has had its share of GPU time; Value: seconds that it ran; Limit: seconds since its submission
	WaitPlanned           // waits because its rounds in the planned window come later; Config: planned; Value: seconds until then; Limit: seconds that it will run in the window
	Unpredicted           // keeps its GPUs; its batch sizes deviate from its declared schedule, so the present size is assumed to stay; Value: present size in samples
	Evicted               // was granted Config, but gets nothing because free GPUs are too scattered over nodes
	Impossible            // requests Config, which even the empty cluster cannot grant
	Refused               // keeps its last decision because the plan broke a rule of Check
	KeptNoPlace           // keeps its GPUs; was granted Config, but free GPUs are too scattered over nodes
	WaitQuota             // waits for quota; Config: its request; Value: GPUs left in the quota of its queue; Limit: GPUs it needs
	WaitServed            // waits because jobs ahead of it hold GPUs, and the free GPUs are too few or unsuitable; Config, Value and Limit as for WaitNoCapacity
	WaitPriority          // waits because jobs of higher priority hold GPUs, and the free GPUs are too few or unsuitable; Config, Value and Limit as for WaitNoCapacity
	Promised              // gets what it needs to end by the time that policy/oxgang promised; Value: seconds left until then, negative if it has passed
	WaitShare             // waits because other tenants get their shares first, and the remaining GPUs are too few or unsuitable; numbers as for WaitNoCapacity
	WaitCap               // waits because a cap of GPU-hours is used up; Config.GPUType: the cap and its month, such as "user alice in 2026-11"; Value: GPU-hours used; Limit: the cap
	kinds
)

var kindNames = [kinds]string{
	"unexplained", "as planned", "started", "grown", "shrunk", "moved", "kept to avoid a restart",
	"above its share of CPUs or memory", "below its share of CPUs and memory",
	"pinned in restore", "non-preemptive", "reserved", "waiting: no capacity", "waiting: price too high", "waiting: no CPUs or memory",
	"waiting: queue order", "waiting: would delay the first in the queue", "waiting: nodes on their way", "waiting: budget", "preempted: servers on loan went back", "waiting: not yet profiled", "waiting: its turn is over", "waiting: planned for later", "batch size not predicted", "evicted: fragmentation",
	"impossible on this cluster", "plan refused", "kept: no placement for another", "waiting: quota", "waiting: others are first", "waiting: higher priority", "promised", "waiting: shares of tenants", "waiting: cap used up",
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

// Turn returns a Reason of kind WaitTurn for job j at time now: the job waits because it has had its share of GPU time.
func Turn(j *Job, now time.Time) Reason {
	return Reason{Kind: WaitTurn, Value: j.AttainedService(now).Seconds(), Limit: max(0, j.Age(now).Seconds())}
}
