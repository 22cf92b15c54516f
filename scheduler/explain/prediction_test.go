package explain

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/journal"
)

func in(early, likely, late time.Duration) *Expected {
	return &Expected{Early: journal.Seconds(early), Likely: journal.Seconds(likely), Late: journal.Seconds(late), Share: 0.8}
}

// A live story has what a twin of the run says; a recording has rows only of what it knows.
func TestOutlook(t *testing.T) {
	unknown, open := &Expected{Unknown: "no target declared"}, in(time.Minute, time.Hour, 33*time.Hour)
	open.Open, open.Held, open.Of = true, 30, 40
	for want, m := range map[string]*Moment{
		"":                                   {},
		"next at 0h10m00s":                   {Next: "at 0h10m00s"},
		"best 8 a100 GPUs at today's prices": {Best: holding(exampleHolding)},
		"lost 1.25 GPU-hours to starting and 2 restarts":                                                 {LostHours: 1.25, Starts: 3},
		"unblock it would get (1, 4, a100) if it asked for 4 GPUs":                                       {Unblock: "it would get (1, 4, a100) if it asked for 4 GPUs"},
		"start in 10m00s to 25m00s (80 %), median 14m00s; no such range of this run could be tested yet": {Start: in(10*time.Minute, 14*time.Minute, 25*time.Minute)},
		"start now": {Start: &Expected{}},
		"end in 14m00s (80 %), median 14m00s; no such range of this run could be tested yet":                    {End: in(14*time.Minute, 14*time.Minute, 14*time.Minute)},
		"end in 1m00s or later, perhaps after 1d09h (80 %), median 1h00m; of the last 40 such ranges 75 % held": {End: open},
		"end not known: no target declared": {End: unknown},
	} {
		var rows []string
		m.prediction(func(key, value string) { rows = append(rows, key+" "+value) })
		if got := strings.Join(rows, "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

var exampleHolding = cluster.Allocation{Configuration: config(1, 8, "a100")}

// A story without recording, as a live run has it, is written like any other.
func TestOutlook_of_a_live_story(t *testing.T) {
	m := &Moment{Phase: "waiting", Sentence: "x waits.", Cluster: &View{}, Unblock: "it would run if asked", Start: in(0, 60*time.Second, 2*time.Minute)}
	var b bytes.Buffer
	if err := (&Story{Job: "x", Policy: "sia", Asked: "1 GPU", Moment: m}).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "  unblock  it would run if asked\n  start    in 0s to 2m00s (80 %), median 1m00s; no such range of this run could be tested yet\n") {
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
