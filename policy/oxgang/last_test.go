package oxgang

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Once nobody comes any more, a job as long as all the rest runs beside short ones, and all end as
// early as they can. Without the makespan the short ones go first.
func TestPlan_the_end_of_all_waits_for_the_longest(t *testing.T) {
	for makespan, rounds := range map[float64]int{1: 61, 0: 90} {
		o := DefaultOptions()
		o.Makespan, o.Margin = makespan, 0
		w := newSmall(t, o, 1, 2)
		w.submit("long", 1, time.Hour)
		for i := range 6 {
			w.submit(job.ID(fmt.Sprint("short", i)), 1, 10*time.Minute)
		}
		took := 0
		for ; len(w.s.Jobs) > 0; took++ {
			w.round()
			long, _ := w.p.Weighed("long")
			if short, _ := w.p.Weighed("short0"); took == 0 && (long.Last > 1 != (makespan == 1) || short.Last > 0.01) {
				t.Errorf("makespan %v: the end of all waits for %+v and %+v", makespan, long, short)
			}
		}
		if makespan == 1 && took > rounds || makespan == 0 && took < rounds {
			t.Errorf("makespan %v: all end after %d rounds, want %d", makespan, took, rounds)
		}
	}
}

// While others keep coming, the end of those that are there is not the end of all.
func TestInflux_rest(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var f influx
	s := &policy.Snapshot{Now: start, Cluster: clusterOf(t, "a100", 1, 2)}
	if got := f.rest(100, 200, s); got != 100 {
		t.Errorf("nobody came: rest %g, want the span", got)
	}
	for i := range 10 {
		f.submitted(start.Add(time.Duration(i) * time.Hour))
	}
	f.work = 9 * 3600 * 2
	for quiet, want := range map[time.Duration]struct{ least, most float64 }{
		0:                {0.9 * 9 * 3600, 10 * 3600}, // nine hours more, of as much
		24 * time.Hour:   {100, 101},
		1000 * time.Hour: {100, 100},
	} {
		s.Now = start.Add(9*time.Hour + quiet)
		if got := f.rest(100, 200, s); !(got >= want.least && got <= want.most) {
			t.Errorf("quiet for %v: rest %g, want %v", quiet, got, want)
		}
	}
	f.work = 1e6
	if s.Now = start.Add(9 * time.Hour); math.Abs(f.rest(100, 200, s)-(100+0.9*5e5)) > 1e-6 {
		t.Errorf("rest %g, want all that is expected, on 2 GPUs", f.rest(100, 200, s))
	}
}

// Jobs come in bursts: a quiet that is no longer than one before is not the end.
func TestInflux_bursts(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var f influx
	for _, at := range []time.Duration{0, 10 * time.Hour, 10*time.Hour + time.Minute, 10*time.Hour + 2*time.Minute} {
		f.submitted(start.Add(at))
	}
	if got := f.goesOn(start.Add(11 * time.Hour)); got < 0.7 {
		t.Errorf("an hour after the last one more come with %g, want at least 0.7", got)
	}
}

// Work counts once, and once it is known.
func TestInflux_addWork(t *testing.T) {
	var f influx
	st := &state{left: 10, done: 2}
	f.addWork(st, math.Inf(1))
	f.addWork(st, 3)
	f.addWork(st, 3)
	if f.work != 36 {
		t.Errorf("work %g, want 36", f.work)
	}
}

// What counts more that a job runs does not count how fast, and is not there where all of its work would be lost.
func TestRuns(t *testing.T) {
	p := &Policy{o: DefaultOptions()}
	st := &state{last: 2}
	for _, test := range []struct {
		factors []float64
		want    float64
	}{{nil, 2 * 0.1}, {[]float64{math.NaN(), 1}, 2 * 0.1}, {[]float64{0.5, 1}, 2 * 0.1}, {[]float64{0.5}, 0}, {[]float64{0}, 0}} {
		w := &goodput.Worth{Base: 1.1, Factor: 1, Factors: test.factors}
		if got := p.runs(st, w); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("factors %v: %g, want %g", test.factors, got, test.want)
		}
	}
}
