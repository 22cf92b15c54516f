package journal_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

// A talker says much of its plans, which are those of first fit; in round 3 a plan is refused.
type talker struct {
	policy.Policy
	interrupted bool
}

func (p talker) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.Policy.Plan(ctx, s)
	if s.Round == 3 {
		return nil, errors.New("out of ideas")
	}
	plan.Prices = []policy.TypePrice{{Type: "t4", Price: float64(s.Round) + 0.25, CPU: 2, Memory: 0.5}}
	plan.Stats = policy.Stats{Iterations: s.Round, Objective: 3.5, Bound: 4, Gap: 0.125, Interrupted: p.interrupted}
	for i, j := range s.Jobs {
		plan.Jobs[i].Why.Value, plan.Jobs[i].Why.Limit = 1+float64(s.Round/2), 7.5
		if !plan.Jobs[i].Allocation.IsZero() {
			plan.Jobs[i].Batch = job.BatchSize{Local: j.Spec.Batch.Init / max(1, plan.Jobs[i].Allocation.GPUs)}
		}
	}
	return plan, err
}

func watched(t testing.TB, c *cluster.Cluster, text string, p policy.Policy) (*journal.Backend, error) {
	t.Helper()
	b := replay(t, text)
	return b, schedulertest.DriveWith(c, p, b.Watch())(t.Context(), b)
}

// TestReplay_compares_everything_decided: whatever is rewritten in a journal without hashes that was
// decided, a replay ends there and says what it is; and nothing else does.
func TestReplay_compares_everything_decided(t *testing.T) {
	first, err := record(t, world(), with(talker{Policy: schedulertest.FirstFit{}}))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := watched(t, nodes(t), first, talker{Policy: schedulertest.FirstFit{}}); err != nil || b.Comparison().First != nil || b.Comparison().Rounds < 10 {
		t.Fatalf("the journal itself: got %v and %+v, want no difference", err, b.Comparison())
	}
	text := journal.Unsealed(first)
	for name, c := range map[string]struct{ old, put, want string }{
		"an allocation":     {`"gets":\[1,2,"t4"\]`, `"gets":[1,1,"t4"]`, `round 0 at 1m0s: job-0: allocation: got [1,2,"t4"], want [1,1,"t4"] as recorded`},
		"a placement":       {`"on":\[\["n0",2\]\]`, `"on":[["n1",2]]`, `round 0 at 1m0s: job-0: placement: got [["n0",2]], want [["n1",2]] as recorded`},
		"a batch size":      {`"batch":\[16,0\]`, `"batch":[16,2]`, `round 0 at 1m0s: job-0: batch size: got [16,0], want [16,2] as recorded`},
		"a kind of reason":  {`"why":\["as planned",1,7.5\]`, `"why":["started",1,7.5]`, `round 1 at 2m0s: job-0: reason: got ["as planned",1,7.5], want ["started",1,7.5] as recorded`},
		"a reason's value":  {`,3,7.5\]`, `,3.5,7.5]`, `round 4 at 5m0s: job-0: reason: got ["as planned",3,7.5], want ["as planned",3`},
		"a reason's limit":  {`,3,7.5\]`, `,3,7]`, `round 4 at 5m0s: job-0: reason: got ["as planned",3,7.5], want ["as planned",3`},
		"a price":           {`\["t4",2.25,`, `["t4",2.75,`, `round 2 at 3m0s: prices: got [["t4",2.25,2,0.5]], want [["t4",2.75,2,0.5]] as recorded`},
		"prices":            {`,"prices":\[\["t4",2.25,2,0.5\]\]`, ``, `round 2 at 3m0s: prices: got [["t4",2.25,2,0.5]], want [] as recorded`},
		"a core's price":    {`\["t4",2.25,2,`, `["t4",2.25,1,`, `round 2 at 3m0s: prices: got `},
		"iterations":        {`"stats":\[5,`, `"stats":[6,`, `round 5 at 6m0s: stats: got [5,3.5,4,0.125], want [6,3.5,4,0.125] as recorded`},
		"an objective":      {`"stats":\[5,3.5`, `"stats":[5,3.25`, `round 5 at 6m0s: stats: got `},
		"a refusal":         {`,"refused":"[^"]*"`, ``, `round 3 at 4m0s: refusal: got "round 3: plan: out of ideas", want "" as recorded`},
		"why it was":        {`out of ideas`, `out of order`, `round 3 at 4m0s: refusal: got "round 3: plan: out of ideas", want "round 3: plan: out of order" as recorded`},
		"a round":           {`(?m)^\{"t":\d+,"round":\{"n":5,.*\n`, ``, `round -1 at 6m0s: the round: got a plan, want none as recorded`},
		"a round's number":  {`"round":\{"n":5,`, `"round":{"n":6,`, `round 6 at 6m0s: the number of the round: got 5, want 6 as recorded`},
		"who has left":      {`"left":\["job-0"\],`, ``, `job-0: presence: got not in the round, want in it as recorded`},
		"nodes wanted":      {`,"stats":\[5,`, `,"capacity":[["t4-4",2]],"stats":[5,`, `round 5 at 6m0s: nodes wanted: got [], want [["t4-4",2]] as recorded`},
		"an action":         {`\{"run":"job-0","gets":\[1,2,"t4"\]`, `{"run":"job-0","gets":[1,1,"t4"]`, `round 0 at 1m0s: job-0: got {"run":"job-0","gets":[1,2,"t4"]`},
		"an action's place": {`\{"run":"job-0",(.*?),"on":\[\["n0",2\]\]`, `{"run":"job-0",$1,"on":[["n1",2]]`, `round 0 at 1m0s: job-0: got {"run":"job-0"`},
	} {
		rewritten := replaceFirst(text, c.old, c.put)
		if rewritten == text {
			t.Errorf("%s: the journal has no %s:\n%.3000s", name, c.old, text)
			continue
		}
		b, err := watched(t, nodes(t), journal.Sealed(rewritten), talker{Policy: schedulertest.FirstFit{}})
		d, ok := errors.AsType[*journal.Difference](err)
		if !ok || !strings.Contains(d.Error(), c.want) || b.Comparison().First != d {
			t.Errorf("%s: got  %v\nwant %s", name, err, c.want)
		}
	}
}

func replaceFirst(text, old, put string) string {
	re := regexp.MustCompile(old)
	at := re.FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[:at[0]] + re.ReplaceAllString(text[at[0]:at[1]], put) + text[at[1]:]
}

// TestReplay_without_Watch compares actions alone, as does a shadow.
func TestReplay_without_Watch(t *testing.T) {
	first, err := record(t, world(), with(talker{Policy: schedulertest.FirstFit{}}))
	if err != nil {
		t.Fatal(err)
	}
	text := journal.Sealed(replaceFirst(journal.Unsealed(first), `,3,7.5\]`, `,3.5,7.5]`))
	for _, shadow := range []bool{false, true} {
		b := replay(t, text)
		b.Shadow = shadow
		var watch []scheduler.Observer
		if shadow {
			watch = append(watch, b.Watch())
		}
		if err := schedulertest.DriveWith(nodes(t), talker{Policy: schedulertest.FirstFit{}}, watch...)(t.Context(), b); err != nil || b.Comparison().First != nil {
			t.Errorf("shadow %t: got %v and %+v, want no difference", shadow, err, b.Comparison())
		}
	}
}

// TestReplay_of_interrupted_plans: what the clock decided is not compared, and other differences
// say that it may have been the clock.
func TestReplay_of_interrupted_plans(t *testing.T) {
	first, err := record(t, world(), with(talker{schedulertest.FirstFit{}, true}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watched(t, nodes(t), first, talker{Policy: schedulertest.FirstFit{}}); err != nil {
		t.Errorf("the same plan in time: got %v, want no difference", err)
	}
	text := journal.Sealed(replaceFirst(journal.Unsealed(first), `,3,7.5\]`, `,3.5,7.5]`))
	if _, err := watched(t, nodes(t), text, talker{Policy: schedulertest.FirstFit{}}); err == nil || !strings.HasSuffix(err.Error(), "the recorded plan was interrupted at its time limit, so another run may find another plan") {
		t.Errorf("another reason: got %v", err)
	}
}

// TestReplay_compares_nodes_wanted: capacity is recorded, also where no order comes of it, and
// compared; journals of format 1 do not say it.
func TestReplay_compares_nodes_wanted(t *testing.T) {
	first := letting(t)
	renter := func(b *journal.Backend) error {
		return schedulertest.DriveRenting(forRent(t), b.Watch())(t.Context(), b)
	}
	for name, c := range map[string]struct{ text, want string }{
		"as it is":  {first, ""},
		"rewritten": {journal.Sealed(replaceFirst(journal.Unsealed(first), `"capacity":\[\["g0",\d+\]`, `"capacity":[["g0",7]`)), ": nodes wanted: got [["},
		"format 1":  {replaceFirst(journal.Unsealed(first), `,"capacity":\[\[.*?\]\]`, ``), ""},
	} {
		b := replay(t, c.text)
		err := renter(b)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if !strings.Contains(first, `"capacity":[["g0",`) {
		t.Errorf("no capacity in %s", first)
	}
	r, err := journal.NewReader(strings.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Round != nil && rec.At > 2*time.Minute && len(rec.Round.Capacity) == 0 {
			t.Errorf("line %d: no capacity in a round of a policy that always says it", rec.Line)
		}
	}
}

// TestReplay_of_a_fallback: a plan that policy/fallback refused in a live run is refused in its
// replay, which asks the policy itself.
func TestReplay_of_a_fallback(t *testing.T) {
	guarded, err := fallback.New(talker{Policy: schedulertest.FirstFit{}}, fallback.DefaultOptions(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	text, err := record(t, world(), with(guarded))
	if err != nil || !strings.Contains(text, "plan: failure 1 in a row: out of ideas") {
		t.Fatalf("got %v and\n%.2000s", err, text)
	}
	if _, err := watched(t, nodes(t), text, talker{Policy: schedulertest.FirstFit{}}); err != nil {
		t.Errorf("got %v, want no difference", err)
	}
	other := journal.Sealed(strings.Replace(journal.Unsealed(text), "out of ideas", "panic", 1))
	if _, err := watched(t, nodes(t), other, talker{Policy: schedulertest.FirstFit{}}); err == nil || !strings.Contains(err.Error(), ": refusal: got ") {
		t.Errorf("another failure: got %v, want a difference", err)
	}
}
