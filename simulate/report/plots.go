package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

type limits struct {
	points    int // of a curve
	jobs      int
	intervals int
	bars      int // of a schedule
}

var (
	unlimited = limits{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}
	// onPage keeps three runs of 160 jobs below 2 MB, and 50,000 jobs below 10 MB.
	onPage = limits{points: 600, jobs: 2000, intervals: 20_000, bars: 12_000}
)

func datasets(runs []Run, l limits) []*dataset {
	jobs, gantt := perJob(runs, l)
	all := []*dataset{
		jctCDF(runs, l), rhoCDF(runs, l), utilisation(runs, l), queue(runs, l),
		gpuHours(runs), uses(runs), policyTimes(runs, l), schedule(runs, l), gantt, jobs,
	}
	if rented(runs) {
		all = append(all, paid(runs, l))
	}
	if lending(runs) {
		all = append(all, loans(runs, l))
	}
	return all
}

func rented(runs []Run) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return r.Result.Summary.Rent != nil })
}

func paid(runs []Run, l limits) *dataset {
	d := newDataset("paid", "@policy", "time_s", "paid_gpus", "starting_gpus", "spending_per_h")
	for i := range runs {
		s := &runs[i].Result.Series
		means(len(s.Time), l.points, func(first int, mean func([]float64) float64) {
			there, starting, spending := 0.0, 0.0, 0.0
			for _, gpus := range s.Capacity {
				there += mean(gpus)
			}
			for _, gpus := range s.Starting {
				starting += mean(gpus)
			}
			if s.Spending != nil {
				spending = mean(s.Spending)
			}
			d.add([]string{runs[i].Name}, s.Time[first], there+starting, starting, spending)
		})
	}
	return d
}

func (d *dataset) addCDF(name string, sorted []float64, l limits) {
	n := len(sorted)
	points := min(n, l.points)
	for k := range points {
		i := (k+1)*n/points - 1
		d.add([]string{name}, sorted[i], float64(i+1)/float64(n))
	}
}

func jctCDF(runs []Run, l limits) *dataset {
	d := newDataset("jct_cdf", "@policy", "jct_s", "fraction")
	for i := range runs {
		d.addCDF(runs[i].Name, ofJobs(&runs[i], func(j *metrics.JobResult) (float64, bool) {
			return j.JCT, j.Outcome == metrics.Done
		}), l)
	}
	return d
}

func rhoCDF(runs []Run, l limits) *dataset {
	d := newDataset("rho_cdf", "@policy", "rho", "fraction")
	for i := range runs {
		d.addCDF(runs[i].Name, ofJobs(&runs[i], func(j *metrics.JobResult) (float64, bool) {
			return j.Rho, j.Rho > 0
		}), l)
	}
	return d
}

func ofJobs(r *Run, value func(*metrics.JobResult) (float64, bool)) []float64 {
	var values []float64
	for i := range r.Result.Jobs {
		if v, ok := value(&r.Result.Jobs[i]); ok {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

func policyTimes(runs []Run, l limits) *dataset {
	d := newDataset("policy_time_cdf", "@policy", "policy_time_ms", "fraction")
	for i := range runs {
		d.addCDF(runs[i].Name, sortedMillis(runs[i].PolicyTimes), l)
	}
	return d
}

func means(points, most int, visit func(first int, mean func([]float64) float64)) {
	size := max(1, int(math.Ceil(float64(points)/float64(most))))
	for first := 0; first < points; first += size {
		end := min(first+size, points)
		visit(first, func(v []float64) float64 {
			sum := 0.0
			for _, x := range v[first:end] {
				sum += x
			}
			return sum / float64(end-first)
		})
	}
}

func utilisation(runs []Run, l limits) *dataset {
	d := newDataset("utilisation", "@policy", "@gpu_type", "time_s", "busy_gpus", "gpus")
	for i := range runs {
		s := &runs[i].Result.Series
		for t, typ := range runs[i].Result.Types {
			means(len(s.Time), l.points, func(first int, mean func([]float64) float64) {
				d.add([]string{runs[i].Name, string(typ)}, s.Time[first], mean(s.Busy[t]), mean(s.Capacity[t]))
			})
		}
	}
	return d
}

func queue(runs []Run, l limits) *dataset {
	d := newDataset("queue", "@policy", "time_s", "running_jobs", "waiting_jobs")
	for i := range runs {
		s := &runs[i].Result.Series
		means(len(s.Time), l.points, func(first int, mean func([]float64) float64) {
			d.add([]string{runs[i].Name}, s.Time[first], mean(s.Running), mean(s.Waiting))
		})
	}
	return d
}

// mostModels bounds the models shown. A job without a class is its own.
const (
	mostModels = 12
	others     = "others"
)

func gpuHours(runs []Run) *dataset {
	d := newDataset("gpu_hours", "@policy", "@model", "@gpu_type", "gpu_hours")
	models := largestModels(runs)
	for i := range runs {
		byModel := make(map[string][]float64)
		for k := range runs[i].Result.Jobs {
			j := &runs[i].Result.Jobs[k]
			name := string(j.Class)
			if !slices.Contains(models, name) {
				name = others
			}
			if byModel[name] == nil {
				byModel[name] = make([]float64, len(runs[i].Result.Types))
			}
			for t, used := range j.ByType {
				byModel[name][t] += used / 3600
			}
		}
		for _, name := range slices.Concat(models, []string{others}) {
			for t, hours := range byModel[name] {
				d.add([]string{runs[i].Name, name, string(runs[i].Result.Types[t])}, hours)
			}
		}
	}
	return d
}

func largestModels(runs []Run) []string {
	total := make(map[string]float64)
	for i := range runs {
		for k := range runs[i].Result.Jobs {
			total[string(runs[i].Result.Jobs[k].Class)] += runs[i].Result.Jobs[k].Allocated
		}
	}
	names := make([]string, 0, len(total))
	for name := range total {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), mostModels)]
}

func uses(runs []Run) *dataset {
	d := newDataset("gpu_time_use", "@policy", "@use", "gpu_hours")
	for i := range runs {
		s := &runs[i].Result.Summary
		d.add([]string{runs[i].Name, "useful"}, s.UsefulHours)
		d.add([]string{runs[i].Name, "restarts"}, s.RestartHours)
		d.add([]string{runs[i].Name, "profiling"}, s.ProfilingHours)
		d.add([]string{runs[i].Name, "idle in round"}, s.IdleHours)
	}
	return d
}

func perJob(runs []Run, l limits) (jobs, gantt *dataset) {
	jobs = newDataset("jobs", "@policy", "@job", "@model", "@outcome", "submitted_s", "first_started_s",
		"finished_s", "jct_s", "queued_s", "restarts", "gpu_hours", "rho")
	gantt = newDataset("gantt", "@policy", "@job", "@gpu_type", "@state", "start_s", "end_s", "gpus")
	for i := range runs {
		res := runs[i].Result
		left := l.intervals
		for k := range res.Jobs[:min(len(res.Jobs), l.jobs)] {
			j := &res.Jobs[k]
			if left -= len(j.Intervals); left < 0 {
				break
			}
			jobs.add([]string{runs[i].Name, string(j.ID), string(j.Class), string(j.Outcome)}, j.Submitted, j.FirstStarted,
				j.Finished, j.JCT, j.Queued, float64(j.Restarts), j.Allocated/3600, j.Rho)
			for _, iv := range j.Intervals {
				gantt.add([]string{runs[i].Name, string(j.ID), string(res.Types[iv.Type]), iv.State.String()},
					iv.Start, iv.End, float64(iv.GPUs))
			}
		}
	}
	return jobs, gantt
}
