package report

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// Trial converts the result of a run into a statistics.Trial, to compare policies.
func Trial(policy string, seed uint64, r *metrics.Result) statistics.Trial {
	t := statistics.Trial{
		Policy: policy, Seed: seed, Measures: Measures(&Run{Result: r}),
		Done: r.Summary.Done, Ended: r.Summary.Active == 0, Came: jobsHash(r),
		Jobs: r.JobTimes(), Pool: r.LargestPool(),
	}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Outcome == metrics.Done {
			restarts := 0.0
			if j.Allocated > 0 {
				restarts = (j.JCT - j.Queued) * j.Restart / j.Allocated // shares of time and GPU time
			}
			t.Terms.Waiting += j.Queued / float64(r.Summary.Done)
			t.Terms.Restarts += restarts / float64(r.Summary.Done)
			t.Terms.Running += (j.JCT - j.Queued - restarts) / float64(r.Summary.Done)
		}
	}
	return t
}

func jobsHash(r *metrics.Result) uint64 {
	h := fnv.New64a()
	for i := range r.Jobs {
		fmt.Fprintf(h, "%q %v\n", r.Jobs[i].ID, r.Jobs[i].Submitted)
	}
	return h.Sum64()
}

// Verdict compares policies by the measures that tables print. baseline is the name of the policy to compare with.
func Verdict(trials []statistics.Trial, baseline string) *statistics.Verdict {
	better := make(map[string]int)
	for _, c := range allColumns() {
		better[c.key] = int(c.better)
	}
	return statistics.NewVerdict(trials, better, baseline)
}

func verdictOf(runs []Run) *statistics.Verdict {
	for i := range runs {
		if runs[i].Verdict != nil {
			return runs[i].Verdict
		}
	}
	return nil
}

func meansOver(v *statistics.Verdict) string {
	return "means " + v.Over() + "; plots: seed " + strconv.FormatUint(v.Seeds[0], 10)
}

func (c *column) best(r *Run) bool {
	return r.Verdict != nil && r.Policy != "" && r.Verdict.Best[c.key] == r.Policy
}

func bestIn(r *Run) string {
	var names []string
	for _, c := range columnsOf([]Run{*r}) {
		if c.best(r) {
			names = append(names, c.key)
		}
	}
	return strings.Join(names, " ")
}

var verdictColumns = []remark{
	{key: "best_in", value: bestIn, words: true},
	{key: "jct_above_best", value: versus(func(d *statistics.Difference) (float64, bool) { return d.Part, true })},
	{key: "jct_above_best_low", value: versus(func(d *statistics.Difference) (float64, bool) { return d.Low, d.Known })},
	{key: "jct_above_best_high", value: versus(func(d *statistics.Difference) (float64, bool) { return d.High, d.Known })},
	{key: "verdict", value: func(r *Run) string {
		if r.Verdict == nil {
			return ""
		}
		return r.Verdict.Text()
	}, words: true},
}

func versus(of func(*statistics.Difference) (float64, bool)) func(*Run) string {
	return func(r *Run) string {
		if r.Verdict == nil {
			return ""
		}
		d, compared := r.Verdict.Versus[r.Policy]
		if v, known := of(&d); compared && known {
			return number(v)
		}
		return ""
	}
}

// Averaged returns run r with its measures replaced by their means over the seeds of trials.
func Averaged(r Run, trials []statistics.Trial) Run {
	r.Means = statistics.Means(trials, r.Policy)
	return r
}
