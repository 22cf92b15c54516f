package slurm

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

var bounds = Bounds{Partition: "gpu"}

func look(t *testing.T, s *slurmtest.Slurm) *Observation {
	t.Helper()
	jobs, err := s.Jobs(t.Context())
	nodes, err2 := s.Nodes(t.Context())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return observe(time.Now(), jobs, nodes, &bounds)
}

func writer(s *slurmtest.Slurm) *Writer {
	return &Writer{Slurm: s, PerMinute: 1000, Log: slog.New(slog.DiscardHandler)}
}

func carry(t *testing.T, w *Writer, steps []step) {
	t.Helper()
	for i := range steps {
		if err := w.Do(t.Context(), &steps[i]); err != nil {
			t.Errorf("%s: %v", &steps[i], err)
		}
	}
}

func waiting(t *testing.T, s *slurmtest.Slurm) []client.ID {
	t.Helper()
	jobs, err := s.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(jobs, func(a, b client.Job) int { return int(b.Priority) - int(a.Priority) })
	var line []client.ID
	for i := range jobs {
		if jobs[i].Waits() {
			line = append(line, jobs[i].ID)
		}
	}
	return line
}

// busy is a Slurm of one node with a job on all of it, and four that wait, of which 3 takes no part.
func busy() *slurmtest.Slurm {
	s := slurmtest.New(slurmtest.Node("n1", "a100", 4))
	s.Submit(slurmtest.Ask{PerNode: 4, Work: 400, Comment: "somebody's"})
	for _, c := range []string{"oxgang:order", "", "oxgang:order", "oxgang:order"} {
		s.Submit(slurmtest.Ask{PerNode: 4, Work: 400, Comment: c, Nice: 2})
	}
	return s
}

// The jobs that take part exchange their places, the one that takes none keeps its own, and it costs
// the fewest commands. Undone, all is as it was.
func TestOrderSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy()
		before, _ := s.Jobs(t.Context())
		w := writer(s)
		steps, bounded := orderSteps(look(t, s), []client.ID{5, 4, 2}, 100, 7)
		if len(steps) != 2 || bounded != nil {
			t.Errorf("%d steps, bounded %v, want two", len(steps), bounded)
		}
		carry(t, w, steps)
		if diff := cmp.Diff([]client.ID{5, 3, 4, 2}, waiting(t, s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := s.Job(5).AdminComment; got != "oxgang:nice=2;epoch=7" {
			t.Errorf("the mark is %q", got)
		}
		if again, _ := orderSteps(look(t, s), []client.ID{5, 4, 2}, 100, 8); again != nil {
			t.Errorf("again: %v", again)
		}
		carry(t, w, undoSteps(look(t, s)))
		after, _ := s.Jobs(t.Context())
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("undone (-before +after):\n%s", diff)
		}
	})
}

// A job that takes no part any more, or has no place, gets its nice value back.
func TestOrderSteps_lets_go(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy()
		w := writer(s)
		steps, _ := orderSteps(look(t, s), []client.ID{5, 4, 2}, 100, 1)
		carry(t, w, steps)
		steps, _ = orderSteps(look(t, s), []client.ID{2, 4}, 100, 1)
		carry(t, w, steps)
		if j := s.Job(5); j.Nice != 2 || j.AdminComment != "" {
			t.Errorf("nice %d, mark %q of a job without a place, want its own and none", j.Nice, j.AdminComment)
		}
	})
}

// Nothing is ever said about a job of another partition or account, or without the comment.
func TestOrderSteps_touches_no_other_job(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slurmtest.New(slurmtest.Node("n1", "a100", 4))
		for _, a := range []slurmtest.Ask{{Partition: "cpu", Comment: "oxgang:order"}, {Account: "bio", Comment: "oxgang:order"}, {Comment: "no"}} {
			a.PerNode = 4
			s.Submit(a)
			s.Submit(a)
		}
		b := Bounds{Partition: "gpu", Accounts: []string{"ml"}}
		jobs, _ := s.Jobs(t.Context())
		nodes, _ := s.Nodes(t.Context())
		o := observe(time.Now(), jobs, nodes, &b)
		steps, _ := orderSteps(o, []client.ID{6, 5, 4, 3, 2, 1}, 100, 1)
		if steps = append(steps, undoSteps(o)...); steps != nil {
			t.Errorf("got %v, want nothing", steps)
		}
	})
}

// What Slurm refuses is said in its words, tried again after growing pauses, and then given up.
func TestWriter_gives_up(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy()
		tried := 0
		s.Refuse = func(string) string { tried++; return "Access/permission denied" }
		w := writer(s)
		for i := range 3600 {
			err := w.Do(t.Context(), &step{Job: 2, Verb: update, Settings: []client.Field{{Name: "Nice", Value: string(rune('1' + i%9))}}})
			if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "Access/permission denied") {
				t.Fatalf("got %v, want Slurm's words", err)
			}
			time.Sleep(time.Second)
		}
		if r := w.refusals()[2]; tried != tries || !r.GaveUp {
			t.Errorf("tried %d times in an hour, given up %v, want %d times", tried, r.GaveUp, tries)
		}
	})
}

// No more commands are given in any minute than the limit allows; in a dry run none.
func TestWriter_keeps_the_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy()
		var at []time.Time
		s.Before = func(string) error { at = append(at, time.Now()); return nil }
		w := writer(s)
		w.PerMinute = 3
		for range 300 {
			_ = w.Do(t.Context(), &step{Job: 2, Verb: Hold})
			time.Sleep(time.Second)
		}
		for i := 3; i < len(at); i++ {
			if at[i].Sub(at[i-3]) < time.Minute {
				t.Errorf("command %d came %v after the third before it", i, at[i].Sub(at[i-3]))
			}
		}
		if len(at) != 15 {
			t.Errorf("%d commands in five minutes, want 15", len(at))
		}
		w.Dry, w.PerMinute = true, 1000
		if err := w.Do(context.Background(), &step{Job: 2, Verb: Hold}); err != nil || len(at) != 15 {
			t.Errorf("%v, %d commands: a dry run gives none", err, len(at))
		}
	})
}

// refusals returns Slurm's messages by job.
func (w *Writer) refusals() map[client.ID]refusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[client.ID]refusal, len(w.refused))
	for k, r := range w.refused {
		if r.Times >= all[k.job].Times {
			all[k.job] = *r
		}
	}
	return all
}
