package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// queue is a Slurm of one node that a job holds for ten minutes, and four jobs that wait, the longest
// first. The third takes no part.
func queue() *slurmtest.Slurm {
	s := slurmtest.New(slurmtest.Node("n1", "a100", 4))
	s.Submit(slurmtest.Ask{PerNode: 4, Work: 2400, Limit: 10 * time.Minute})
	for i, limit := range []time.Duration{4 * time.Hour, 2 * time.Hour, 5 * time.Hour, time.Hour} {
		a := slurmtest.Ask{PerNode: 4, Work: 4 * 60, Limit: limit, Comment: "oxgang:order", Nice: i}
		if i == 2 {
			a.Comment = "not yours"
		}
		s.Submit(a)
	}
	return s
}

// config returns the configuration of a test, which it may change.
func config() *Config {
	c := DefaultConfig()
	c.Partition = "gpu"
	return &c
}

// editing is held by who changes a configuration that an orderer reads.
var editing sync.Mutex

func orderer(t *testing.T, s Slurm, c *Config) *Orderer {
	t.Helper()
	r, err := newOrderer(s, func() (*Config, error) {
		editing.Lock()
		defer editing.Unlock()
		next := *c
		return &next, next.Validate()
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func starts(t *testing.T, s *slurmtest.Slurm) (ids []client.ID) {
	t.Helper()
	jobs, err := s.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	jobs = slices.DeleteFunc(jobs, func(j client.Job) bool { return j.Start.IsZero() })
	slices.SortFunc(jobs, func(a, b client.Job) int { return a.Start.Compare(b.Start) })
	for i := range jobs {
		ids = append(ids, jobs[i].ID)
	}
	return ids
}

// The shortest job is the first, and the job that takes no part is the third that starts, as without
// the scheduler.
func TestOrderer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queue()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := orderer(t, s, config()).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if diff := cmp.Diff([]client.ID{1, 5, 3, 4, 2}, starts(t, s)); diff != "" {
			t.Errorf("starts (-want +got):\n%s", diff)
		}
		if err := s.Wrong(); err != nil {
			t.Error(err)
		}
	})
}

// marks returns what is left of the scheduler.
func marks(t *testing.T, s *slurmtest.Slurm) (left []string) {
	t.Helper()
	for id := range client.ID(5) {
		if j := s.Job(id + 1); j.AdminComment != "" || id > 0 && j.Nice != int(id)-1 {
			left = append(left, fmt.Sprintf("job %d: nice %d, mark %q", j.ID, j.Nice, j.AdminComment))
		}
	}
	return left
}

// When it ends, when its mode is off, and when the file is there, nothing is left of it.
func TestOrderer_undoes(t *testing.T) {
	for name, stop := range map[string]func(*Config, context.CancelFunc){
		"it ends":                  func(_ *Config, cancel context.CancelFunc) { cancel() },
		"its mode is off":          func(c *Config, _ context.CancelFunc) { c.Mode = off },
		"the file is there":        func(c *Config, _ context.CancelFunc) { c.Stop = "order_test.go" },
		"the file cannot be found": func(c *Config, _ context.CancelFunc) { c.Stop = "order_test.go/stop" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := queue(), config()
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- orderer(t, s, c).Run(ctx) }()
				time.Sleep(time.Minute)
				if len(marks(t, s)) == 0 {
					t.Error("nothing was done, so nothing can be undone")
				}
				editing.Lock()
				stop(c, cancel)
				editing.Unlock()
				time.Sleep(time.Minute)
				if left := marks(t, s); left != nil {
					t.Errorf("left: %q", left)
				}
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		})
	}
}

// A file that cannot be read any more changes nothing, and no command is given while Slurm is down.
func TestOrderer_goes_on(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := queue(), config()
		r := orderer(t, s, c)
		if err := r.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Nice = -1
		if err := r.Round(t.Context()); err != nil || r.now.Nice != 10000 {
			t.Errorf("%v, nice %d, want the last configuration", err, r.now.Nice)
		}
		s.Down(true)
		if err := r.Round(t.Context()); !errors.Is(err, client.ErrUnreachable) {
			t.Errorf("got %v, want that Slurm does not answer", err)
		}
		s.Down(false)
		if err := r.Round(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Of two schedulers the one that was started first ends without touching anything.
func TestOrderer_of_two(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queue()
		first := orderer(t, s, config())
		time.Sleep(time.Second)
		second := orderer(t, s, config())
		if err := second.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := marks(t, s)
		if err := first.Run(t.Context()); !errors.Is(err, errOvertaken) {
			t.Errorf("got %v, want ErrOvertaken", err)
		}
		if diff := cmp.Diff(left, marks(t, s)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
}

// errKilled is what one that was killed hears.

// Wherever an Orderer is killed, before a command or after it was done, the next one comes to the same
// order, no job that takes no part is further back than without it, and all is undone. Source: reliability, fault F1.
func TestOrderer_killed_anywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := killedAt(t, 0, false)
		if n < 4 {
			t.Errorf("%d commands without a kill, want some to be killed at", n)
		}
		for at := 1; at <= n; at++ {
			killedAt(t, at, false)
			killedAt(t, at, true)
		}
	})
}

// killedAt plays a run, with the first scheduler killed at a command, and returns how many there were.
func killedAt(t *testing.T, at int, after bool) (n int) {
	s := queue()
	first := orderer(t, s, config())
	dead := false
	hear := func(done bool) func(string) error {
		return func(string) error {
			if !done && !dead {
				n++
			}
			if dead = dead || n == at && done == after; dead {
				return errKilled
			}
			return nil
		}
	}
	s.Before, s.After = hear(false), hear(true)
	_ = first.Round(t.Context())
	if !dead {
		_ = first.release(t.Context())
	}
	s.Before, s.After = nil, nil
	time.Sleep(time.Second)
	second := orderer(t, s, config())
	if err := second.Round(t.Context()); err != nil {
		t.Errorf("killed at %d: %v", at, err)
	}
	jobs, _ := s.Jobs(t.Context())
	slices.SortStableFunc(jobs, func(a, b client.Job) int { return int(b.Priority) - int(a.Priority) })
	var line []string
	for i := range jobs {
		if jobs[i].Waits() {
			line = append(line, jobs[i].ID.String())
		}
	}
	// Job 4, which takes no part, is the third, or further ahead.
	if got := strings.Join(line, " "); !slices.Contains([]string{"5 3 4 2", "5 4 3 2", "4 5 3 2"}, got) {
		t.Errorf("killed at %d, done %v: the order is %s", at, after, got)
	}
	if err := second.release(t.Context()); err != nil || marks(t, s) != nil {
		t.Errorf("killed at %d, done %v: %v, left %q", at, after, err, marks(t, s))
	}
	return n
}

// What Slurm refuses keeps nothing else from being done.
func TestOrderer_refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queue()
		s.Refuse = func(c string) string {
			if strings.HasPrefix(c, "update 5 ") {
				return "Access/permission denied"
			}
			return ""
		}
		r := orderer(t, s, config())
		if err := r.Round(t.Context()); err != nil {
			t.Error(err)
		}
		if _, refused := r.writer.refusals()[5]; !refused || s.Job(2).Nice == 0 {
			t.Errorf("refused %v, nice of job 2 %d: want that of job 5 refused, and job 2 moved", r.writer.refusals(), s.Job(2).Nice)
		}
	})
}
