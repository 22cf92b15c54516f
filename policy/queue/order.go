package queue

import (
	"fmt"
	"math"
	"strings"

	"github.com/oxgang/oxgang/policy"
)

// An Order says where in line a job stands in a round: less comes first, and
// jobs that are equal stand by submission. It is asked once per job and round,
// not once per comparison, because the answer may cost a model evaluation. NaN
// counts as last.
type Order func(s *policy.Snapshot, j *policy.Job) float64

// AttainedService is the GPU time the job has held so far, in GPU-seconds.
func AttainedService(s *policy.Snapshot, j *policy.Job) float64 {
	return j.AttainedGPUService(s.Now).Seconds()
}

// ServiceLevel is AttainedService in discrete levels: 0 below one GPU-hour, and
// one more for each doubling. Jobs of a level stand by submission, so that jobs
// alike do not take turns round by round and restart each time. Source:
// Tiresias §3.2.2 (discretised queues).
func ServiceLevel(s *policy.Snapshot, j *policy.Job) float64 {
	hours := j.AttainedGPUService(s.Now).Hours()
	if hours < 1 {
		return 0
	}
	return 1 + math.Floor(math.Log2(hours))
}

// RemainingTime is the progress the job still lacks over its believed goodput
// on the GPUs it asked for, in seconds: on the type it holds, or on its best
// type. A job with no model is taken to progress by 1 a second, so that its
// Target is in seconds. A job with no Target is infinitely long.
func RemainingTime(s *policy.Snapshot, j *policy.Job) float64 {
	if j.Target <= 0 {
		return math.Inf(1)
	}
	left := math.Max(0, j.Target-j.Progress)
	if j.Perf == nil || left == 0 {
		return left
	}
	_, best := home(s, j)
	return left / best
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
		{"srtf", "least believed remaining time first", is(RemainingTime)},
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
