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

// An Order is a function that returns the sort key of a job in a round. Jobs with lower keys come first,
// ties are broken by submission time, and NaN comes last. It is called once per job and round.
type Order func(s *policy.Snapshot, j *policy.Job) float64

// HighestPriority is the Order by submitted priority, highest first: the key is the negated priority.
func HighestPriority(_ *policy.Snapshot, j *policy.Job) float64 { return -j.Priority }

// serviceLevel is the Order by received GPU time, least first. The key is a level: 0 below one GPU-hour, and one more
// for each doubling of the time, so that jobs with similar times do not preempt each other in turn. For a running job,
// the time of a restart is subtracted first, as the cost of preempting it. Source: Tiresias §3.2.2 (discretised
// queues).
func serviceLevel(s *policy.Snapshot, j *policy.Job) float64 {
	hours := j.AttainedGPUService(s.Now).Hours() - float64(j.Allocation.AllGPUs())*j.RestartOverhead.Hours()
	if hours < 1 {
		return 0
	}
	return 1 + math.Floor(math.Log2(hours))
}

// RemainingTime returns the time that a job still needs on its requested number of GPUs of its fastest type, and the
// source of the estimate. Without a model or a target, the estimate is the time that the job has run, or the mean of
// its class.
//
// It ignores the GPU type that the job holds. Otherwise a job on slow GPUs would seem shorter after a preemption, and
// jobs would preempt each other in turn.
func RemainingTime(s *policy.Snapshot, j *policy.Job) (time.Duration, perf.WorkSource) {
	b := s.Basis(j)
	return b.Time(fastest(s, j))
}

func fastest(s *policy.Snapshot, j *policy.Job) (most float64) {
	types := s.Cluster.Types()
	for i := range types {
		if t := &types[i]; j.Perf != nil && grant.Usable(j, t) {
			most = math.Max(most, grant.Goodput(j, grant.Gang(j, t)))
		}
	}
	return most
}

// ShortestFirst is the Order by remaining time in seconds, corrected for the cost of preemption. The key of
// a waiting job is r+b, and the key of a running job is a-q-l:
//
//	a  seconds that the running job still needs
//	b  seconds that the waiting job still needs after its start, which takes r
//	q  seconds that another start of the running job takes
//	l  seconds of work that the running job has not saved, and repeats after a preemption
//
// Why: if the second job waits, the jobs end after a and a+r+b. If it preempts the first, they end after
// r+b and r+b+q+a+l. The sum of the second pair is less if r+b < a-q-l. So two jobs never take turns.
//
// Seconds are rounded, so that equal jobs are ordered by submission.
func ShortestFirst(s *policy.Snapshot, j *policy.Job) float64 {
	left, _ := RemainingTime(s, j)
	start := j.RestartOverhead.Seconds()
	if !j.Holding() {
		return math.Round(left.Seconds() + start)
	}
	return math.Round(left.Seconds() - start - lost(s, j))
}

func lost(s *policy.Snapshot, j *policy.Job) float64 {
	if !j.NoCheckpoint {
		return 0
	}
	if rate := fastest(s, j); rate > 0 {
		return j.Done(s.Now) / rate
	}
	return s.Now.Sub(j.Since).Seconds()
}

// A NamedOrder is an order that can be chosen by name.
type NamedOrder struct {
	Name string
	Doc  string       // one sentence
	New  func() Order // returns the Order; nil means by submission
}

// Orders returns all orders that can be chosen by name.
func Orders() []NamedOrder {
	is := func(o Order) func() Order { return func() Order { return o } }
	return []NamedOrder{
		{"fifo", "by submission", is(nil)},
		{"srtf", "least believed remaining time first", is(ShortestFirst)},
		{"las", "least attained GPU service first, in levels that double", is(serviceLevel)},
		{"ftf", "largest finish-time fairness ratio first", is(Unfairness)},
		{"drf", "smallest dominant share of GPUs, CPUs and memory first", DominantShare},
		{"tetris", "least resources times remaining time first", volume},
	}
}

// FindOrder returns the order of a name.
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
