package history

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// An Answer is the result of the command oxgang whatif. Times are in seconds.
type Answer struct {
	Sentence string         `json:"answer"`
	Own      string         `json:"own_policy"`
	Cluster  string         `json:"cluster"`
	GPUs     int            `json:"gpus"`
	Trust    *metrics.Trust `json:"trust"`
	Rows     []Row          `json:"rows"`
	Sizes    []RowSizes     `json:"by_size"`
	Fewer    *Fewer         `json:"fewer_gpus,omitempty"`
	// LeftOut counts the jobs that the cluster cannot run.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	RestsOn []string  `json:"rests_on"`
	Must    []string  `json:"must_be_true"`

	accuracy time.Duration // error below which a wait counts as reproduced
	replayed Row
	recorded int     // jobs of the history
	average  float64 // spread of the mean wait over replays with other fractions of a second; 0: not measured
	best     *Row    // the alternative with the least mean wait; may be nil
	jobs     []Pair
	price    *Price
}

// A Row is one line of the result: the recorded jobs, or one policy under one Scenario. Times are in seconds.
type Row struct {
	Name        string   `json:"policy"`
	Assumes     string   `json:"assumes"`
	MeanWait    float64  `json:"mean_wait_s"`
	Low         *float64 `json:"mean_wait_low_s,omitempty"` // range of the mean wait; nil: unbounded, or no alternative
	High        *float64 `json:"mean_wait_high_s,omitempty"`
	MedianWait  float64  `json:"median_wait_s"`
	P90Wait     float64  `json:"p90_wait_s"`
	MeanJCT     float64  `json:"mean_jct_s"`
	Utilisation float64  `json:"utilisation"`
	Trusted     bool     `json:"trusted"`
	// Later counts the jobs that finish later than in the replay of the own policy, among Compared jobs
	// (metrics.Delays). Nil: no alternative.
	Later    *int     `json:"later_jobs,omitempty"`
	Compared *int     `json:"later_compared,omitempty"`
	Worst    *float64 `json:"later_worst_s,omitempty"`
	WorstJob job.ID   `json:"later_worst_job,omitempty"`
	MaxWait  *float64 `json:"wait_max_largest_s,omitempty"` // longest wait of the largest jobs until the first start

	policy   string
	scenario *Scenario
	change   statistics.Change
	jobs     []Pair
	delays   *metrics.Delays
	waits    []metrics.Waits
}

// A RowSizes has the delays and waits of the jobs of one Row, grouped by job size.
type RowSizes struct {
	Name    string          `json:"policy"`
	Assumes string          `json:"assumes"`
	Delays  *metrics.Delays `json:"delays,omitempty"` // nil: no alternative
	Waits   []metrics.Waits `json:"waits"`
}

func (a *Answer) bySize() {
	largest := a.largest()
	for i := range a.Rows {
		r := &a.Rows[i]
		a.Sizes = append(a.Sizes, RowSizes{r.Name, r.Assumes, r.delays, r.waits})
		if d := r.delays; d != nil {
			r.Later, r.Compared, r.Worst, r.WorstJob = &d.Later, &d.Compared, &d.Worst, d.WorstJob
		}
		for k := range r.waits {
			if w := &r.waits[k]; largest != nil && w.Key == largest.Key && w.Jobs > 0 {
				r.MaxWait = &w.Longest
			}
		}
	}
}

// A Fewer states how few GPUs suffice under a policy: jobs wait no longer than with all GPUs under the cluster's own
// policy.
type Fewer struct {
	Policy  string  `json:"policy"`
	Assumes string  `json:"assumes"`
	Enough  int     `json:"gpus"`
	AtLeast int     `json:"gpus_low"` // low end of the range of GPUs
	AtMost  int     `json:"gpus_high"`
	Saved   float64 `json:"saved"` // fraction of all GPUs
	// Money is the yearly cost of the GPUs that are not needed.
	Money       float64 `json:"saved_per_year,omitempty"`
	Currency    string  `json:"currency,omitempty"`
	PriceSource string  `json:"price_source,omitempty"`
	Tried       []Size  `json:"simulated"`
}

func (f *Fewer) share(all int, price *Price) {
	f.Saved = 1 - float64(f.Enough)/float64(all)
	if price.known() {
		f.Money, f.Currency, f.PriceSource = price.perYear(all-f.Enough), price.currency, price.source
	}
}

func rowOf(name, assumes string, f *metrics.Figures) Row {
	return Row{
		Name: name, Assumes: assumes, MeanWait: f.Wait,
		MedianWait: f.Median, P90Wait: f.P90, MeanJCT: f.JCT, Utilisation: f.Utilisation, Trusted: true,
	}
}

const asItWas = "as it was"

func (a *Answer) judged(c *Comparison, gpus int) {
	was, own := c.Figures(gpus, Observed), c.Figures(gpus, Run(0))
	a.jobs, a.replayed = c.Pairs, rowOf(a.Own+", replayed", Rigid.Name, &own)
	a.Rows = []Row{rowOf(asItWas, "", &was), a.replayed}
}

func merged(rows []Row) Row {
	all := rows[0]
	n := float64(len(rows))
	for i := range rows[1:] {
		r := &rows[i+1]
		all.MeanWait, all.MedianWait, all.P90Wait = all.MeanWait+r.MeanWait, all.MedianWait+r.MedianWait, all.P90Wait+r.P90Wait
		all.MeanJCT, all.Utilisation = all.MeanJCT+r.MeanJCT, all.Utilisation+r.Utilisation
		all.change.Ratio += r.change.Ratio
		all.change.Low, all.change.High = math.Min(all.change.Low, r.change.Low), math.Max(all.change.High, r.change.High)
	}
	all.MeanWait, all.MedianWait, all.P90Wait = all.MeanWait/n, all.MedianWait/n, all.P90Wait/n
	all.MeanJCT, all.Utilisation, all.change.Ratio = all.MeanJCT/n, all.Utilisation/n, all.change.Ratio/n
	if !math.IsInf(all.change.High, 1) {
		low, high := all.MeanWait*all.change.Low/all.change.Ratio, all.MeanWait*all.change.High/all.change.Ratio
		all.Low, all.High = &low, &high
	}
	return all
}

// choose finds the alternative with the least mean wait in the first scenario, and marks all simulated rows if
// the replay is not accurate enough.
func (a *Answer) choose() {
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Name == asItWas {
			continue
		}
		r.Trusted = a.Trust.Trusted
		if !a.Trust.Trusted {
			r.Name += metrics.Stamp
		}
		if r.scenario != nil && r.scenario.Name == a.Rows[2].scenario.Name && (a.best == nil || r.MeanWait < a.best.MeanWait) {
			a.best = r
		}
	}
	a.replayed = a.Rows[1]
}
