package local

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
)

// A scenario is what users and the world do in one simulation. It is data, so that a failing one
// can be made shorter.
type scenario struct {
	seed   uint64
	jobs   []simJob
	faults []fault
	calm   time.Duration     // when faults, and the policy's whims, end
	watch  func(*simulation) // may plan what a test looks at; nil: nothing
}

// A simJob is a job of a scenario. Times are since the beginning.
type simJob struct {
	name      string
	at        time.Duration // is submitted
	cancel    time.Duration // is cancelled; 0: never
	gpus      int           // 0: 1 to 4
	speaks    bool          // its program sends messages
	work      int           // steps; one worker makes one per second
	saves     time.Duration // between checkpoints
	fails     int           // starts that fail, the first ones, half way to their next checkpoint
	late      time.Duration // from SIGTERM to its end
	children  bool          // its workers have processes that outlive the supervisor
	starts    time.Duration // from the supervisor's start to the workers'
	deaf      bool          // it ignores SIGTERM
	duplicate bool          // its messages arrive late, and twice
}

// A fault is something that goes wrong.
type fault struct {
	kind string
	at   time.Duration
	n    int           // which: of steps, writes, supervisors
	long time.Duration // lasts
}

// String returns the fault for a trace.
func (f fault) String() string { return fmt.Sprintf("%v: %s %d for %v", f.at, f.kind, f.n, f.long) }

// The kinds of faults. A crash kills the scheduler; when the power fails, everything on the machine
// ends, and what was not synced is lost.
const (
	crashNow     = "crash"
	crashAtStep  = "crash at step"
	crashAtWrite = "crash at write"
	powerNow     = "power fails"
	powerAtWrite = "power fails at write"
	diskFull     = "disk is full"
	hang         = "supervisor hangs"
	kill         = "supervisor is killed"
	clockSet     = "clock is set"
	mute         = "agents are silent"
	stall        = "scheduler stands still"
	breach       = "an invariant is broken" // by the simulation itself: a test of the report
)

// calm is when faults, and the policy's whims, end, but in a storm.
const calm = 150 * time.Second

// newScenario draws a scenario.
func newScenario(seed uint64) *scenario {
	r := rng.Stream(seed, "scenario")
	sc := &scenario{seed: seed, calm: calm}
	for i := range 2 + r.IntN(5) {
		sc.jobs = append(sc.jobs, drawJob(r, i))
	}
	for range r.IntN(7) {
		sc.faults = append(sc.faults, drawFault(r))
	}
	return sc
}

func seconds(r *rand.Rand, most int) time.Duration {
	return time.Duration(r.Int64N(int64(most) * int64(time.Second)))
}

func drawJob(r *rand.Rand, i int) simJob {
	j := simJob{
		name: fmt.Sprintf("j%d", i), at: seconds(r, 90), gpus: r.IntN(3), speaks: r.IntN(4) > 0, work: 5 + r.IntN(100),
		saves: time.Second + seconds(r, 20), late: seconds(r, 3), children: r.IntN(3) == 0, starts: seconds(r, 4), duplicate: r.IntN(2) == 0,
	}
	if r.IntN(5) == 0 {
		j.cancel = j.at + seconds(r, 60)
	}
	if r.IntN(4) == 0 {
		j.fails = 1 + r.IntN(3)
	}
	j.deaf = r.IntN(8) == 0
	return j
}

func drawFault(r *rand.Rand) fault {
	kinds := []string{
		crashNow, crashAtStep, crashAtStep, crashAtWrite, crashAtWrite, powerNow, powerAtWrite, powerAtWrite, diskFull, hang, hang,
		kill, clockSet, mute, stall,
	}
	f := fault{kind: kinds[r.IntN(len(kinds))], at: seconds(r, 120), n: 1 + r.IntN(12), long: seconds(r, 25)}
	switch f.kind {
	case hang:
		f.long += 10 * time.Second
	case mute:
		f.long += 30 * time.Second
	case clockSet:
		f.long = clockSteps[r.IntN(len(clockSteps))]
	}
	return f
}
