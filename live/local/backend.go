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

// A Backend is a scheduler.Backend on this machine, and an Observer of its own scheduler. Make
// one with Open. Next and Do are for the scheduler's goroutine; everything else is safe for
// concurrent use.
type Backend struct {
	o       Options
	folders statedir.Folders
	cluster *cluster.Cluster

	*driver.Table[*entry]
	jobs      *jobTable
	round     int64  // of the last plan that was committed
	unwritten string // why plans cannot be written, for people; empty: they can
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

// Banner returns what keeps the backend from writing down what it does; empty if nothing does.
func (b *Backend) Banner() string {
	b.Lock()
	defer b.Unlock()
	return cmp.Or(b.unwritten, b.jobs.full)
}

// A Live job is one that has not ended, as the backend knows it.
type Live struct {
	store.Job
	Spoke  bool // its program has spoken to the scheduler
	Silent bool // it has not for long
	Up     bool // workers of the planned generation run
	// Trouble says what keeps its processes from being as planned, for people; empty: nothing.
	Trouble string
	Waits   time.Time // it is started again then, after a failure; zero or past: at once
	// Withheld says why the scheduler does not know of it yet, for people: its user's quota. Empty: it does.
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
		l := Live{Job: e.Job, Spoke: e.spoke, Silent: e.Silent, Waits: e.NotBefore, Trouble: e.trouble(time.Now()), Withheld: b.jobs.withheldBy(e)}
		if r := e.current(); r != nil {
			l.Up = r.up
		}
		all = append(all, l)
	}
	return all
}

// Busy reports whether a job has not ended, or still has processes. One that is not busy never
// becomes it again.
func (b *Backend) Busy(id job.ID) bool {
	b.Lock()
	defer b.Unlock()
	return b.jobs.ByID[id] != nil
}

// Escapes says what jobs without a cgroup can do, for people.
const Escapes = "a process of a job that leaves its session and clears its environment outlives the job on its GPUs; " +
	"with Delegate=yes in systemd's unit, or serve --cgroup, it cannot"

// Caveat returns what is not guaranteed of the jobs of this backend, for people; empty: all is.
func (b *Backend) Caveat() string {
	if b.o.Cgroup == "" {
		return "without a cgroup, " + Escapes
	}
	return ""
}

// LogFile returns where the output of a job's workers is, in a state directory.
func LogFile(dir string, id job.ID) string { return (&statedir.Folders{Dir: dir}).Log(id) }
