package calibration

import (
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
)

// Share is the probability with which a predicted range should contain the actual time.
const Share = 0.8

// A Phase is the kind of event whose time is predicted, such as the start of a waiting job.
type Phase uint8

// The phases.
const (
	Start      Phase = iota // a waiting job gets GPUs
	WaitingEnd              // a waiting job ends
	RunningEnd              // a job with GPUs ends
	Phases
)

var phaseNames = [Phases]string{"start of a waiting job", "end of a waiting job", "end of a running job"}

func (p Phase) String() string {
	if p >= Phases {
		return "unknown"
	}
	return phaseNames[p]
}

// A Guess is the predicted time until a job starts or ends. Two simulations predict it, one with jobs that arrive later and
// one without. Early is the smaller result, Late the larger.
type Guess struct{ Early, Late time.Duration }

func (g Guess) length(round time.Duration) float64 {
	return math.Sqrt((g.Early + round).Seconds() * (g.Late + round).Seconds())
}

func (g Guess) errors(actual, round time.Duration) [3]float64 {
	t := math.Log((actual + round).Seconds())
	return [3]float64{t - math.Log((g.Early + round).Seconds()), t - math.Log(g.length(round)), t - math.Log((g.Late + round).Seconds())}
}

// Exact reports whether both times of the guess are within a round of the actual time.
func (g Guess) Exact(actual, round time.Duration) bool {
	return (actual-g.Early).Abs() < round && (actual-g.Late).Abs() < round
}

// Errors returns the logarithm of the guessed time, in rounds, and the errors low, mid and high of the package doc.
func (g Guess) Errors(actual, round time.Duration) (length float64, errors [3]float64) {
	return math.Log(g.length(round) / round.Seconds()), g.errors(actual, round)
}

// A Range is an interval for the time until something happens, which contains the actual time with probability
// Share. Likely is the median. Early <= Likely <= Late.
type Range struct {
	Early, Likely, Late time.Duration
	// Held is how many of the last Of ranges of this phase, with a known outcome, were right.
	Held, Of int
	Phase    Phase
}

const recent = 200

const leastHeld = 0.7

// NotReliable begins what Unreliable returns.
const NotReliable = "unreliable: "

// Unreliable returns a warning that begins with NotReliable if fewer than 70 % of the last ranges of this phase were
// right; otherwise "".
func (r *Range) Unreliable() string {
	if float64(r.Held) >= leastHeld*float64(r.Of) {
		return ""
	}
	if r.Held == 0 || r.Of == 1 {
		return NotReliable + WereRight(r.Held, r.Of)
	}
	return NotReliable + "only " + WereRight(r.Held, r.Of)
}

// WereRight returns "16 of the last 19 estimates were right".
func WereRight(right, total int) string {
	switch {
	case total == 1:
		return "the last estimate was " + map[bool]string{true: "right", false: "wrong"}[right == 1]
	case right == 0:
		return fmt.Sprintf("none of the last %d estimates was right", total)
	case right == 1:
		return fmt.Sprintf("1 of the last %d estimates was right", total)
	}
	return fmt.Sprintf("%d of the last %d estimates were right", right, total)
}

const most = 2000

type prediction struct {
	job      job.ID
	at       time.Time
	guess    Guess
	features features
	stated   Range
	took     time.Duration // until it happened, or until it was known that it would not
	state    state
}

type state uint8

const (
	open state = iota
	happened
	forgotten // the job was cancelled or failed
)

// A Record compares the predictions of a run with what happened, and uses this to turn new predictions into ranges.
type Record struct {
	round time.Duration
	all   [Phases][]*prediction
	open  [Phases]map[job.ID][]*prediction
	marks map[mark]quantiles // as of asOf
	asOf  time.Time
}

// New returns a Record without predictions, for a run with rounds of the given length.
func New(round time.Duration) *Record {
	r := &Record{round: max(round, time.Second), marks: make(map[mark]quantiles)}
	for p := range r.open {
		r.open[p] = make(map[job.ID][]*prediction)
	}
	return r
}

// Range converts guess g of phase p into a range that contains the actual time with probability Share. It uses the
// predictions made before now. For n predictions of the phase it takes O(n log n); further calls with similar guesses
// at the same time take constant time.
func (r *Record) Range(now time.Time, p Phase, g Guess) Range {
	x := r.Wide(now, p, g, Share)
	x.Held, x.Of = r.Held(now, p)
	x.Phase = p
	return x
}

// Wide returns the range that contains the actual time with probability share. Held and Of of the result are 0.
func (r *Record) Wide(now time.Time, p Phase, g Guess, share float64) Range {
	if g.Late < g.Early {
		g.Early, g.Late = g.Late, g.Early
	}
	q := r.quantiles(now, p, g, share)
	times := func(d time.Duration, e float64) time.Duration {
		return max(0, time.Duration(float64(d+r.round)*math.Exp(e))-r.round)
	}
	mean := time.Duration(g.length(r.round)*float64(time.Second)) - r.round
	x := Range{Early: times(g.Early, q.low), Likely: times(mean, q.median), Late: times(g.Late, q.high)}
	x.Early, x.Late = min(x.Early, times(g.Late, q.highMedian)), max(x.Late, times(g.Early, q.lowMedian))
	x.Likely = min(max(x.Likely, x.Early), x.Late)
	return x
}

// State records that the range stated, for guess g about job id, was printed. It is compared with the actual time
// later.
func (r *Record) State(now time.Time, id job.ID, p Phase, g Guess, stated Range) {
	x := &prediction{job: id, at: now, guess: g, features: r.features(g), stated: stated}
	r.all[p] = append(r.all[p], x)
	r.open[p][id] = append(r.open[p][id], x)
	if extra := len(r.all[p]) - most; extra > 0 {
		r.all[p] = append(r.all[p][:0], r.all[p][extra:]...)
	}
}

// Started records that job id got its first GPUs. Predictions of its start are compared with now.
func (r *Record) Started(now time.Time, id job.ID) { r.close(now, id, Start, happened) }

// Ended records the end of job id. If it did not complete, its predictions count as never fulfilled.
func (r *Record) Ended(now time.Time, id job.ID, completed bool) {
	as := happened
	if !completed {
		as = forgotten
	}
	r.close(now, id, Start, forgotten)
	r.close(now, id, WaitingEnd, as)
	r.close(now, id, RunningEnd, as)
}

func (r *Record) close(now time.Time, id job.ID, p Phase, as state) {
	for _, x := range r.open[p][id] {
		x.state, x.took = as, now.Sub(x.at)
	}
	delete(r.open[p], id)
	clear(r.marks)
}

// Held returns how many of the last ranges of phase p were right, and how many were counted, at most Recent. A range
// counts as wrong once its end has passed, even if its job has not ended or is cancelled later.
func (r *Record) Held(now time.Time, p Phase) (held, of int) {
	for i := len(r.all[p]) - 1; i >= 0 && of < recent; i-- {
		x := r.all[p][i]
		after := x.after(now)
		if x.state != happened && !x.stated.Overdue(after, r.round) {
			continue
		}
		of++
		if x.state == happened && x.stated.Holds(after, r.round) {
			held++
		}
	}
	return held, of
}

func (x *prediction) after(now time.Time) time.Duration {
	if x.state == open {
		return now.Sub(x.at)
	}
	return x.took
}

// Holds reports whether the actual time is in the range, give or take half a round.
func (r *Range) Holds(actual, round time.Duration) bool {
	return actual >= r.Early-round/2 && actual <= r.Late+round/2
}

// Overdue reports whether the elapsed time exceeds the end of the range by more than half a round.
func (r *Range) Overdue(elapsed, round time.Duration) bool { return elapsed > r.Late+round/2 }

// The features of a guess decide which guesses are like it: the logarithm of its length in rounds, and the
// spread of its times.
type features struct{ length, apart float64 }

func (r *Record) features(g Guess) features {
	e := g.errors(0, r.round)
	return features{math.Log(g.length(r.round) / r.round.Seconds()), spread(e[0] - e[2])}
}

func (f features) rounded() features {
	return features{math.Round(perBand*f.length) / perBand, math.Round(perBand*f.apart) / perBand}
}

// spread is 0 for equal times, and beyond hardlyApart about 1 more for each factor of e. ratio is the logarithm
// of their ratio.
func spread(ratio float64) float64 { return math.Log(1 + math.Abs(ratio)/hardlyApart) }

func (f features) weight(of features) float64 {
	a, b := (f.length-of.length)/bandwidth, (f.apart-of.apart)/bandwidth
	return math.Exp(-(a*a + b*b) / 2)
}

func (b *before) features() features { return features{b.length, spread(b.errors[0] - b.errors[2])} }

// Remember saves and restores the record (memory.Rememberer).
func (r *Record) Remember(m *memory.Codec) {
	m.Fields(&r.round)
	for p := range r.all {
		memory.Slice(m, &r.all[p], memory.To((*prediction).Remember))
	}
	if !m.Decoding() {
		return
	}
	clear(r.marks)
	for p := range r.all {
		r.open[p] = make(map[job.ID][]*prediction)
		for _, x := range r.all[p] {
			if x.state == open {
				r.open[p][x.job] = append(r.open[p][x.job], x)
			}
		}
	}
}

func (x *prediction) Remember(m *memory.Codec) {
	s := &x.stated
	m.Fields((*string)(&x.job), &x.at, &x.guess.Early, &x.guess.Late, &x.features.length, &x.features.apart, &x.took, (*uint8)(&x.state))
	m.Fields(&s.Early, &s.Likely, &s.Late, &s.Held, &s.Of)
}
