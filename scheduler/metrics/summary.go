package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Result returns the measurements up to the last event, or up to the end of the last round if no job is active. It does
// not change r. It takes O(n log n) for n jobs.
func (r *Recorder) Result() *Result {
	c := r.clone()
	c.opts.Stream = Stream{}
	return c.close()
}

func (r *Recorder) close() *Result {
	if !r.lastReport.IsZero() {
		r.advance(r.lastReport)
	}
	if len(r.active) == 0 && len(r.ending) > 0 {
		r.integrate(r.boundary)
	}
	r.endRound()
	for _, id := range slices.Sorted(maps.Keys(r.active)) {
		a := r.active[id]
		r.settle(a)
		if !r.opts.measures(a) {
			continue
		}
		a.contention = r.meanContention(a)
		r.streamJob(a, r.done.add(a.result(r.start, r.now, len(r.gpus.types))))
	}
	res := &Result{
		Start: r.start, Types: append([]cluster.GPUType{}, r.gpus.types...),
		Jobs: r.done.all(), IntervalsDropped: r.dropped,
	}
	for i := range res.Jobs { // types that appeared after the job was stored
		res.Jobs[i].ByType = append(res.Jobs[i].ByType, make([]float64, len(r.gpus.types)-len(res.Jobs[i].ByType))...)
	}
	sortResults(res.Jobs)
	res.Series = r.series.series(len(r.gpus.types), r.rent.groups)
	if len(r.lending.loans) > 0 {
		res.Series.Loans = r.series.loans(r.lending.appraisals.rounds > 0)
	}
	res.Summary = r.summary(res.Jobs)
	res.Nodes, res.NodesDropped = r.rent.lives, r.rent.dropped
	return res
}

func sortResults(jobs []JobResult) {
	from := make([]int32, len(jobs)) // from[i] is the present index of result i
	for i := range from {
		from[i] = int32(i)
	}
	slices.SortFunc(from, func(i, k int32) int {
		a, b := &jobs[i], &jobs[k]
		if c := cmp.Compare(a.Submitted, b.Submitted); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for i := range from {
		if from[i] == int32(i) {
			continue
		}
		first, at := jobs[i], int32(i)
		for from[at] != int32(i) {
			jobs[at] = jobs[from[at]]
			at, from[at] = from[at], at
		}
		jobs[at], from[at] = first, at
	}
}

func (r *Recorder) clone() *Recorder {
	c := *r
	c.gpus, c.done = r.gpus.clone(), r.done.clone()
	c.series, c.rent = r.series.clone(), r.rent.clone()
	c.active = make(map[job.ID]*account, len(r.active))
	for id, a := range r.active {
		c.active[id] = a.clone()
	}
	c.ending = make([]*account, len(r.ending))
	for i, a := range r.ending {
		c.ending[i] = a.clone()
	}
	return &c
}

func (a *account) clone() *account {
	c := *a
	c.byType, c.intervals = slices.Clone(a.byType), slices.Clone(a.intervals)
	return &c
}

func (r *Recorder) summary(jobs []JobResult) Summary {
	s := Summary{Jobs: len(jobs), Rounds: r.rounds, MaxContention: r.maxContention}
	s.MeanContention = ratio(float64(r.contention), float64(r.rounds))
	s.count(jobs)
	s.times(jobs)
	s.Rho = r.opts.rhoSummary(jobs)
	held, there := 0.0, 0.0
	s.Types = []TypeSummary{}
	for i, t := range r.gpus.types {
		ts := TypeSummary{Type: t, GPUs: r.gpus.capacity[i], MaxGPUs: r.gpus.maxCapacity[i], Utilisation: ratio(r.gpus.heldSeconds[i], r.gpus.capacitySeconds[i])}
		for j := range jobs {
			ts.Hours += jobs[j].ByType[i] / 3600
		}
		held, there = held+r.gpus.heldSeconds[i], there+r.gpus.capacitySeconds[i]
		s.Types = append(s.Types, ts)
	}
	s.Utilisation = ratio(held, there)
	s.MeanGPUs = ratio(there, r.rent.paid.seconds)
	s.MeanSpending = ratio(r.rent.paid.money+r.rent.paid.owned, r.rent.paid.seconds)
	s.Rent = r.rent.summary(r.now.Sub(r.start).Seconds())
	s.Loans = r.lending.summary()
	return s
}

func (s *Summary) count(jobs []JobResult) {
	good, doneHours, doneRestarts := 0.0, 0.0, 0.0
	for i := range jobs {
		j := &jobs[i]
		switch j.Outcome {
		case Done:
			s.Done++
			doneHours += j.Allocated / 3600
			doneRestarts += float64(j.Restarts)
		case Failed:
			s.Failed++
		case Cancelled:
			s.Cancelled++
		case Active:
			s.Active++
		}
		s.AllocatedHours += j.Allocated / 3600
		s.UsefulHours += j.Useful / 3600
		s.RestartHours += j.Restart / 3600
		s.ProfilingHours += j.Profiling / 3600
		s.IdleHours += j.Idle / 3600
		s.LostHours += j.Lost / 3600
		s.Preemptions += j.Preemptions
		s.Resizes += j.Resizes
		good += (j.Useful - j.Lost) / 3600 * j.Efficiency
		s.Energy += j.Energy
		s.Cost += j.Cost
	}
	s.GPUHoursPerJob = ratio(doneHours, float64(s.Done))
	s.RestartsPerJob = ratio(doneRestarts, float64(s.Done))
	s.GoodputRatio = ratio(good, s.AllocatedHours)
}

func (s *Summary) times(jobs []JobResult) {
	var jcts, queued []float64
	last := 0.0
	for i := range jobs {
		j := &jobs[i]
		last = max(last, j.Finished)
		if j.Outcome == Done {
			jcts, queued = append(jcts, j.JCT), append(queued, j.Queued)
		}
	}
	if len(jobs) > 0 {
		s.Makespan = max(0, last-jobs[0].Submitted)
	}
	s.MeanJCT, s.MeanQueued = mean(jcts), mean(queued)
	slices.Sort(jcts)
	slices.Sort(queued)
	s.P50JCT, s.P75JCT, s.P90JCT = Quantile(jcts, 0.5), Quantile(jcts, 0.75), Quantile(jcts, 0.9)
	s.P95JCT, s.P99JCT = Quantile(jcts, 0.95), Quantile(jcts, 0.99)
	s.P50Queued, s.P75Queued = Quantile(queued, 0.5), Quantile(queued, 0.75)
	s.P95Queued, s.P99Queued = Quantile(queued, 0.95), Quantile(queued, 0.99)
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return ratio(total, float64(len(values)))
}

func (o *Options) rhoSummary(jobs []JobResult) *RhoSummary {
	var rhos []float64
	total := 0.0
	for i := range jobs {
		if jobs[i].Rho > 0 {
			rhos = append(rhos, jobs[i].Rho)
			total += jobs[i].Rho
		}
	}
	if len(rhos) == 0 {
		return nil
	}
	return &RhoSummary{
		Static: o.Fair != nil, Mean: total / float64(len(rhos)), Worst: perf.WorstRho(rhos),
		UnfairAbove: o.UnfairAbove, Unfair: perf.UnfairFraction(rhos, o.UnfairAbove),
	}
}

// Quantile returns the smallest of the sorted values such that at least a fraction q of them is not above it. Without
// values it returns the zero value.
//
// Deviation: the public Sia simulator has sorted[int(q n)], because it rounds down.
func Quantile[T any](sorted []T, q float64) (value T) {
	if len(sorted) == 0 {
		return value
	}
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9)) // 1e-9: 0.07 * 100 is above 7
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
