package simulate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/resample"
	"github.com/oxgang/oxgang/simulate/history"
)

// An answer is what oxgang whatif says. Times are in seconds.
type answer struct {
	Sentence string         `json:"answer"`
	Own      string         `json:"own_policy"`
	Cluster  string         `json:"cluster"`
	GPUs     int            `json:"gpus"`
	Trust    *metrics.Trust `json:"trust"`
	Rows     []answerRow    `json:"rows"`
	Fewer    *fewerGPUs     `json:"fewer_gpus,omitempty"`
	RestsOn  []string       `json:"rests_on"`
	Must     []string       `json:"must_be_true"`

	replayed answerRow
	average  float64        // error of the mean wait over replays with other fractions of a second; 0: none were made
	best     *answerRow     // the alternative with the least mean wait; nil: there is none
	jobs     []history.Pair // as observed and replayed
	price    *priceFlags
}

// An answerRow is one line of the table.
type answerRow struct {
	Name        string   `json:"policy"`
	Assumes     string   `json:"assumes"`
	MeanWait    float64  `json:"mean_wait_s"`
	Low         *float64 `json:"mean_wait_low_s,omitempty"` // of the range; nil: it has no bounds, or it is no alternative
	High        *float64 `json:"mean_wait_high_s,omitempty"`
	MedianWait  float64  `json:"median_wait_s"`
	P90Wait     float64  `json:"p90_wait_s"`
	MeanJCT     float64  `json:"mean_jct_s"`
	Utilisation float64  `json:"utilisation"`
	Trusted     bool     `json:"trusted"`

	policy   string
	scenario *scenario
	change   resample.Change
	jobs     []history.Pair
}

// fewerGPUs is with how few GPUs an alternative makes jobs wait no longer than the own policy did.
type fewerGPUs struct {
	Policy  string  `json:"policy"`
	Assumes string  `json:"assumes"`
	Enough  int     `json:"gpus"`
	AtLeast int     `json:"gpus_low"` // of the range
	AtMost  int     `json:"gpus_high"`
	Saved   float64 `json:"saved"` // part of the GPUs
	// Money is what the GPUs that are not needed cost in a year.
	Money       float64 `json:"saved_per_year,omitempty"`
	Currency    string  `json:"currency,omitempty"`
	PriceSource string  `json:"price_source,omitempty"`
	Tried       []sized `json:"simulated"`
}

// share fills in what is saved.
func (f *fewerGPUs) share(all int, price *priceFlags) {
	f.Saved = 1 - float64(f.Enough)/float64(all)
	if price.known() {
		f.Money, f.Currency, f.PriceSource = price.perYear(all-f.Enough), price.currency, price.source
	}
}

// rowOf returns the row of figures.
func rowOf(name, assumes string, f *metrics.Figures) answerRow {
	return answerRow{
		Name: name, Assumes: assumes, MeanWait: f.Wait,
		MedianWait: f.Median, P90Wait: f.P90, MeanJCT: f.JCT, Utilisation: f.Utilisation, Trusted: true,
	}
}

// asItWas is the name of what was recorded.
const asItWas = "as it was"

// judged takes up what was observed and how the own policy is replayed: the first rows.
func (a *answer) judged(c *history.Comparison, gpus int) {
	was, own := c.Figures(gpus, history.Observed), c.Figures(gpus, history.Run(0))
	a.jobs, a.replayed = c.Pairs, rowOf(a.Own+", replayed", rigidJobs.Name, &own)
	a.Rows = []answerRow{rowOf(asItWas, "", &was), a.replayed}
}

// merged returns the row of several seeds: the mean of each figure, and the range that has all of theirs.
func merged(rows []answerRow) answerRow {
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

// choose finds the alternative with the least mean wait, of the first scenario, and stamps all that is
// simulated if the replay is not near enough.
func (a *answer) choose() {
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Name == asItWas {
			continue
		}
		r.Trusted = a.Trust.Trusted
		r.Name += stamp(a.Trust)
		if r.scenario != nil && r.scenario.Name == a.Rows[2].scenario.Name && (a.best == nil || r.MeanWait < a.best.MeanWait) {
			a.best = r
		}
	}
	a.replayed = a.Rows[1]
}

// conclude writes the sentence.
func (a *answer) conclude() {
	var parts []string
	if a.best != nil {
		parts = append(parts, a.waits(), a.size())
	}
	parts = append(parts, a.own())
	a.Sentence = strings.Join(parts, "; ") + "."
	if !a.Trust.Trusted {
		a.Sentence = "NOT TO BE TRUSTED: " + a.Sentence
	}
}

// waits says how long jobs would have waited.
func (a *answer) waits() string {
	b := a.best
	text := fmt.Sprintf("with the same jobs and GPUs the mean wait would have been %s under %s instead of %s (%s)",
		span(b.MeanWait), called(b.policy), span(a.Rows[0].MeanWait), b.rangeText())
	if b.change.Low < 1 && b.change.High > 1 {
		text += ", a difference from your own policy that chance may make"
	}
	return text
}

// rangeText says in which range the mean wait would be in another stretch of time.
func (r *answerRow) rangeText() string {
	if r.High == nil {
		return "too few waited to say a range"
	}
	return fmt.Sprintf("%.0f %% range %s to %s", 100*resample.Share, span(*r.Low), span(*r.High))
}

// size says with how few GPUs the service would be the same.
func (a *answer) size() string {
	f := a.Fewer
	switch {
	case a.Rows[0].MeanWait == 0:
		return "nobody waited, so that nothing is said of fewer GPUs"
	case f == nil || f.Enough == a.GPUs:
		return "the same service needs all GPUs"
	}
	text := fmt.Sprintf("the same service needs %.0f %% fewer GPUs (%d of %d; range %d to %d)", 100*f.Saved, f.Enough, a.GPUs, f.AtLeast, f.AtMost)
	if f.Currency != "" {
		text += fmt.Sprintf(", or %s %s a year at your prices (%g %s a GPU-hour, %s)", thousands(f.Money), f.Currency, a.price.perHour, f.Currency, f.PriceSource)
	}
	return text
}

// own says how near the replay is: the largest error of a figure, but of waits that are off by less than can be replayed.
func (a *answer) own() string {
	worst := math.Max(math.Abs(a.Trust.JCT), math.Abs(a.Trust.Utilisation))
	was, now := &a.Rows[0], &a.replayed
	for _, w := range [][2]float64{{was.MeanWait, now.MeanWait}, {was.MedianWait, now.MedianWait}, {was.P90Wait, now.P90Wait}} {
		if off := math.Abs(w[1] - w[0]); off >= precision.Seconds() {
			worst = math.Max(worst, off/math.Max(1, w[0]))
		}
	}
	return fmt.Sprintf("your own policy is reproduced within %.1f %%", 100*worst)
}

// span returns seconds for people, in two units: "4m05s", "3h12m".
func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	if d >= time.Minute && d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return printable.Short(d)
}

// thousands returns an amount in round thousands, or as it is if it is small: "310,000".
func thousands(v float64) string {
	if v >= 10_000 {
		v = 1000 * math.Round(v/1000)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
