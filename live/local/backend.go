package local

import (
	"cmp"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Backend runs jobs as processes of this machine. It is a scheduler.Backend and an observer of its scheduler. Only
// the scheduler's goroutine may call Next and Do; other methods are safe for concurrent use.
type Backend struct {
	o       Options
	folders statedir.Folders
	cluster *cluster.Cluster

	*driver.Table[*entry]
	jobs      *jobTable
	round     int64
	unwritten string // why plans cannot be stored; empty: they can
}

var _ driver.Backend = (*Backend)(nil)

// Cluster returns the machine as a cluster of one node.
func (b *Backend) Cluster() *cluster.Cluster { return b.cluster }

// Round implements scheduler.Observer.
func (b *Backend) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	b.Table.Round(s, p, acts)
	b.Lock()
	defer b.Unlock()
	b.jobs.findSilent()
}

// Banner returns why the backend cannot store its state, or "" if it can.
func (b *Backend) Banner() string {
	b.Lock()
	defer b.Unlock()
	return cmp.Or(b.unwritten, b.jobs.full)
}

// A Live is the state of a job that has not ended yet.
type Live struct {
	store.Job
	Spoke  bool
	Silent bool // its program has sent no message for long
	Up     bool
	// Trouble states why the job's processes do not match the plan; empty if they do.
	Trouble string
	Waits   time.Time // earliest next start after a failure
	// Withheld is the quota that keeps the job from the scheduler; empty: none.
	Withheld string
}

// Live returns the jobs that have not ended, in the order in which they were accepted.
func (b *Backend) Live() []Live {
	b.Lock()
	defer b.Unlock()
	var all []Live
	for _, e := range b.jobs.Order {
		if e.Over {
			continue
		}
		l := Live{Job: e.Job, Spoke: e.hasClient, Silent: e.Silent, Waits: e.notBefore, Trouble: e.trouble(time.Now()), Withheld: b.jobs.withheldBy(e)}
		if r := e.current(); r != nil {
			l.Up = r.up
		}
		all = append(all, l)
	}
	return all
}

// Busy reports whether a job has not ended or still has processes. Once false, it remains false.
func (b *Backend) Busy(id job.ID) bool {
	b.Lock()
	defer b.Unlock()
	return b.jobs.ByID[id] != nil
}

// Escapes tells users what a job can do if no cgroup contains it.
const Escapes = "a detached process can keep its GPU after its job has ended; " +
	"set Delegate=yes in systemd's unit, or serve --cgroup"

// Caveat states which guarantee about jobs this machine lacks, such as containment, or "".
func (b *Backend) Caveat() string {
	if b.o.Cgroup == "" {
		return "without a cgroup, " + Escapes
	}
	return ""
}

// LogFile returns the path of the file with the output of a job's workers. dir is the state directory.
func LogFile(dir string, id job.ID) string { return (&statedir.Folders{Dir: dir}).Log(id) }
