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
// if that is known only by its Duration. Source: BOA §3.1, §6.3.
func Classes(arrivals []Arrival, of func(*job.Spec) *Application) []*perf.ClassStats {
	var jobs []job.Forms // of a class each, by name
	var counts []int
	last := time.Duration(0)
	for i := range arrivals {
		s := &arrivals[i].Spec
		last = max(last, arrivals[i].At)
		at, found := slices.BinarySearchFunc(jobs, s.Class, func(f job.Forms, name job.Class) int { return cmp.Compare(f[0].Class, name) })
		switch {
		case s.Class == "":
			continue
		case !found:
			jobs, counts = slices.Insert(jobs, at, job.Forms{s}), slices.Insert(counts, at, 0)
		}
		jobs[at] = jobs[at].With(s)
		counts[at]++
	}
	all := make([]*perf.ClassStats, len(jobs))
	for i, f := range jobs {
		app := of(f[0])
		if app == nil {
			app = Steady(f[0].GPUs)
		}
		all[i] = app.ClassStats(f...)
		all[i].Arrivals, all[i].Rate = counts[i], float64(counts[i])/cmp.Or(last, time.Hour).Seconds()
	}
	return all
}
