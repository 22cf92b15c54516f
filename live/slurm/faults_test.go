package slurm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// staged plays with a scheduler on two nodes, on which the job a runs on all eight GPUs.
func staged(t *testing.T, play func(t *testing.T, d *drama)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &drama{slurm: twoNodes(), ids: map[string]client.ID{}}
		d.lead(t)
		d.submit("a", "oxgang:elastic;min=2;max=8", hours)
		if !d.comes(t, map[string]int{"a": 8}) {
			t.Fatalf("a does not grow: %s", d.told())
		}
		play(t, d)
		_ = d.end()
		if err := d.slurm.Wrong(); err != nil {
			t.Error(err)
		}
	})
}

func (d *drama) wants(t *testing.T, runs map[string]int) {
	t.Helper()
	if !d.comes(t, runs) {
		t.Errorf("%v run, want %v\n%s", d.running(), runs, d.told())
	}
}

// A stop with notice costs no work but the pause.
func TestNotice_saves_the_work(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		before := d.slurm.Job(d.ids["a"]).Work
		d.submit("b", "oxgang:elastic;min=4;max=4", hours)
		d.wants(t, map[string]int{"a": 4, "b": 4})
		if j := d.slurm.Job(d.ids["a"]); j.Work >= before || j.Saved >= before {
			t.Errorf("left %v GPU-seconds, saved at %v, before it %v", j.Work, j.Saved, before)
		}
	})
}

// A user's scancel ends a job in the scheduler too, and the others get its GPUs.
func TestCancelled_by_its_user(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		d.submit("b", "oxgang:elastic;min=4;max=4", hours)
		d.wants(t, map[string]int{"a": 4, "b": 4})
		d.cancel("a")
		d.submit("c", "oxgang:elastic;min=1;max=4", hours)
		d.wants(t, map[string]int{"b": 4, "c": 4})
	})
}

// A job that somebody else holds stays held, until that one releases it.
func TestHeld_by_somebody_else(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		if err := d.slurm.Requeuehold(t.Context(), d.ids["a"]); err != nil {
			t.Fatal(err)
		}
		d.submit("b", "oxgang:elastic;min=4;max=4", hours)
		d.wants(t, map[string]int{"b": 4})
		if err := d.slurm.Release(t.Context(), d.ids["a"]); err != nil {
			t.Fatal(err)
		}
		d.wants(t, map[string]int{"a": 4, "b": 4})
	})
}

// A job that somebody requeues starts again at once, and not after the two minutes for which Slurm lets it
// wait.
func TestRequeued_by_somebody_else(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		if err := d.slurm.Requeue(t.Context(), d.ids["a"]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if j := d.slurm.Job(d.ids["a"]); j.State != client.Running {
			t.Errorf("%s after a minute: %s", j.State, d.told())
		}
	})
}

// While slurmctld does not answer, jobs run on; afterwards the scheduler goes on.
func TestController_down(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		d.slurm.Down(true)
		time.Sleep(10 * time.Minute)
		if j := d.slurm.Job(d.ids["a"]); len(j.Starts) != 2 {
			t.Errorf("starts %q, want the first and that of its growth", j.Starts)
		}
		d.slurm.Down(false)
		d.submit("b", "oxgang:elastic;min=4;max=4", hours)
		d.wants(t, map[string]int{"a": 4, "b": 4})
	})
}

// Of two schedulers the one that was started first ends, once the second has written.
func TestTwo_schedulers(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		first := d.gone
		d.lead(t)
		d.submit("b", "oxgang:elastic;min=4;max=4", hours)
		d.wants(t, map[string]int{"a": 4, "b": 4})
		select {
		case err := <-first:
			if !errors.Is(err, errOvertaken) {
				t.Errorf("the first ends with %v, want ErrOvertaken", err)
			}
		default:
			t.Error("the first goes on")
		}
	})
}

// What Slurm refuses is tried again a few times, and others get the GPUs.
func TestRefused_start(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		b := d.slurm.Submit(slurmtest.Ask{Comment: "oxgang:elastic;min=4;max=4", Work: hours, Begin: time.Hour})
		var tried atomic.Int64
		d.slurm.Refusing(func(c string) string {
			if !strings.HasPrefix(c, "update "+b.String()+" NumNodes") {
				return ""
			}
			tried.Add(1)
			return "Job violates accounting/QOS policy"
		})
		time.Sleep(2 * time.Hour)
		d.wants(t, map[string]int{"a": 8})
		if n := tried.Load(); n < 2 || n > 8 {
			t.Errorf("tried %d times in two hours", n)
		}
		if j := d.slurm.Job(b); j.State != client.Pending {
			t.Errorf("the job is %s, want it to wait", j.State)
		}
	})
}

// A job that takes no part any more is released, and left alone.
func TestJob_that_takes_no_part_any_more(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		if err := d.slurm.Update(context.Background(), d.ids["a"], client.Field{Name: "Comment", Value: "mine"}); err != nil {
			t.Fatal(err)
		}
		d.wants(t, map[string]int{"a": 8})
		if j := d.slurm.Job(d.ids["a"]); j.AdminComment != "" {
			t.Errorf("mark %q is left", j.AdminComment)
		}
	})
}

// A Slurm that lost its state gives the numbers of its jobs again: what it does not know any more has ended, and a new
// job is not taken for the one that had its number, however soon it comes.
func TestState_lost(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0, "later": time.Minute} {
		t.Run(name, func(t *testing.T) {
			staged(t, func(t *testing.T, d *drama) {
				for i, user := range []string{"v", "v", "w"} {
					d.slurm.LoseState()
					delete(d.ids, "a")
					time.Sleep(pause)
					least := 1 + i
					d.ids["b"] = d.slurm.Submit(slurmtest.Ask{
						User: user, Comment: fmt.Sprintf("oxgang:elastic;min=%d;max=4;token=%s", least, client.Digest(client.NewToken(user))), Work: hours,
					})
					d.wants(t, map[string]int{"b": 4})
				}
				select {
				case err := <-d.gone:
					t.Errorf("the scheduler ends with %v", err)
					d.gone <- err
				default:
				}
			})
		})
	}
}

// A job whose user takes its comment back, and gives it again, takes part again.
func TestJob_that_takes_part_again(t *testing.T) {
	staged(t, func(t *testing.T, d *drama) {
		for range 2 {
			for _, text := range []string{"mine", "oxgang:elastic;min=2;max=8"} {
				if err := d.slurm.Update(context.Background(), d.ids["a"], client.Field{Name: "Comment", Value: text}); err != nil {
					t.Fatal(err)
				}
				d.wants(t, map[string]int{"a": 8})
			}
		}
		d.submit("b", "oxgang:elastic;min=4;max=4", hours)
		d.wants(t, map[string]int{"a": 4, "b": 4})
	})
}
