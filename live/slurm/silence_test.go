package slurm

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A listener is a Backend whose log is kept.
type listener struct {
	*Backend
	slurm *slurmtest.Slurm
	log   bytes.Buffer
}

// listening is a Backend of two jobs that run, of which the first has a token. agents is its folder.
func listening(t *testing.T, agents string) *listener {
	l := &listener{slurm: twoNodes()}
	speaking(l.slurm, "ann", client.NewToken("ann"), 2)
	l.slurm.Submit(slurmtest.Ask{User: "ann", Comment: "oxgang:elastic;min=1;max=4", PerNode: 2, Work: hours})
	o := options(l.slurm)
	o.Agents, o.Log = agents, slog.New(slog.NewTextHandler(&l.log, nil))
	var err error
	if l.Backend, err = openBackend(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	l.after(t, 0)
	return l
}

// after lets time pass, with a look each second, and returns what is said of the jobs: the specifications that the
// scheduler is told last, by job, and the marks.
func (l *listener) after(t *testing.T, d time.Duration) (told map[job.ID]*job.Spec, silent []client.ID) {
	t.Helper()
	for range d/time.Second + 2 { // what is noticed is marked by the next look
		if err := l.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	told = map[job.ID]*job.Spec{}
	described, _ := heard(l.Backend)
	for _, spec := range described {
		told[spec.ID] = spec
	}
	for id := range client.ID(2) {
		if strings.Contains(l.slurm.Job(id+1).AdminComment, "silent") {
			silent = append(silent, id+1)
		}
	}
	return told, silent
}

// said returns how often the log says something.
func (l *listener) said(words string) int { return strings.Count(l.log.String(), words) }

// A program that never speaks is noticed once, and that is said in the log and in the mark of its job; it stays elastic, as
// a program without a client is. When it speaks, that is taken back.
func TestSilence_from_the_start(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t, "/shared/a")
		if _, silent := l.after(t, 9*time.Minute); silent != nil || l.said("sends no messages") > 0 {
			t.Errorf("after 9 minutes: %v silent, want none\n%s", silent, l.log.String())
		}
		told, silent := l.after(t, time.Hour)
		if len(silent) != 1 || silent[0] != 1 || l.said("sends no messages") != 1 || l.said("job=1 user=ann") != 1 || told["1"] != nil {
			t.Errorf("after an hour: %v silent, told %v, want that 1 is, once, and that it stays elastic\n%s", silent, told, l.log.String())
		}
		if _, err := l.agents().Hello(t.Context(), "1", hello(1, 2, nil)); err != nil {
			t.Fatal(err)
		}
		if _, silent := l.after(t, time.Second); silent != nil || l.said("sends messages again") != 1 {
			t.Errorf("when it speaks: %v silent, want none\n%s", silent, l.log.String())
		}
	})
}

// A program that spoke and falls silent keeps what it holds until it speaks again.
func TestSilence_after_words(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t, "/shared/a")
		if _, err := l.agents().Hello(t.Context(), "1", hello(1, 2, nil)); err != nil {
			t.Fatal(err)
		}
		for range 30 { // it reports
			told, silent := l.after(t, time.Minute)
			if spec := told["1"]; silent != nil || spec != nil && spec.Adaptivity&job.GPUCount == 0 {
				t.Fatalf("it speaks: %v silent, told %v", silent, told)
			}
			if _, err := l.agents().Report(t.Context(), "1", report(1, 64)); err != nil {
				t.Fatal(err)
			}
		}
		told, silent := l.after(t, 11*time.Minute)
		if spec := told["1"]; len(silent) != 1 || spec == nil || spec.Adaptivity&job.GPUCount != 0 || spec.GPUs != 2 {
			t.Errorf("silent for 11 minutes: %v silent, told %+v, want that it keeps 2 GPUs", silent, spec)
		}
		if _, err := l.agents().Report(t.Context(), "1", report(1, 128)); err != nil {
			t.Fatal(err)
		}
		told, silent = l.after(t, time.Second)
		if spec := told["1"]; silent != nil || spec == nil || spec.Adaptivity&job.GPUCount == 0 {
			t.Errorf("it speaks again: %v silent, told %+v, want that it is elastic", silent, spec)
		}
	})
}

// Where nobody is asked to speak, nobody is silent.
func TestSilence_of_whom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, silent := listening(t, "").after(t, time.Hour); silent != nil {
			t.Errorf("without an agent API %v are silent", silent)
		}
	})
	staged(t, func(t *testing.T, d *drama) { // no tokens
		time.Sleep(time.Hour)
		if m := d.slurm.Job(d.ids["a"]).AdminComment; strings.Contains(m, "silent") {
			t.Errorf("a job without a token has the mark %q", m)
		}
	})
}

// spoken opens a Backend whose programs with tokens speak to it, and which keeps what they say in a folder.
func spoken(t *testing.T, s *slurmtest.Slurm, folder reportStore) *Backend {
	t.Helper()
	o := options(s)
	o.Agents, o.Reports = "/share", folder
	w, err := openBackend(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// phaseOf returns the phase with which the scheduler hears first of the only job.
func phaseOf(t *testing.T, w *Backend) job.Phase {
	t.Helper()
	if err := w.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	ev, _, err := w.Take(time.Now())
	r, is := ev.(scheduler.Restored)
	if err != nil || !is {
		t.Fatalf("got %+v, %v, want a job that runs", ev, err)
	}
	return r.Status.Phase
}

// unheard fails if a job is said to train.
func unheard(t *testing.T, w *Backend) {
	t.Helper()
	if err := w.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, reported := heard(w); len(reported) > 0 {
		t.Errorf("%v is reported before anybody has said anything", reported)
	}
}

// A job whose program has a token is starting until the program says hello, or has said nothing for two minutes. Until then it is not known to
// train, so that no policy stops it for another size. The next scheduler knows that it has said hello.
func TestSilence_starts_until_hello(t *testing.T) {
	for _, says := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, folder := twoNodes(), reportStore(t.TempDir())
			w := spoken(t, s, folder)
			id := speaking(s, "ann", client.NewToken("ann"), 2)
			if got := phaseOf(t, w); got != job.Restoring {
				t.Fatalf("it is %v, want that it starts", got)
			}
			var err error
			if says {
				time.Sleep(time.Second)
				unheard(t, w)
				_, err = w.agents().Hello(t.Context(), jobID(id), hello(1, 2, nil))
			} else {
				time.Sleep(helloWithin - time.Second)
				unheard(t, w)
				time.Sleep(time.Second)
				err = w.pass(t.Context())
			}
			if _, reported := heard(w); err != nil || len(reported) != 1 {
				t.Errorf("%v reported, %v, want that it trains, once", reported, err)
			}
			if says {
				if got := phaseOf(t, spoken(t, s, folder)); got != job.Running {
					t.Errorf("to the next scheduler it is %v, want that it trains", got)
				}
			}
		})
	}
}

// The same of a job that the scheduler starts.
func TestSilence_planned_starts_until_hello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := twoNodes()
		w := spoken(t, s, "")
		digest := client.Digest(client.NewToken("ann"))
		id := s.Submit(slurmtest.Ask{User: "ann", Comment: "oxgang:elastic;min=1;max=4;token=" + digest, PerNode: 2, Work: hours, Begin: time.Minute})
		passed(t, w) // it is held
		passed(t, w)
		if err := w.Do(t.Context(), []scheduler.Action{scheduler.Run{
			Job: jobID(id), Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}},
			Placement: cluster.Placement{{Node: "n1", Resources: cluster.Resources{GPUs: 2}}},
		}}); err != nil {
			t.Fatal(err)
		}
		for s.Job(id).State != client.Running {
			time.Sleep(10 * time.Second)
			unheard(t, w)
		}
		unheard(t, w)
		if _, err := w.agents().Hello(t.Context(), jobID(id), hello(s.Job(id).Restarts+1, 2, nil)); err != nil {
			t.Fatal(err)
		}
		if _, reported := heard(w); len(reported) != 1 {
			t.Errorf("%v reported, want that it trains, once", reported)
		}
	})
}
