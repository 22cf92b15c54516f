package explain

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
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
	for want, m := range map[string]*Moment{
		"":                 {},
		"next at 0h10m00s": {Next: "at 0h10m00s"},
		"lost 1.25 GPU-hours to its start and 2 restarts":                                      {LostHours: 1.25, Starts: 3},
		"unblock it would get (1, 4, a100) if it asked for 4 GPUs":                             {Unblock: "it would get (1, 4, a100) if it asked for 4 GPUs"},
		"start in 10 min to 25 min, median 14 min (80 % interval, not tested in this run yet)": {Start: in(10*time.Minute, 14*time.Minute, 25*time.Minute)},
		"start now": {Start: &Expected{}},
		"end in 14 min (80 % interval, not tested in this run yet)":                                                         {End: in(14*time.Minute, 14*time.Minute, 14*time.Minute)},
		"end in 60 s at the earliest; how much later is not known":                                                          {End: open},
		"end in 3.0 h to 2.1 days, median 6.5 h (80 % interval; 6 of the last 8 end estimates for waiting jobs were right)": {End: tested},
		"start unreliable: 1 of the last 8 start estimates was right":                                                       {Start: ExpectedIn(&calibration.Range{Late: time.Hour, Held: 1, Of: 8}, false, 0)},
		"start in 70 min to 3.3 h, median 76 min (80 % interval, not tested in this run yet); end about 5 min after the start, median 81 min (80 % interval, not tested in this run yet)": {
			Start: in(70*time.Minute, 76*time.Minute, 198*time.Minute), End: in(70*time.Minute, 81*time.Minute, 199*time.Minute),
		},
		"end unknown: no target declared": {End: unknown},
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
	if !strings.HasSuffix(b.String(), "  unblock  it would run if asked\n  start    in 0 s to 2 min, median 60 s (80 % interval, not tested in this run yet)\n") {
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
