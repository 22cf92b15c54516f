package workload

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// Classes returns what is true of the classes of a trace's jobs, by name: the perfect
// information of BOA's experiments. A rate is the number of a class' jobs over the time
// of the last arrival of all, or over an hour if all come at once; of jobs without
// class nothing is said. Jobs of a class follow the application of its first job, nil
// if that is known only by its Duration, and have its limits. Source: BOA §3.1, §6.3.
func Classes(arrivals []Arrival, of func(*job.Spec) *Application) []*perf.ClassStats {
	var all []*perf.ClassStats
	last := time.Duration(0)
	for i := range arrivals {
		s := &arrivals[i].Spec
		last = max(last, arrivals[i].At)
		at, found := slices.BinarySearchFunc(all, s.Class, func(c *perf.ClassStats, name job.Class) int { return cmp.Compare(c.Class, name) })
		switch {
		case s.Class == "":
			continue
		case !found:
			all = slices.Insert(all, at, classStats(s, of(s)))
		}
		all[at].Arrivals++
	}
	for _, c := range all {
		c.Rate = float64(c.Arrivals) / cmp.Or(last, time.Hour).Seconds()
	}
	return all
}

func classStats(s *job.Spec, a *Application) *perf.ClassStats {
	if a == nil {
		a = Steady(s.GPUs)
	}
	return a.ClassStats(s)
}
