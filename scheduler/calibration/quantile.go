package calibration

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

const (
	bandwidth   = 0.7  // standard deviation of the weights, in both features
	hardlyApart = 0.05 // logarithm of the ratio of two nearly equal times
	priorWeight = 5.0  // of the errors of other runs together, in jobs
	mostAtOnce  = 20   // weight of the errors of this run together, in jobs
	perLength   = 4    // added to mostAtOnce for each time as long that has passed
	perBand     = 2    // bands of each feature in a factor of e
	negligible  = 1e-3
)

type mark struct {
	phase Phase
	like  features // rounded
	share float64
}

type observation struct {
	errors [3]float64
	weight float64
	known  bool // else the error is at least this
}

// quantiles are errors of similar guesses: a low quantile and the median of the low errors, the median of the mid errors,
// and the median and a high quantile of the high errors.
type quantiles struct{ low, lowMedian, median, highMedian, high float64 }

func (r *Record) quantiles(now time.Time, p Phase, g Guess, share float64) quantiles {
	if !now.Equal(r.asOf) {
		r.asOf = now
		clear(r.marks)
	}
	like := r.features(g).rounded()
	at := mark{p, like, share}
	if m, ok := r.marks[at]; ok {
		return m
	}
	all := r.own(now, p, like)
	all = append(all, r.others(p, like)...)
	low := distributionOf(all, 0)
	q := quantiles{lowMedian: low.median(), median: distributionOf(all, 1).median()}
	high := distributionOf(all, 2)
	q.highMedian = high.median()
	q.low, q.high = between(low, high, share)
	r.marks[at] = q
	return q
}

// own returns the errors of this run, weighted by features. One job weighs at most one prediction with these
// features, all jobs mostOwn.
func (r *Record) own(now time.Time, p Phase, like features) []observation {
	var all []observation
	var of []job.ID
	total := make(map[job.ID]float64)
	for _, x := range r.all[p] {
		w := like.weight(x.features)
		if w < negligible || !x.at.Before(now) {
			continue
		}
		all = append(all, observation{x.guess.errors(x.after(now), r.round), w, x.state == happened})
		of = append(of, x.job)
		total[x.job] += w
	}
	sum := 0.0
	for i := range all {
		all[i].weight /= max(1, total[of[i]])
		sum += all[i].weight
	}
	most := r.mostOwn(now, p, like.length)
	for i := range all {
		all[i].weight *= min(1, most/sum)
	}
	return all
}

func (r *Record) mostOwn(now time.Time, p Phase, length float64) float64 {
	if len(r.all[p]) == 0 {
		return mostAtOnce
	}
	passed := now.Sub(r.all[p][0].at).Seconds() / r.round.Seconds()
	return max(mostAtOnce, perLength*passed/math.Exp(length))
}

func (r *Record) others(p Phase, like features) []observation {
	var all []observation
	total := 0.0
	for _, x := range prior()[p] {
		w := like.weight(x.features()) + negligible
		all = append(all, observation{x.errors, w, true})
		total += w
	}
	for i := range all {
		all[i].weight *= priorWeight / total
	}
	return all
}

type step struct{ error, above float64 }

// A distribution is the steps of errors, ascending and distinct. The share of the last is not 0 if larger
// errors are unknown.
type distribution []step

func distributionOf(all []observation, which int) (d distribution) {
	slices.SortFunc(all, func(a, b observation) int {
		if c := cmp.Compare(a.errors[which], b.errors[which]); c != 0 || a.known == b.known {
			return c
		}
		return map[bool]int{true: -1, false: 1}[a.known]
	})
	left := 0.0 // weight of the errors that are not below the present one
	for _, x := range all {
		left += x.weight
	}
	above := 1.0
	for _, x := range all {
		if x.known {
			above *= max(0, 1-x.weight/left)
			d = d.until(x.errors[which], above)
		}
		left -= x.weight
	}
	if n := len(all); n > 0 && !all[n-1].known {
		d = d.until(all[n-1].errors[which], above)
	}
	return d
}

func (d distribution) until(e, above float64) distribution {
	if n := len(d); n > 0 && d[n-1].error == e {
		d[n-1].above = above
		return d
	}
	return append(d, step{e, above})
}

const rounding = 1e-9

// upper returns the least error that at most a share of the errors is above, and how many are; at most the
// largest known one.
func (d distribution) upper(share float64) (e, above float64) {
	for _, x := range d {
		if x.above <= share+rounding {
			return x.error, x.above
		}
	}
	if len(d) == 0 {
		return 0, share
	}
	return d[len(d)-1].error, share
}

func (d distribution) median() float64 {
	e, _ := d.upper(0.5)
	return e
}

func (d distribution) lower(share float64) (e, below float64) {
	for i, x := range d {
		smaller := 0.0
		if i > 0 {
			smaller = 1 - d[i-1].above
		}
		if smaller > share+rounding {
			break
		}
		e, below = x.error, smaller
	}
	return e, below
}

// between returns a low and a high error with a share of the errors between them. Each side leaves out half of
// the rest, or with many equal errors one side fewer and the other more: the narrower of both ways wins.
func between(low, high distribution, share float64) (from, to float64) {
	rest := 1 - share
	from, below := low.lower(rest / 2)
	to, above := high.upper(rest / 2)
	after, _ := low.lower(rest - above)
	before, _ := high.upper(rest - below)
	if before-from <= to-after {
		return from, before
	}
	return after, to
}

type before struct {
	length float64
	errors [3]float64
}

//go:embed prior.csv
var priorTable string

var prior = sync.OnceValue(func() (all [Phases][]before) {
	rows, err := csv.NewReader(strings.NewReader(priorTable)).ReadAll()
	if err != nil {
		panic("calibration: prior.csv: " + err.Error())
	}
	for _, row := range rows[1:] {
		var x [5]float64
		for i, field := range row {
			if x[i], err = strconv.ParseFloat(field, 64); err != nil {
				panic("calibration: prior.csv: " + err.Error())
			}
		}
		all[int(x[0])] = append(all[int(x[0])], before{x[1], [3]float64{x[2], x[3], x[4]}})
	}
	return all
})
