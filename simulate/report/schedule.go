package report

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A bar is an interval with GPUs, without short pauses. Bars of a job do not overlap. The sum of held x gpus over
// the bars is the GPU time that the job held.
type bar struct {
	start, end float64 // since the start
	held       float64 // part with GPUs
	gpus       float64 // mean while held
}

func schedule(runs []Run, l limits) *dataset {
	d := newDataset("schedule", "@policy", "@job", "row", "start_s", "end_s", "held_s", "gpus")
	for i := range runs {
		jobs := runs[i].Result.Jobs
		jobs = jobs[:min(len(jobs), l.jobs)]
		for row, bars := range barsOf(jobs, l.bars) {
			for _, b := range bars {
				d.add([]string{runs[i].Name, string(jobs[row].ID)}, float64(row), b.start, b.end, b.held, b.gpus)
			}
		}
	}
	return d
}

const finestPause = 1.0 / 4096

// barsOf doubles the pause that is left out while there are more than most bars.
func barsOf(jobs []metrics.JobResult, most int) [][]bar {
	end := 0.0
	for i := range jobs {
		for _, iv := range jobs[i].Intervals {
			end = max(end, iv.End)
		}
	}
	all := make([][]bar, len(jobs))
	for pause := 0.0; ; pause = max(2*pause, end*finestPause) {
		count := 0
		for i := range jobs {
			all[i] = merged(jobs[i].Intervals, pause)
			count += len(all[i])
		}
		if count <= most || pause > end {
			return all
		}
	}
}

func merged(intervals []metrics.Interval, pause float64) []bar {
	var all []bar
	for _, iv := range intervals {
		next := bar{iv.Start, iv.End, iv.End - iv.Start, float64(iv.GPUs)}
		if n := len(all); n > 0 {
			last := &all[n-1]
			if gap := next.start - last.end; gap < pause || gap <= 0 && last.gpus == next.gpus {
				last.join(next)
				continue
			}
		}
		all = append(all, next)
	}
	return all
}

func (b *bar) join(next bar) {
	if b.gpus != next.gpus {
		b.gpus = (b.gpus*b.held + next.gpus*next.held) / (b.held + next.held)
	}
	b.end, b.held = next.end, b.held+next.held
}

type sizing struct {
	Name   string    `json:"name"`
	Bounds []float64 `json:"bounds"` // GPU-hours of each next size
}

// sizings returns the best grouping first: Shockwave's, unless nine of ten jobs have one size, as in its published
// traces. Source: Shockwave §8.1, §8.4.
func sizings(runs []Run) []sizing {
	published, fifths := sizing{"as in Shockwave \u00a78.1", []float64{0.2, 8, 16, 72}}, sizing{"fifths of the jobs", make([]float64, 4)}
	var hours []float64
	for i := range runs {
		hours = append(hours, ofJobs(&runs[i], func(j *metrics.JobResult) (float64, bool) {
			return (j.Allocated - j.Profiling) / 3600, j.Allocated > j.Profiling
		})...)
	}
	slices.Sort(hours)
	for i := range fifths.Bounds {
		fifths.Bounds[i] = twoDigits(metrics.Quantile(hours, float64(i+1)/5))
	}
	if len(hours) > 0 && published.most(hours) > 0.9 {
		return []sizing{fifths, published}
	}
	return []sizing{published, fifths}
}

func (s *sizing) most(hours []float64) float64 {
	counts := make([]int, len(s.Bounds)+1)
	for _, h := range hours {
		counts[s.of(h)]++
	}
	return float64(slices.Max(counts)) / float64(len(hours))
}

func (s *sizing) of(hours float64) int {
	n := 0
	for n < len(s.Bounds) && s.Bounds[n] <= hours {
		n++
	}
	return n
}

func twoDigits(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return tidy(math.Round(v/unit) * unit)
}
