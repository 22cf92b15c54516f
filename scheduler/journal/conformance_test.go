package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

func nodes(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func world() scheduler.Backend { return slow(0) }

// slow is a world in which background work takes so long.
func slow(thinking time.Duration) scheduler.Backend {
	var jobs []schedulertest.ToyJob
	for i := range 6 {
		jobs = append(jobs, schedulertest.ToyJob{
			Spec: &job.Spec{ID: job.ID(fmt.Sprintf("job-%d", i)), GPUs: 2, BatchSize: 32, Batch: job.BatchLimits{Init: 32, Max: 32}},
			At:   time.Duration(i*i) * time.Minute, Work: 9 * time.Minute, LostAt: time.Duration(i%2) * 5 * time.Minute,
		})
	}
	w := schedulertest.NewToy(jobs)
	w.Thinking = thinking
	return w
}

// A driver is schedulertest.Drive, or drives with another policy.
type driver func(*cluster.Cluster, ...scheduler.Observer) func(context.Context, scheduler.Backend) error

func with(p policy.Policy) driver {
	return func(c *cluster.Cluster, obs ...scheduler.Observer) func(context.Context, scheduler.Backend) error {
		return schedulertest.DriveWith(c, p, obs...)
	}
}

func record(t testing.TB, b scheduler.Backend, drive driver) (string, error) {
	t.Helper()
	return recordOn(t, nodes(t), b, drive)
}

func recordOn(t testing.TB, c *cluster.Cluster, b scheduler.Backend, drive driver) (string, error) {
	t.Helper()
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{Policy: "first fit", Start: schedulertest.Epoch, Round: time.Minute, Cluster: c})
	err := drive(c, w)(context.WithoutCancel(t.Context()), b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), err
}

func replay(t testing.TB, text string) *journal.Backend {
	t.Helper()
	r, err := journal.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return journal.Replay(r)
}

func TestReplay_keeps_the_contract(t *testing.T) {
	text, err := record(t, world(), schedulertest.Drive)
	if err != nil {
		t.Fatal(err)
	}
	schedulertest.Run(t, func(t testing.TB) scheduler.Backend { return replay(t, text) }, schedulertest.Drive(nodes(t)))
}

func TestReplay_gives_the_same_journal_byte_for_byte(t *testing.T) {
	first, err := record(t, world(), schedulertest.Drive)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := record(t, world(), schedulertest.Drive); err != nil || again != first {
		t.Fatalf("the same run twice: %v\n%s", err, cmp.Diff(first, again))
	}
	replaysAlike(t, nodes(t), first, schedulertest.Drive)
}

// replaysAlike replays a journal, and compares the journal of that with it.
func replaysAlike(t *testing.T, c *cluster.Cluster, first string, drive driver) {
	t.Helper()
	b := replay(t, first)
	again, err := recordOn(t, c, b, drive)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	if c := b.Comparison(); c.Rounds != strings.Count(first, `"round":{`) || c.First != nil {
		t.Errorf("got %+v, want every round compared and none to differ", c)
	}
}

func TestReplay_of_another_policy(t *testing.T) {
	text, err := record(t, world(), with(schedulertest.FirstFit{}))
	if err != nil {
		t.Fatal(err)
	}
	last := schedulertest.FirstFit{Last: true}
	_, err = record(t, replay(t, text), with(last))
	var d *journal.Difference
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a difference", err)
	}
	b := replay(t, text)
	b.Shadow = true
	if _, err := record(t, b, with(last)); err != nil {
		t.Fatal(err)
	}
	c := b.Comparison()
	if diff := cmp.Diff(d, c.First); diff != "" {
		t.Errorf("first difference in shadow: %s", diff)
	}
	if c.Rounds != strings.Count(text, `"round":{`) || c.Differing == 0 || c.Differing >= c.Rounds || c.Actions < c.Differing {
		t.Errorf("got %+v", c)
	}
}

// A planner is first fit with background work in every plan, or every second or
// third, which returns the plan's number; Iterations of a plan is what was last
// computed.
type planner struct {
	schedulertest.FirstFit
	every       int
	plans, last int
}

func (p *planner) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if n, ok := s.Computed.(int); ok {
		p.last = n
	}
	plan, err := p.FirstFit.Plan(ctx, s)
	p.plans++
	n := p.plans
	if n%max(1, p.every) == 0 {
		plan.Background = func(context.Context) any { return n }
	}
	plan.Stats.Iterations = p.last
	return plan, err
}

// Background work ends in a replay where it ended in the run, so that plans made
// from it are the same, byte for byte; also in the shadow of the same policy.
func TestReplay_of_background_work(t *testing.T) {
	first, err := record(t, slow(150*time.Second), with(&planner{}))
	if err != nil {
		t.Fatal(err)
	}
	if works, ends := strings.Count(first, `{"compute":true}`), strings.Count(first, `"computed":true`); works < 5 || ends < works-1 {
		t.Fatalf("%d works were started and %d ended, want at least 5, and all but the last", works, ends)
	}
	if fast, err := record(t, world(), with(&planner{})); err != nil || fast == first {
		t.Fatalf("got %v, want another journal where work takes no time", err)
	}
	for _, shadow := range []bool{false, true} {
		b := replay(t, first)
		b.Shadow = shadow
		again, err := record(t, b, with(&planner{}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("shadow %t: %s", shadow, diff)
		}
	}
}

// In shadow the works of another policy are done: those that start in a round that
// started none, at once; and those of the recorded policy are not missed.
func TestReplay_of_background_work_in_shadow(t *testing.T) {
	plain := with(schedulertest.FirstFit{})
	for name, c := range map[string]struct {
		recorded, now driver
		want          func(works, ends, rounds int) bool
	}{
		"only now":    {plain, with(&planner{}), func(works, ends, rounds int) bool { return works == rounds && ends == rounds }},
		"only then":   {with(&planner{}), plain, func(works, ends, _ int) bool { return works == 0 && ends == 0 }},
		"more seldom": {with(&planner{}), with(&planner{every: 2}), func(works, ends, _ int) bool { return works > 4 && ends >= works-1 }},
		"more often":  {with(&planner{every: 3}), with(&planner{}), func(works, ends, _ int) bool { return works > 4 && ends >= works-1 }},
	} {
		text, err := record(t, slow(100*time.Second), c.recorded)
		if err != nil {
			t.Fatal(err)
		}
		b := replay(t, text)
		b.Shadow = true
		again, err := record(t, b, c.now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		works, ends, rounds := strings.Count(again, `{"compute":true}`), strings.Count(again, `"computed":true`), strings.Count(again, `"round":{`)
		if !c.want(works, ends, rounds) {
			t.Errorf("%s: %d works were started and %d ended in %d rounds", name, works, ends, rounds)
		}
		if got := b.Comparison(); got.Differing != 0 {
			t.Errorf("%s: got %+v, want no difference: jobs get the same", name, got)
		}
	}
}
