package explain

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
)

func in(early, likely, late time.Duration) *Expected {
	return &Expected{Early: journal.Seconds(early), Likely: journal.Seconds(likely), Late: journal.Seconds(late), Share: 0.8}
}

// A live story has what a twin of the run says; a recording has rows only of what it knows.
func TestOutlook(t *testing.T) {
	unknown, open := &Expected{Unknown: "no target declared"}, in(time.Minute, time.Hour, 33*time.Hour)
	open.Open, open.Held, open.Of = true, 30, 40
	tested := in(3*time.Hour, 390*time.Minute, 50*time.Hour)
	tested.Held, tested.Of = 6, 8
	long := *tested
	long.Held, long.Of = 140, 200
	for want, m := range map[string]*Moment{
		"":                                     {},
		"afterwards its record shows no start": {Next: "its record shows no start"},
		"unblock it would get (1, 4, a100) if it asked for 4 GPUs":                       {Unblock: "it would get (1, 4, a100) if it asked for 4 GPUs"},
		"start in 10 to 25 min, median 14 min (80 % likely; not tested in this run yet)": {Start: in(10*time.Minute, 14*time.Minute, 25*time.Minute)},
		"start now": {Start: &Expected{}},
		"end in about 14 min (not tested in this run yet)":                                           {End: in(14*time.Minute, 14*time.Minute, 14*time.Minute)},
		"end in 60 s at the earliest; how much later is not known":                                   {End: open},
		"end in 3.0 h to 2.1 days, median 6.5 h (80 % likely; 6 of the last 8 estimates were right)": {End: tested},
		"end in 3.0 h to 2.1 days, median 6.5 h (140 of the last 200 estimates were right)":          {End: &long},
		"start unreliable: only 1 of the last 8 estimates was right":                                 {Start: ExpectedIn(&calibration.Range{Late: time.Hour, Held: 1, Of: 8}, false, 0)},
		"start in 70 min to 3.3 h, median 76 min (80 % likely; not tested in this run yet); end about 5 min after the start (not tested in this run yet)": {
			Start: in(70*time.Minute, 76*time.Minute, 198*time.Minute), End: in(70*time.Minute, 81*time.Minute, 199*time.Minute),
		},
		"end unknown: no target declared":                                                                   {End: unknown},
		"start in 10 to 25 min (80 % likely; not tested in this run yet)":                                   {Start: in(10*time.Minute, 10*time.Minute, 25*time.Minute)},
		"forecast unknown: no target declared":                                                              {Start: unknown, End: unknown},
		"unblock it would run if asked; start unknown: no target declared; end unknown: no target declared": {Unblock: "it would run if asked", Start: unknown, End: unknown},
	} {
		var rows []string
		m.prediction(func(key, value string) { rows = append(rows, key+" "+value) })
		if got := strings.Join(rows, "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A story without recording, as a live run has it, is written like any other.
func TestOutlook_of_a_live_story(t *testing.T) {
	m := &Moment{Phase: "waiting", Sentence: "x waits.", Cluster: &View{}, Unblock: "it would run if asked", Start: in(0, 60*time.Second, 2*time.Minute)}
	var b bytes.Buffer
	if err := (&Story{Job: "x", Policy: "sia", Asked: "1 GPU", Moment: m}).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "  unblock    it would run if asked\n  start      within 2 min, median 60 s (80 % likely; not tested in this run yet)\n") {
		t.Errorf("got %q", b.String())
	}
}

// The best configuration is there where the reason names one that is better than what is held.
func TestBest(t *testing.T) {
	for _, kind := range policy.Kinds() {
		got := best(policy.Reason{Kind: kind, Config: config(1, 2, "a100")})
		if want := kind == policy.WaitPrice || kind == policy.KeptNoRestart; (got != nil) != want {
			t.Errorf("%v: best is %v", kind, got)
		}
	}
	if best(policy.Reason{Kind: policy.AsPlanned, Config: config(1, 2, "a100"), Limit: 2}) == nil {
		t.Error("as planned, but another would be worth its price: no best")
	}
}

// The details have a line for each value that is there, and none for others.
func TestWriteDetails(t *testing.T) {
	lines := func(m *Moment) string {
		var b strings.Builder
		if err := (&Story{Moment: m}).WriteDetails(&b); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for line := range strings.Lines(b.String()) {
			keys = append(keys, strings.Fields(line)[0])
		}
		return strings.Join(keys, " ")
	}
	price := 2.0
	full := Moment{Phase: "waiting", Details: "d", Best: &Holding{Nodes: 1, GPUs: 2, Type: "t4"}, Weight: "w", Cluster: &View{Types: []TypeView{{Type: "t4", Price: &price}}}}
	if got := lines(&full); !strings.HasSuffix(got, "reason best prices weight") {
		t.Errorf("lines %q, want reason, best, prices and weight at the end", got)
	}
	if got := lines(&Moment{Phase: "waiting", Cluster: &View{}}); strings.Contains(got, "best") || strings.Contains(got, "reason") || strings.Contains(got, "prices") {
		t.Errorf("lines %q, want none without a value", got)
	}
	full.Ended = true
	if got := lines(&full); strings.Contains(got, "best") || strings.Contains(got, "prices") {
		t.Errorf("lines %q of a job that has ended, want neither best nor prices", got)
	}
}

// Totals of a round are left out if the cluster has other ones by now: a page has one number for one thing.
func TestSetChange_has_the_numbers_of_the_cluster(t *testing.T) {
	now := View{Types: []TypeView{{Type: "t4", GPUs: 8, Free: 2}}, Running: 3, Waiting: 5}
	for want, then := range map[string]counterfactual.Totals{
		"only a large change helps: it would get 4 t4 GPUs (2 are free now) if 2 of the 3 running jobs (a and b) and 2 of the 4 other waiting jobs (c and d) were gone": {Running: 3, Waiting: 4, Free: 2},
		"only a large change helps: it would get 4 t4 GPUs if 2 running jobs (a and b) and 2 other waiting jobs (c and d) were gone":                                    {Running: 4, Waiting: 3, Free: 1},
	} {
		m := &Moment{Cluster: &now}
		m.SetChange(&counterfactual.Change{
			Kind: counterfactual.JobsEnd, Jobs: []job.ID{"a", "b", "c", "d"}, Holding: []job.ID{"a", "b"}, In: -1, Of: then,
			Gets: cluster.Allocation{Configuration: config(1, 4, "t4")},
		})
		if m.Unblock != want || m.Change == nil {
			t.Errorf("got %q, want %q", m.Unblock, want)
		}
	}
}

// A range is as short as its words allow.
func TestBetween(t *testing.T) {
	for want, ends := range map[string][2]string{
		"in 73 to 113 min": {"73 min", "113 min"}, "in 73 min to 5.9 h": {"73 min", "5.9 h"}, "within 2 min": {"0 s", "2 min"},
	} {
		if got := between(ends[0], ends[1]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
