package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// A pair has the times of a job, observed and under each policy.
type pair struct {
	day       string // of its submission, UTC
	wait, jct time.Duration
	waits     []time.Duration // by run, in the order of the runs
	jcts      []time.Duration
	observed  held
	held      []held // by run
}

// held is the GPU time of a job until it ended, in GPU-seconds, and when it was submitted and ended, in seconds. What a
// simulation holds for it from its end to that of the round is not counted, because no cluster does.
type held struct{ gpus, came, ended float64 }

// A comparison compares observed times with those of simulations.
type comparison struct {
	names []string // of runs
	own   int      // index of the baseline's first run; -1: there is none
	pairs []pair   // jobs that ended, observed and in every run, by submission
	apart int      // jobs of the runs that did not
}

// compare returns the comparison of jobs that ended with runs.
func compare(jobs map[job.ID]*parse.Observed, baseline string, names []string, runs []*metrics.Result) *comparison {
	c := &comparison{names: names, own: slices.IndexFunc(names, func(n string) bool { return n == baseline || strings.HasPrefix(n, baseline+" ") })}
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
			c.pairs = append(c.pairs, p)
		} else {
			c.apart++
		}
	}
	return c
}

// pairOf returns the pair of a job; not ok: it did not end everywhere.
func pairOf(o *parse.Observed, id job.ID, results []map[job.ID]*metrics.JobResult) (p pair, ok bool) {
	if o == nil || o.Ended.IsZero() || o.Started.IsZero() {
		return p, false
	}
	p = pair{day: o.Submitted.UTC().Format(time.DateOnly), wait: o.Started.Sub(o.Submitted), jct: o.Ended.Sub(o.Submitted)}
	p.observed = held{float64(o.Arrival.Spec.GPUs) * o.Ended.Sub(o.Started).Seconds(), unix(o.Submitted), unix(o.Ended)}
	for _, jobs := range results {
		r := jobs[id]
		if r == nil || r.Finished < 0 || r.FirstStarted < 0 {
			return p, false
		}
		p.waits = append(p.waits, seconds(r.FirstStarted-r.Submitted))
		p.jcts = append(p.jcts, seconds(r.JCT))
		p.held = append(p.held, held{r.Allocated - r.Profiling - r.Idle, r.Submitted, r.Finished})
	}
	return p, true
}

// unix returns a time in seconds.
func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// seconds returns a number of seconds as a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// each returns one value of every pair.
func (c *comparison) each(value func(*pair) time.Duration) []time.Duration {
	all := make([]time.Duration, len(c.pairs))
	for i := range c.pairs {
		all[i] = value(&c.pairs[i])
	}
	return all
}

// write writes the comparison: waits and completion times, how well the baseline reproduces what was
// observed, and what each day would have gained.
func (c *comparison) write(w io.Writer) error {
	if len(c.pairs) == 0 {
		_, err := fmt.Fprintln(w, "\nno job ended both in the cluster and in the simulations: nothing to compare")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nSINCE SUBMISSION\tJOBS\tMEAN WAIT\tP50 WAIT\tP90 WAIT\tMEAN JCT\tP90 JCT")
	row := func(name string, waits, jcts []time.Duration) {
		slices.Sort(waits)
		slices.Sort(jcts)
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", name, len(waits), cli.Short(mean(waits)),
			cli.Short(metrics.Quantile(waits, 0.5)), cli.Short(metrics.Quantile(waits, 0.9)), cli.Short(mean(jcts)), cli.Short(metrics.Quantile(jcts, 0.9)))
	}
	row("observed", c.each(func(p *pair) time.Duration { return p.wait }), c.each(func(p *pair) time.Duration { return p.jct }))
	for i, name := range c.names {
		row(name, c.each(func(p *pair) time.Duration { return p.waits[i] }), c.each(func(p *pair) time.Duration { return p.jcts[i] }))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if c.apart > 0 {
		fmt.Fprintf(w, "%d jobs still ran, or did not end in a simulation: they are not compared\n", c.apart)
	}
	c.trust(w)
	return c.days(w)
}

// trust writes how well the baseline reproduces the observed waits: what it does not reproduce,
// simulations of other policies do not contain either.
func (c *comparison) trust(w io.Writer) {
	if c.own < 0 {
		return
	}
	off := c.each(func(p *pair) time.Duration { return (p.waits[c.own] - p.wait).Abs() })
	slices.Sort(off)
	bias := mean(c.each(func(p *pair) time.Duration { return p.waits[c.own] - p.wait }))
	which := "longer"
	if bias < 0 {
		which = "shorter"
	}
	name, _, _ := strings.Cut(c.names[c.own], " ")
	fmt.Fprintf(w, "%s simulated: waits are %s %s than observed on average; half are within %s, 9 of 10 within %s\n",
		name, cli.Short(bias.Abs()), which, cli.Short(metrics.Quantile(off, 0.5)), cli.Short(metrics.Quantile(off, 0.9)))
}

// days writes the regret of each day: the mean completion time that was observed, less that
// of a simulation.
func (c *comparison) days(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nDAY (UTC)\tJOBS\tMEAN JCT\tREGRET AGAINST %s\n", strings.Join(c.names, "\t"))
	sorted := slices.SortedStableFunc(slices.Values(c.pairs), func(a, b pair) int { return cmp.Compare(a.day, b.day) })
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(p pair) bool { return p.day != sorted[0].day })
		if n < 0 {
			n = len(sorted)
		}
		day := comparison{pairs: sorted[:n]}
		sorted = sorted[n:]
		observed := mean(day.each(func(p *pair) time.Duration { return p.jct }))
		fmt.Fprintf(t, "%s\t%d\t%s", day.pairs[0].day, n, cli.Short(observed))
		for i := range c.names {
			fmt.Fprintf(t, "\t%s", signed(observed-mean(day.each(func(p *pair) time.Duration { return p.jcts[i] }))))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// signed returns a difference of times: "+12m", "-3s".
func signed(d time.Duration) string {
	if d < 0 {
		return "-" + cli.Short(-d)
	}
	return "+" + cli.Short(d)
}
