package queue

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// An Order returns the key that gives a job its place in the queue in a round: lower keys come
// first, and equal ones are ordered by submission. It is asked once per job and round, not once
// per comparison, because the answer may cost a model evaluation. NaN counts as last.
type Order func(s *policy.Snapshot, j *policy.Job) float64

// HighestPriority is minus the priority that was submitted with the job, so that jobs of which
// none has one are served by submission.
func HighestPriority(_ *policy.Snapshot, j *policy.Job) float64 { return -j.Priority }

// ServiceLevel is the GPU time that the job has held so far, in discrete levels: 0 below one GPU-hour, and
// one more for each doubling. Jobs of a level are ordered by submission, so that equal jobs do not take
// turns round by round and restart each time. For a running job the time of a restart is subtracted,
// because preempting it costs that much. Source: Tiresias §3.2.2 (discretised queues).
func ServiceLevel(s *policy.Snapshot, j *policy.Job) float64 {
	hours := j.AttainedGPUService(s.Now).Hours() - float64(j.Allocation.AllGPUs())*j.RestartOverhead.Hours()
	if hours < 1 {
		return 0
	}
	return 1 + math.Floor(math.Log2(hours))
}

// RemainingTime returns how long the job still needs on the GPUs it asks for, of the type that
// it is believed to be fastest on, and what that rests on. It is a duration for every job: a
// job without a model or a target is believed to run as long again as it has run, or to end as
// its class does on average. The type need not be the one that the job holds: otherwise a job
// on slow GPUs would become shorter when it is preempted, and preempt others in turn.
func RemainingTime(s *policy.Snapshot, j *policy.Job) (time.Duration, perf.WorkSource) {
	b := s.Basis(j)
	return b.Time(fastest(s, j))
}

// fastest returns the progress per second of j's gang on the type that it is believed to be
// fastest on; 0 if that is not known.
func fastest(s *policy.Snapshot, j *policy.Job) (most float64) {
	types := s.Cluster.Types()
	for i := range types {
		if t := &types[i]; j.Perf != nil && grant.Usable(j, t) {
			most = math.Max(most, grant.Goodput(j, grant.Gang(j, t)))
		}
	}
	return most
}

// ShortestFirst is RemainingTime in seconds, with the cost of preemption. Let a running job
// need a seconds more, and a waiting one b after a start of r. If the second waits, the two end
// after a and a+r+b. If it preempts the first, which then needs a start of q and repeats the
// work l that no checkpoint has, they end after r+b and r+b+q+a+l. The sum is less if r+b <
// a-q-l. So the key of a waiting job is r+b, and that of a running one a-q-l: a job that is
// shorter by less than the restarts waits, and two jobs never take turns. Times are whole
// seconds, so that equal jobs are ordered by submission, and not by the last digit of a sum.
func ShortestFirst(s *policy.Snapshot, j *policy.Job) float64 {
	left, _ := RemainingTime(s, j)
	start := j.RestartOverhead.Seconds()
	if !j.Holding() {
		return math.Round(left.Seconds() + start)
	}
	return math.Round(left.Seconds() - start - lost(s, j))
}

// lost returns the seconds of work that j would do again if it were preempted.
func lost(s *policy.Snapshot, j *policy.Job) float64 {
	if !j.NoCheckpoint {
		return 0
	}
	if rate := fastest(s, j); rate > 0 {
		return j.Done(s.Now) / rate
	}
	return s.Now.Sub(j.Since).Seconds()
}

// A NamedOrder is one order of the table.
type NamedOrder struct {
	Name string
	Doc  string       // one sentence
	New  func() Order // returns nil: by submission
}

// Orders returns the orders that can be chosen by name.
func Orders() []NamedOrder {
	is := func(o Order) func() Order { return func() Order { return o } }
	return []NamedOrder{
		{"fifo", "by submission", is(nil)},
		{"srtf", "least believed remaining time first", is(ShortestFirst)},
		{"las", "least attained GPU service first, in levels that double", is(ServiceLevel)},
		{"ftf", "largest finish-time fairness ratio first", is(Unfairness)},
		{"drf", "smallest dominant share of GPUs, CPUs and memory first", DominantShare},
		{"tetris", "least resources times remaining time first", Volume},
	}
}

// FindOrder returns the order of a name. An unknown name is an error that lists
// those there are.
func FindOrder(name string) (Order, error) {
	var names []string
	for _, o := range Orders() {
		if o.Name == name {
			return o.New(), nil
		}
		names = append(names, o.Name)
	}
	return nil, fmt.Errorf("order %q, want one of %s", name, strings.Join(names, ", "))
}
