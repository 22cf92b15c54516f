package calibration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
)

var begin = time.Unix(0, 0)

// A world has jobs that come one after the other and last as long as its guesses say, but for an
// error.
type world struct {
	error func(*rand.Rand) float64 // logarithm of actual over guessed
	every time.Duration            // between jobs
	jobs  int
}

// play predicts each job's end when it comes and then every 15 minutes, and returns for the second
// half of the jobs how many of their first ranges held, were too early and too late, and the mean of
// the logarithms of late over early.
func (w *world) play(rng *rand.Rand) (held, below, above int, width float64) {
	const round = time.Minute
	type running struct {
		id    job.ID
		end   time.Time
		error float64
	}
	r := New(round)
	var now []*running
	at := begin
	for n := 0; n < w.jobs || len(now) > 0; at = at.Add(15 * time.Minute) {
		now = slices.DeleteFunc(now, func(j *running) bool {
			if j.end.After(at) {
				return false
			}
			r.Ended(j.end, j.id, true)
			return true
		})
		for n < w.jobs && begin.Add(time.Duration(n)*w.every).Before(at) {
			guess := time.Duration(math.Exp(rng.Float64()*3) * float64(20*time.Minute))
			e := w.error(rng)
			lasts := time.Duration(float64(guess) * math.Exp(e))
			now, n = append(now, &running{job.ID(fmt.Sprint(n)), at.Add(lasts), e}), n+1
			x := r.Range(at, RunningEnd, Guess{guess, guess})
			if n > w.jobs/2 {
				width += math.Log(float64(x.Late+round) / float64(x.Early+round))
				switch {
				case x.Holds(lasts, round):
					held++
				case lasts < x.Early:
					below++
				default:
					above++
				}
			}
		}
		for _, j := range now {
			left := time.Duration(float64(j.end.Sub(at)) * math.Exp(-j.error))
			g := Guess{left, left}
			r.State(at, j.id, RunningEnd, g, r.Range(at, RunningEnd, g))
		}
	}
	return held, below, above, width / float64(w.jobs-w.jobs/2)
}

// TestRange_holds: whatever errors guesses have, four of five ranges hold, and misses come on both
// sides. Bounds are five standard deviations of independent trials for each kind of error, and four
// for all of them together.
func TestRange_holds(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates thousands of ranges")
	}
	all, trials, tooLate, tooEarly := 0.0, 0.0, 0, 0
	for name, w := range map[string]world{
		"fair":       {error: func(rng *rand.Rand) float64 { return 0.3 * rng.NormFloat64() }},
		"biased":     {error: func(rng *rand.Rand) float64 { return 0.7 + 0.2*rng.NormFloat64() }},
		"heavy tail": {error: func(rng *rand.Rand) float64 { return 0.5 * rng.ExpFloat64() }},
		"wild":       {error: func(rng *rand.Rand) float64 { return 1.2 * rng.NormFloat64() }},
	} {
		t.Run(name, func(t *testing.T) {
			seed := draws.Seed(t)
			w.every, w.jobs = 7*time.Minute, 400
			held, below, above, width := w.play(rand.New(rand.NewPCG(seed, 1)))
			n := float64(w.jobs - w.jobs/2)
			share := float64(held) / n
			t.Logf("%.3f held, %d below, %d above, width %.2f", share, below, above, width)
			all, trials, tooLate, tooEarly = all+float64(held), trials+n, tooLate+below, tooEarly+above
			if off := 5 * math.Sqrt(Share*(1-Share)/n); math.Abs(share-Share) > off {
				t.Errorf("seed %d: %.3f of the ranges held, want %.2f within %.2f", seed, share, Share, off)
			}
		})
	}
	if share := all / trials; math.Abs(share-Share) > 4*math.Sqrt(Share*(1-Share)/trials) {
		t.Errorf("%.3f of all ranges held, want %.2f", share, Share)
	}
	// Of all worlds together: in the biased one, errors of other runs lie below all of this run's and are a fifth of
	// them until a long time has passed, so that its early ends are passed in 2 % on average, and in some runs never.
	if least := int(trials / 40); tooLate < least || tooEarly < least {
		t.Errorf("%d ranges were too late and %d too early, want about %.0f of each and at least %d", tooLate, tooEarly, trials/10, least)
	}
}

// TestQuantile_with_open: predictions that are still open count as late ones, not as none. Of ten
// jobs that end after 1 to 10 hours, five have ended after 5 hours: the median is 5, not 3.
func TestQuantile_with_open(t *testing.T) {
	var all []observation
	for i := 1; i <= 10; i++ {
		e := math.Log(float64(min(i, 5)))
		all = append(all, observation{[3]float64{e, e, e}, 1, i <= 5})
	}
	d := distributionOf(all, 1)
	if got, _ := d.upper(0.5); math.Abs(math.Exp(got)-5) > 1e-9 {
		t.Errorf("median %v, want 5", math.Exp(got))
	}
	if got, below := d.lower(0.2); math.Abs(math.Exp(got)-3) > 1e-9 || math.Abs(below-0.2) > 1e-9 {
		t.Errorf("fifth %v with %v below, want 3 with a fifth below", math.Exp(got), below)
	}
}

// TestBetween: a range leaves out a tenth of the errors on each side; where exact predictions leave fewer out on one side, the other
// side leaves out more, whichever side that is, so that it is no wider than it need be.
func TestBetween(t *testing.T) {
	of := func(mirror bool, values ...float64) (low, high distribution) {
		var all []observation
		for _, e := range values {
			if mirror {
				e = -e
			}
			all = append(all, observation{[3]float64{e, e, e}, 1, true})
		}
		return distributionOf(all, 0), distributionOf(all, 2)
	}
	exact := func(n int, others ...float64) []float64 { return append(slices.Repeat([]float64{0}, n), others...) }
	for _, test := range []struct {
		name     string
		values   []float64
		from, to float64
	}{
		{"all differ", []float64{-5, -4, -3, -2, -1, 1, 2, 3, 4, 5}, -4, 4},
		{"most are exact", exact(14, 1, 2, 3, 4, 5, 6), 0, 2},
		{"nearly all are exact", exact(16, -1, 1, 2, 3), 0, 0},
		{"all are exact", exact(14), 0, 0},
	} {
		for _, mirror := range []bool{false, true} {
			low, high := of(mirror, test.values...)
			from, to := between(low, high, 0.8)
			if mirror {
				from, to = -to, -from
			}
			if from != test.from || to != test.to {
				t.Errorf("%s, mirrored %v: from %v to %v, want from %v to %v", test.name, mirror, from, to, test.from, test.to)
			}
		}
	}
}

// TestRecord_one_job_is_one: a job that is predicted a thousand times counts like one.
func TestRecord_one_job_is_one(t *testing.T) {
	late := func(times int) Range {
		r := New(time.Minute)
		g := Guess{time.Hour, time.Hour}
		for i := range 20 {
			id := job.ID(fmt.Sprint(i))
			r.State(begin, id, RunningEnd, g, Range{})
			r.Ended(begin.Add(time.Hour), id, true)
		}
		for range times {
			r.State(begin, "odd", RunningEnd, g, Range{})
		}
		r.Ended(begin.Add(10*time.Hour), "odd", true)
		return r.Range(begin.Add(11*time.Hour), RunningEnd, g)
	}
	once, often := late(1), late(1000)
	once.Of, often.Of = 0, 0 // these are ranges, not jobs
	if once != often || once.Late > 2*time.Hour {
		t.Errorf("predicted once: %v; a thousand times: %v; want the same, and no late end by one job", once, often)
	}
}

// TestRecord_a_wave_is_few: a hundred jobs that wait at once say no more than 25, and more once their errors lie
// far apart in time.
func TestRecord_a_wave_is_few(t *testing.T) {
	g := Guess{time.Hour, time.Hour}
	width := func(jobs int, apart time.Duration) time.Duration {
		r := New(time.Minute)
		for i := range jobs {
			id, at := job.ID(fmt.Sprint(i)), begin.Add(time.Duration(i)*apart)
			r.State(at, id, Start, g, Range{})
			r.Started(at.Add(time.Hour), id)
		}
		x := r.Wide(begin.Add(time.Duration(jobs)*apart+2*time.Hour), Start, g, 0.9)
		return x.Late - x.Early
	}
	few, wave, calm := width(25, 0), width(100, 0), width(100, time.Hour)
	if wave != few || calm >= wave {
		t.Errorf("ranges of 25 jobs at once are %v wide, of 100 at once %v, of 100 an hour apart %v; want the first two equal, and the last less", few, wave, calm)
	}
}

// Errors of guesses with equal early and late times say nothing about guesses with different ones. Here half of
// the jobs end when both times state, and the others after one to two hours with times of one and eight. The range
// of such a guess ends near two hours, and holds.
func TestRecord_apart(t *testing.T) {
	rng := rand.New(rand.NewPCG(draws.Seed(t), 3))
	r := New(time.Minute)
	sure, unsure := Guess{3 * time.Hour, 3 * time.Hour}, Guess{time.Hour, 8 * time.Hour}
	after := func() time.Duration { return time.Hour + time.Duration(rng.Int64N(int64(time.Hour))) }
	at := begin
	for i := range 400 {
		at = at.Add(time.Hour)
		g, took := sure, 3*time.Hour
		if i%2 == 0 {
			g, took = unsure, after()
		}
		id := job.ID(fmt.Sprint(i))
		r.State(at, id, RunningEnd, g, Range{})
		r.Ended(at.Add(took), id, true)
	}
	x := r.Range(at.Add(8*time.Hour), RunningEnd, unsure)
	if x.Early < 50*time.Minute || x.Late > 150*time.Minute {
		t.Errorf("from %v to %v, where jobs took one to two hours", x.Early, x.Late)
	}
	held := 0
	for range 1000 {
		if x.Holds(after(), time.Minute) {
			held++
		}
	}
	if held < 700 || held > 950 {
		t.Errorf("%d of 1000 held, want about 800", held)
	}
	if y := r.Range(at.Add(8*time.Hour), RunningEnd, sure); y.Late-y.Early > 10*time.Minute {
		t.Errorf("from %v to %v, where all jobs took three hours", y.Early, y.Late)
	}
}

// TestRange_crosses: errors of guesses further apart can put the low quantile of a guess above its high one. Even then a
// more probable range contains a less probable one. Here all jobs took 8 to 10 times the earlier guess.
func TestRange_crosses(t *testing.T) {
	r := New(time.Minute)
	at := begin
	for i := range 400 {
		at = at.Add(10 * time.Hour)
		id := job.ID(fmt.Sprint(i))
		r.State(at, id, Start, Guess{time.Hour, 10 * time.Hour}, Range{})
		r.Started(at.Add(8*time.Hour+time.Duration(i)*2*time.Hour/400), id)
	}
	g := Guess{84 * time.Minute, 7 * time.Hour}
	var last Range
	for i, share := range []float64{0.5, Share, 0.95} {
		x := r.Wide(at.Add(10*time.Hour), Start, g, share)
		if x.Early > 7*time.Hour || x.Late < 11*time.Hour {
			t.Errorf("%.0f %%: %v to %v, want at least 7h to 11h", 100*share, x.Early, x.Late)
		}
		if i > 0 && (x.Early > last.Early || x.Late < last.Late) {
			t.Errorf("%.0f %%: %+v is narrower than %+v", 100*share, x, last)
		}
		last = x
	}
}

// TestFeatures: an error of another run has the features of the guess that had it.
func TestFeatures(t *testing.T) {
	r := New(time.Minute)
	for _, g := range []Guess{{0, 0}, {time.Hour, time.Hour}, {time.Hour, 8 * time.Hour}, {time.Minute, 70 * time.Minute}} {
		length, errors := g.Errors(3*time.Hour, time.Minute)
		other, own := before{length, errors}, r.features(g)
		if got := other.features(); math.Abs(got.length-own.length) > 1e-9 || math.Abs(got.apart-own.apart) > 1e-9 {
			t.Errorf("%v: %+v of another run, %+v of this one", g, got, own)
		}
		if w := own.weight(own); w != 1 {
			t.Errorf("%v: weighs %v, want 1", g, w)
		}
	}
}

// TestRecord_phases: what is known of one phase or length says nothing of another.
func TestRecord_phases(t *testing.T) {
	r := New(time.Minute)
	now := begin
	g := Guess{time.Hour, time.Hour}
	before := r.Range(now.Add(3*time.Hour), WaitingEnd, g)
	short := Guess{time.Minute, time.Minute}
	shortBefore := r.Range(now.Add(3*time.Hour), RunningEnd, short)
	for i := range 50 {
		id := job.ID(fmt.Sprint(i))
		r.State(now, id, RunningEnd, g, Range{})
		r.Ended(now.Add(2*time.Hour), id, true)
	}
	then := now.Add(3 * time.Hour)
	if got := r.Range(then, WaitingEnd, g); got != before {
		t.Errorf("ends of running jobs changed those of waiting ones: %v, was %v", got, before)
	}
	if got := r.Range(then, RunningEnd, short); got.Late != shortBefore.Late {
		t.Errorf("ends in an hour changed those in a minute: %v, was %v", got, shortBefore)
	}
	if got := r.Range(then, RunningEnd, g).Likely; got < 110*time.Minute || got > 130*time.Minute {
		t.Errorf("all took 2h where 1h was guessed: median %v", got)
	}
}

// TestRecord_held: what is said of the last ranges is what became of them.
func TestRecord_held(t *testing.T) {
	r := New(time.Minute)
	g := Guess{time.Hour, time.Hour}
	said := Range{Early: 50 * time.Minute, Likely: time.Hour, Late: 70 * time.Minute}
	for i, minutes := range []int{60, 49, 70, 71, 30, 90} { // half a round more or less holds
		id := job.ID(fmt.Sprint(i))
		r.State(begin, id, Start, g, said)
		r.Started(begin.Add(time.Duration(minutes)*time.Minute), id)
	}
	r.State(begin, "cancelled", Start, g, said)
	r.Ended(begin.Add(time.Hour), "cancelled", false)
	r.State(begin, "open", Start, g, said)
	if held, of := r.Held(begin.Add(said.Late), Start); held != 2 || of != 6 {
		t.Errorf("%d of %d held, want 2 of 6", held, of)
	}
}

// TestRecord_overdue: a range whose end has passed is wrong from then on, whether its job starts later, is cancelled or
// never starts, and counts once.
func TestRecord_overdue(t *testing.T) {
	r := New(time.Minute)
	g := Guess{time.Hour, time.Hour}
	said := Range{Early: 50 * time.Minute, Likely: time.Hour, Late: 70 * time.Minute}
	check := func(minutes float64, held, of int) {
		t.Helper()
		x := r.Range(begin.Add(time.Duration(minutes*float64(time.Minute))), Start, g)
		if x.Held != held || x.Of != of {
			t.Errorf("after %v min %d of %d held, want %d of %d", minutes, x.Held, x.Of, held, of)
		}
		if unreliable := x.Unreliable() != ""; unreliable != (held == 0 && of > 0) {
			t.Errorf("after %v min: %q", minutes, x.Unreliable())
		}
	}
	for _, id := range []job.ID{"late", "cancelled", "never"} {
		r.State(begin, id, Start, g, said)
	}
	check(70.5, 0, 0) // half a round more holds
	check(70.6, 0, 3)
	r.Started(begin.Add(80*time.Minute), "late")
	r.Ended(begin.Add(80*time.Minute), "cancelled", false)
	check(90, 0, 3)
	for i := range 9 {
		id := job.ID(fmt.Sprint(i))
		r.State(begin.Add(90*time.Minute), id, Start, g, said)
		r.Started(begin.Add(150*time.Minute), id)
	}
	check(160, 9, 12)
	if held, of := r.Held(begin.Add(160*time.Minute), WaitingEnd); held != 0 || of != 0 {
		t.Errorf("%d of %d ends held, want none", held, of)
	}
}

// TestRange_is_ordered, whatever was guessed and seen before.
func TestRange_is_ordered(t *testing.T) {
	rng := rand.New(rand.NewPCG(draws.Seed(t), 2))
	r := New(time.Minute)
	for i := range 300 {
		now := begin.Add(time.Duration(i) * time.Minute)
		g := Guess{time.Duration(rng.Int64N(int64(100 * time.Hour))), time.Duration(rng.Int64N(int64(100 * time.Hour)))}
		p := Phase(rng.IntN(int(Phases)))
		x := r.Range(now, p, g)
		if x.Early < 0 || x.Early > x.Likely || x.Likely > x.Late || x.Held > x.Of {
			t.Fatalf("%v of %v: %+v is not ordered", p, g, x)
		}
		wide := r.Wide(now, p, g, 0.95)
		if wide.Early > x.Early || wide.Late < x.Late {
			t.Fatalf("95 %%: %+v is narrower than %+v", wide, x)
		}
		r.State(now, job.ID(fmt.Sprint(i%40)), p, g, x)
		if i%3 == 0 {
			r.Ended(now.Add(time.Minute), job.ID(fmt.Sprint(rng.IntN(40))), i%2 == 0)
		}
	}
}
