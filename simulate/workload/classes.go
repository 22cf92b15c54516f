package workload

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Classes returns the true statistics of the classes of a trace, sorted by name: the perfect information of BOA's
// experiments. The rate of a class is its number of jobs divided by the time of the last arrival, or by an hour if all
// arrive at once. application returns the Application of a class, given its first job, or nil if only the Duration is
// known. Source: BOA §3.1, §6.3.
func Classes(arrivals []Arrival, application func(*job.Spec) *Application) []*perf.ClassStats {
	jobs, first := map[job.Class][]*job.Spec{}, map[job.Class]*Arrival{}
	last := time.Duration(0)
	for i := range arrivals {
		s := &arrivals[i].Spec
		last = max(last, arrivals[i].At)
		if s.Class != "" {
			if jobs[s.Class] == nil {
				first[s.Class] = &arrivals[i]
			}
			jobs[s.Class] = append(jobs[s.Class], s)
		}
	}
	var all []*perf.ClassStats
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		app := cmp.Or(application(jobs[name][0]), first[name].Steady())
		c := app.ClassStats(jobs[name]...)
		c.Arrivals, c.Rate = len(jobs[name]), float64(len(jobs[name]))/cmp.Or(last, time.Hour).Seconds()
		all = append(all, c)
	}
	return all
}
