package history

import (
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// Times are the wait and completion time of one job, recorded or simulated.
type Times struct {
	Wait, JCT time.Duration
	// GPUSeconds is the GPU time until the job ended, without the rest of its last round.
	GPUSeconds       float64
	Submitted, Ended float64 // seconds since the start, or since 1970 if recorded
}

// A Pair has the recorded times of one job, and its simulated times in each run.
type Pair struct {
	Observed Times
	Runs     []Times // simulated, by run
	day      string  // of submission, UTC
}

// A Select chooses the recorded times of a Pair (Observed) or those simulated in one run (Run).
type Select func(*Pair) *Times

// Observed selects the recorded times.
func Observed(p *Pair) *Times { return &p.Observed }

// Run returns a Select for the times of a job in the i-th simulated run.
func Run(i int) Select { return func(p *Pair) *Times { return &p.Runs[i] } }

// A Comparison has the recorded and the simulated times of the same jobs.
type Comparison struct {
	Pairs []Pair   // jobs that ended in the recording and in all runs, by submission
	names []string // of runs
	own   int      // index of the baseline's first run; -1: none
	apart int      // number of jobs that did not end everywhere
}

// Compare matches the recorded jobs that ended with the jobs of simulated runs called names. baseline is the name of
// the run under the cluster's own policy, or empty.
func Compare(jobs map[job.ID]*parse.Observed, baseline string, names []string, runs ...*metrics.Result) *Comparison {
	c := &Comparison{names: names, own: slices.IndexFunc(names, func(n string) bool { return n == baseline || strings.HasPrefix(n, baseline+" ") })}
	results := make([]map[job.ID]*metrics.JobResult, len(runs))
	for i, r := range runs {
		results[i] = make(map[job.ID]*metrics.JobResult, len(r.Jobs))
		for j := range r.Jobs {
			results[i][r.Jobs[j].ID] = &r.Jobs[j]
		}
	}
	for i := range runs[0].Jobs {
		id := runs[0].Jobs[i].ID
		if p, ok := pairOf(jobs[id], id, results); ok {
			c.Pairs = append(c.Pairs, p)
		} else {
			c.apart++
		}
	}
	return c
}

func pairOf(o *parse.Observed, id job.ID, results []map[job.ID]*metrics.JobResult) (p Pair, ok bool) {
	if o == nil || o.Ended.IsZero() || o.Started.IsZero() {
		return p, false
	}
	p.day = o.Submitted.UTC().Format(time.DateOnly)
	p.Observed = Times{
		Wait: o.Started.Sub(o.Submitted), JCT: o.Ended.Sub(o.Submitted),
		GPUSeconds: float64(o.Arrival.Spec.GPUs) * o.Ended.Sub(o.Started).Seconds(), Submitted: unix(o.Submitted), Ended: unix(o.Ended),
	}
	for _, jobs := range results {
		r := jobs[id]
		if r == nil || r.Finished < 0 || r.FirstStarted < 0 {
			return p, false
		}
		p.Runs = append(p.Runs, Times{
			Wait: seconds(r.FirstStarted - r.Submitted), JCT: seconds(r.JCT),
			GPUSeconds: r.Allocated - r.Profiling - r.Idle, Submitted: r.Submitted, Ended: r.Finished,
		})
	}
	return p, true
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *Comparison) each(value func(*Pair) time.Duration) []time.Duration {
	all := make([]time.Duration, len(c.Pairs))
	for i := range c.Pairs {
		all[i] = value(&c.Pairs[i])
	}
	return all
}

func (c *Comparison) waits(of Select) []time.Duration {
	return c.each(func(p *Pair) time.Duration { return of(p).Wait })
}

func (c *Comparison) jcts(of Select) []time.Duration {
	return c.each(func(p *Pair) time.Duration { return of(p).JCT })
}

// Figures returns means of the selected times, and the utilisation of a cluster with gpus GPUs.
func (c *Comparison) Figures(gpus int, of Select) metrics.Figures {
	waits := c.waits(of)
	slices.Sort(waits)
	return metrics.Figures{
		JCT:         mean(c.jcts(of)).Seconds(),
		Wait:        mean(waits).Seconds(),
		Median:      metrics.Quantile(waits, 0.5).Seconds(),
		P90:         metrics.Quantile(waits, 0.9).Seconds(),
		Utilisation: c.utilisation(float64(gpus), of),
	}
}

func (c *Comparison) utilisation(gpus float64, of Select) float64 {
	if len(c.Pairs) == 0 {
		return 0
	}
	sum, first := 0.0, *of(&c.Pairs[0])
	last := first
	for i := range c.Pairs {
		t := of(&c.Pairs[i])
		sum += t.GPUSeconds
		first.Submitted, last.Ended = min(first.Submitted, t.Submitted), max(last.Ended, t.Ended)
	}
	return sum / max(1, gpus*(last.Ended-first.Submitted))
}

func mean(values []time.Duration) time.Duration {
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return time.Duration(sum / float64(max(1, len(values))))
}
