package journal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/scheduler"
)

func replay(t testing.TB, text string) *Backend {
	t.Helper()
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return Replay(r)
}

var work = scheduler.Compute{Work: func(context.Context) any { return "result" }}

// asked are the actions of the recorded run, by round.
func asked(t testing.TB) map[time.Duration][]scheduler.Action {
	_, records, err := readAll(t, golden)
	if err != nil {
		t.Fatal(err)
	}
	all := map[time.Duration][]scheduler.Action{}
	for _, rec := range records {
		if rec.Round == nil {
			continue
		}
		all[rec.At] = rec.Round.Actions
		for i, a := range rec.Round.Actions {
			if computes(a) {
				rec.Round.Actions[i] = work
			}
		}
	}
	return all
}

// loop is scheduler.Run with a list of answers for a policy; it returns the
// times at which something happened.
func loop(b *Backend, answers map[time.Duration][]scheduler.Action, round time.Duration) ([]time.Duration, error) {
	var times []time.Duration
	ctx := context.Background()
	for next := b.Now().Add(round); ; {
		ev, err := b.Next(ctx, next)
		if errors.Is(err, io.EOF) {
			return times, nil
		}
		if err != nil {
			return times, err
		}
		at := b.Now().Sub(start)
		times = append(times, at)
		if ev != nil {
			if err := b.Do(ctx, nil); err != nil {
				return times, err
			}
			continue
		}
		if err := b.Do(ctx, answers[at]); err != nil {
			return times, err
		}
		next = next.Add(round)
	}
}

func sec(all ...float64) []time.Duration {
	d := make([]time.Duration, len(all))
	for i, s := range all {
		d[i] = time.Duration(s * float64(time.Second))
	}
	return d
}

func TestReplay_hands_out_the_recorded_events(t *testing.T) {
	b := replay(t, golden)
	times, err := loop(b, asked(t), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sec(5, 6.5, 60, 91, 92, 93, 120, 150, 151, 180), times); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Comparison{Rounds: 3}, b.Comparison()); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Next(t.Context(), after(time.Hour)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: got %v, want EOF", err)
	}
}

func TestReplay_ends_at_the_first_difference(t *testing.T) {
	answers := asked(t)
	run := answers[time.Minute][0].(scheduler.Run)
	run.Allocation.GPUs = 8
	answers[time.Minute] = []scheduler.Action{run, answers[time.Minute][1]}
	b := replay(t, golden)
	_, err := loop(b, answers, time.Minute)
	var d *Difference
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a difference", err)
	}
	want := `round 1 at 1m0s: job bert-3: got {"run":"bert-3","gets":[1,8,"a100"],"on":[["a0",4]]}, ` +
		`want {"run":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]]} as recorded`
	if err.Error() != want || b.Comparison().First != d {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := b.Next(t.Context(), after(time.Hour)); !errors.Is(err, io.EOF) {
		t.Errorf("after a difference: got %v, want EOF", err)
	}
}

func TestReplay_ends_at_other_background_work(t *testing.T) {
	for name, c := range map[string]struct {
		at   time.Duration
		acts []scheduler.Action
		want string
	}{
		"none":             {time.Minute, asked(t)[time.Minute][:2], `round 1 at 1m0s: background work: got no action, want {"compute":true} as recorded`},
		"none recorded":    {2 * time.Minute, []scheduler.Action{work}, `round 2 at 2m0s: background work: got {"compute":true}, want no action as recorded`},
		"not even a round": {30 * time.Second, []scheduler.Action{work}, `round -1 at 30s: background work: got {"compute":true}, want no action as recorded`},
	} {
		answers := asked(t)
		answers[c.at] = c.acts
		b := replay(t, golden)
		if _, err := loop(b, answers, 30*time.Second); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if ev, err := b.Next(t.Context(), after(time.Hour)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: got %v and %v after the difference, want EOF", name, ev, err)
		}
	}
}

func TestReplay_counts_differences_in_shadow(t *testing.T) {
	answers := asked(t)
	extra := scheduler.Preempt{Job: "bert-3"}
	answers[2*time.Minute] = []scheduler.Action{extra}
	answers[3*time.Minute] = nil
	b := replay(t, golden)
	b.Shadow = true
	if _, err := loop(b, answers, time.Minute); err != nil {
		t.Fatal(err)
	}
	want := Comparison{Rounds: 3, Differing: 2, Actions: 2, First: &Difference{Round: 2, At: 2 * time.Minute, Job: "bert-3", Now: extra}}
	if diff := cmp.Diff(want, b.Comparison()); diff != "" {
		t.Error(diff)
	}
}

func TestReplay_misses_rounds_that_are_not_asked_for(t *testing.T) {
	b := replay(t, golden)
	_, err := loop(b, asked(t), 2*time.Minute)
	want := `round 1 at 1m0s: job bert-3: got no action, want {"run":"bert-3"`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReplay_compares_rounds_at_other_times(t *testing.T) {
	answers := asked(t)
	answers[30*time.Second] = []scheduler.Action{scheduler.Preempt{Job: "gpt-1"}}
	_, err := loop(replay(t, golden), answers, 30*time.Second)
	want := `round -1 at 30s: job gpt-1: got {"preempt":"gpt-1"}, want no action as recorded`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReplay_ends_a_truncated_journal_with_an_error(t *testing.T) {
	times, err := loop(replay(t, golden[:len(golden)-9]), asked(t), time.Minute)
	if !errors.Is(err, ErrTruncated) || len(times) != 9 {
		t.Errorf("got %v after %v, want %v after 9 times", err, times, ErrTruncated)
	}
}

func TestReplay_knows_its_jobs(t *testing.T) {
	err := replay(t, golden).Do(t.Context(), []scheduler.Action{scheduler.Preempt{Job: "ghost"}})
	if err == nil || err.Error() != "replay: job ghost: scheduler.Preempt of a job never submitted" {
		t.Errorf("got %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(golden))
	f.Add([]byte(golden[:len(golden)-9]))
	f.Add([]byte(sealed(golden)))
	f.Add([]byte(sealed(golden)[:len(golden)]))
	first := strings.IndexByte(golden, '\n') + 1
	f.Add([]byte(golden[:first] + `{"t":1e9,"round":{"n":-1,"jobs":[{"id":"\u0000","on":[["",0,1,2]],"batch":[]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		checkStream(t, r)
		b := replay(t, string(data))
		b.Shadow = true
		for deadline := start; ; deadline = deadline.Add(time.Minute) {
			before := b.Now()
			if _, err := b.Next(t.Context(), deadline); err != nil || deadline.Sub(start) > time.Hour {
				return
			}
			if b.Now().Before(before) {
				t.Fatalf("time went back from %v to %v", before, b.Now())
			}
		}
	})
}

// checkStream reads to the end: time never goes back, every record is one
// thing, and an error is the last that comes.
func checkStream(t *testing.T, r *Reader) {
	last := time.Duration(0)
	failed := false
	for rec, err := range r.Records() {
		if failed {
			t.Fatal("a record after an error")
		}
		if failed = err != nil; failed {
			continue
		}
		if rec.At < last || (rec.Event == nil) == (rec.Round == nil) {
			t.Fatalf("line %d: at %v after %v: event %v and round %v", rec.Line, rec.At, last, rec.Event, rec.Round)
		}
		last = rec.At
	}
}
