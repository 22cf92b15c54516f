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

	"github.com/oxgang/oxgang/job"
)

const (
	bandwidth   = 0.7 // standard deviation of the weights, in logarithms of length
	priorWeight = 5.0 // of all errors of other runs together, in jobs
	mostAtOnce  = 20  // of errors of this run that may be off together, in jobs
	perLength   = 4   // jobs that the errors of this run may count more, each time that a time as long has passed
	perBand     = 2   // bands of length in a factor of e
	negligible  = 1e-3
)

// A mark names quantiles that were computed before.
type mark struct {
	phase Phase
	band  int // of length
	share float64
}

// An observation is an error that a prediction had or, if it is still open, has at least.
type observation struct {
	errors [3]float64
	weight float64
	known  bool // else the error is at least this
}

// quantiles returns the quantiles of the errors of guesses like this one: the low one of the early
// guess, the median of the mean, and the high one of the late guess.
func (r *Record) quantiles(now time.Time, p Phase, g Guess, share float64) [3]float64 {
	if !now.Equal(r.asOf) {
		r.asOf = now
		clear(r.marks)
	}
	band := int(math.Round(perBand * math.Log(g.length(r.round)/r.round.Seconds())))
	at := mark{p, band, share}
	if m, ok := r.marks[at]; ok {
		return m
	}
	length := float64(band) / perBand // the logarithm of the length in rounds
	all := r.own(now, p, length)
	all = append(all, r.others(p, length)...)
	var m [3]float64
	for i, q := range [3]float64{(1 - share) / 2, 0.5, (1 + share) / 2} {
		m[i] = quantile(all, i, q)
	}
	r.marks[at] = m
	return m
}

// own returns the errors of this run's predictions of about a length, a logarithm. All of one job together weigh
// at most as much as one prediction of exactly this length, and those of all jobs no more than mostOwn says.
func (r *Record) own(now time.Time, p Phase, length float64) []observation {
	var all []observation
	var of []job.ID
	total := make(map[job.ID]float64)
	for _, x := range r.all[p] {
		w := weight(length - math.Log(x.guess.length(r.round)/r.round.Seconds()))
		if w < negligible || !x.at.Before(now) {
			continue
		}
		after := x.took
		if x.state == open {
			after = now.Sub(x.at)
		}
		all = append(all, observation{x.guess.errors(after, r.round), w, x.state == happened})
		of = append(of, x.job)
		total[x.job] += w
	}
	sum := 0.0
	for i := range all {
		all[i].weight /= max(1, total[of[i]])
		sum += all[i].weight
	}
	most := r.mostOwn(now, p, length)
	for i := range all {
		all[i].weight *= min(1, most/sum)
	}
	return all
}

// mostOwn returns how much all errors of this run weigh at most, in jobs. Jobs that wait at one time are off in the
// same direction, so that a hundred errors say little more than a few, until a time has passed that is long
// beside the one that is predicted.
func (r *Record) mostOwn(now time.Time, p Phase, length float64) float64 {
	if len(r.all[p]) == 0 {
		return mostAtOnce
	}
	passed := now.Sub(r.all[p][0].at).Seconds() / r.round.Seconds()
	return max(mostAtOnce, perLength*passed/math.Exp(length))
}

// others returns the errors of other runs, with a total weight of priorWeight.
func (r *Record) others(p Phase, length float64) []observation {
	var all []observation
	total := 0.0
	for _, x := range prior()[p] {
		w := weight(length-x.length) + negligible
		all = append(all, observation{x.errors, w, true})
		total += w
	}
	for i := range all {
		all[i].weight *= priorWeight / total
	}
	return all
}

func weight(apart float64) float64 { return math.Exp(-apart * apart / (2 * bandwidth * bandwidth)) }

// quantile returns the least error e such that, by the product-limit estimate, a share of q of the
// errors is at most e. If the largest errors are those of open predictions, so that no such e is
// known, it returns the largest.
func quantile(all []observation, which int, q float64) float64 {
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
	above := 1.0 // estimated share of the errors above the present one
	for _, x := range all {
		if x.known {
			if above *= max(0, 1-x.weight/left); above <= 1-q+1e-9 {
				return x.errors[which]
			}
		}
		left -= x.weight
	}
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].errors[which]
}

// A before is the errors of one prediction of another run, and its length.
type before struct {
	length float64 // logarithm of the length in rounds
	errors [3]float64
}

//go:embed prior.csv
var priorTable string

// prior returns the errors of other runs, by phase.
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
