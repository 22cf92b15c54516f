package slurm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// speaking submits a job of a user of which a program speaks with a token.
func speaking(s *slurmtest.Slurm, user, text string, gpus int) client.ID {
	comment := "oxgang:elastic;min=1;max=4;token=" + client.Digest(text)
	return s.Submit(slurmtest.Ask{User: user, Comment: comment, PerNode: gpus, Work: hours})
}

// hello is what a start of a program says first.
func hello(generation, workers int, restored *agentapi.Restored) *agentapi.Hello {
	return &agentapi.Hello{
		Version: 1, Client: "test", Generation: generation, WorldSize: workers, Batch: agentapi.BatchLimits{Init: 64, Max: 64, LocalMax: 32},
		Samples: 5000, Epochs: 5, Restored: restored,
	}
}

// report is of so many samples.
func report(generation int, progress float64) *agentapi.Report {
	return &agentapi.Report{Generation: generation, Sequence: 1, Step: 1, Progress: progress, Batch: agentapi.Batch{Local: 32}, StepTime: 0.1, SyncTime: 0.01}
}

// heard returns the events that the scheduler has not taken, and takes them.
func heard(w *Backend) (described []*job.Spec, reported []job.Report) {
	for {
		ev, _, err := w.Take(time.Now().Add(time.Hour))
		if ev == nil || err != nil {
			return described, reported
		}
		switch ev := ev.(type) {
		case scheduler.Described:
			described = append(described, ev.Spec)
		case scheduler.Reported:
			reported = append(reported, ev.Report)
		}
	}
}

// A program is known by its token alone, and only as long as its job lives.
func TestAgents_tokens(t *testing.T) {
	s := twoNodes()
	anns, bobs, twice := client.NewToken("ann"), client.NewToken("bob"), client.NewToken("carl")
	ann, bob := speaking(s, "ann", anns, 1), speaking(s, "bob", bobs, 1)
	speaking(s, "bob", anns, 1) // he copies what he can read of ann's
	speaking(s, "carl", twice, 1)
	speaking(s, "carl", twice, 1)
	w := open(t, s)
	anotherUser := strings.Replace(anns, strings.Split(anns, ".")[1], strings.Split(bobs, ".")[1], 1)
	for name, test := range map[string]struct {
		token string
		want  client.ID
	}{
		"ann's":             {anns, ann},
		"bob's":             {bobs, bob},
		"none":              {"", 0},
		"another":           {client.NewToken("ann"), 0},
		"a digest":          {client.Digest(anns), 0},
		"of another user":   {anotherUser, 0},
		"of two jobs":       {twice, 0},
		"cut off":           {anns[:len(anns)-1], 0},
		"with another word": {anns + " x", 0},
	} {
		id, err := w.agents().Job(t.Context(), test.token)
		if test.want == 0 && !errors.Is(err, agentapi.ErrUnknown) || test.want != 0 && id != job.ID(test.want.String()) {
			t.Errorf("%s: got job %q, %v, want %v", name, id, err, test.want)
		}
	}
	if err := errors.Join(s.Cancel(t.Context(), ann), w.pass(t.Context())); err != nil {
		t.Fatal(err)
	}
	if id, err := w.agents().Job(t.Context(), anns); !errors.Is(err, agentapi.ErrUnknown) {
		t.Errorf("a job that was cancelled: got %q, %v, want that it is not known", id, err)
	}
}

// What a program says becomes the job's specification and progress; of a start that is over, or was not seen
// yet, nothing is taken.
func TestAgents_messages(t *testing.T) {
	s := twoNodes()
	id := speaking(s, "ann", client.NewToken("ann"), 2)
	w := open(t, s)
	a, name := w.agents(), job.ID(id.String())
	heard(w)
	if _, err := a.Report(t.Context(), name, report(1, 64)); err != nil {
		t.Fatal(err)
	}
	if _, reported := heard(w); len(reported) > 0 {
		t.Errorf("a report in a unit that nobody has said: %v is reported, want nothing", reported)
	}
	if _, err := a.Hello(t.Context(), name, hello(1, 1, nil)); !errors.Is(err, agentapi.ErrInvalid) {
		t.Errorf("one worker on two GPUs: got %v, want that it is invalid", err)
	}
	welcome, err := a.Hello(t.Context(), name, hello(1, 2, nil))
	if err != nil || welcome.ReportSeconds != 30 || len(welcome.Profile) == 0 {
		t.Fatalf("got %+v, %v, want a report each 30 s, and batch sizes to try", welcome, err)
	}
	if _, err := a.Report(t.Context(), name, report(1, 128)); err != nil {
		t.Fatal(err)
	}
	described, reported := heard(w)
	if len(described) != 1 || described[0].Target != 5000 || described[0].Timed || described[0].Batch.LocalMax["a100"] != 32 {
		t.Errorf("described as %+v, want 5000 samples, of which 32 fit on an a100", described)
	}
	if n := len(reported); n == 0 || reported[n-1].Progress != 128 || reported[n-1].Configuration.GPUs != 2 {
		t.Errorf("reported is %+v, want 128 samples on two GPUs", reported)
	}
	for generation, want := range map[int]error{0: agentapi.ErrGeneration, 2: agentapi.ErrLater} {
		if _, err := a.Report(t.Context(), name, report(generation, 1e6)); !errors.Is(err, want) {
			t.Errorf("start %d: got %v, want %v", generation, err, want)
		}
	}
	if err := errors.Join(s.Requeue(t.Context(), id), w.pass(t.Context())); err != nil {
		t.Fatal(err)
	}
	for generation, want := range map[int]error{1: agentapi.ErrGeneration, 2: agentapi.ErrLater} { // it waits
		_, err := a.Hello(t.Context(), name, hello(generation, 2, nil))
		if err2 := a.Checkpoint(t.Context(), name, &agentapi.Checkpoint{Generation: generation}); !errors.Is(err, want) || !errors.Is(err2, want) {
			t.Errorf("requeued, start %d: got %v and %v, want %v", generation, err, err2, want)
		}
	}
}

// A start that is to end hears so in the answer to its report, once its mark says that the scheduler stops it.
func TestAgents_notice(t *testing.T) {
	s := twoNodes()
	id := speaking(s, "ann", client.NewToken("ann"), 2)
	w := open(t, s)
	a, name := w.agents(), job.ID(id.String())
	if _, err := a.Hello(t.Context(), name, hello(1, 2, nil)); err != nil {
		t.Fatal(err)
	}
	heard(w)
	for _, stage := range []struct {
		name string
		do   func() error
		told bool
	}{
		{"it runs as planned", func() error { return nil }, false},
		{"it was preempted, and has no mark", func() error { return w.Do(t.Context(), []scheduler.Action{scheduler.Preempt{Job: name}}) }, false},
		{"it has the mark", func() error { return w.pass(t.Context()) }, true},
	} {
		if err := stage.do(); err != nil {
			t.Fatal(err)
		}
		answer, err := a.Report(t.Context(), name, report(1, 128))
		if err != nil || (answer.Notice != nil) != stage.told {
			t.Errorf("%s: got %+v, %v, want a notice: %v", stage.name, answer, err, stage.told)
		}
	}
	if mark := s.Job(id).AdminComment; !strings.Contains(mark, "stop") {
		t.Errorf("its mark is %q, want that it is being stopped", mark)
	}
	heard(w)
	if _, err := a.Report(t.Context(), name, report(1, 1024)); err != nil {
		t.Fatal(err)
	}
	if _, reported := heard(w); len(reported) > 0 {
		t.Errorf("%+v is reported of a start that has lost its GPUs", reported)
	}
}

// A job's mark says where the agent API is, also that of a job which ran before there was one.
func TestAgents_mark(t *testing.T) {
	s := twoNodes()
	id := speaking(s, "ann", client.NewToken("ann"), 2)
	for _, folder := range []string{"/shared/a", "", "/shared/b"} {
		o := options(s)
		o.Agents = folder
		w, err := openBackend(t.Context(), o)
		if err == nil {
			err = w.pass(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if m, err := client.ParseMark(s.Job(id).AdminComment); err != nil || m.Agents != folder {
			t.Errorf("its mark is %+v, %v, want the folder %q", m, err, folder)
		}
	}
}

// The next scheduler knows what programs have said, and not of another job with the number of an earlier one.
func TestAgents_next_scheduler(t *testing.T) {
	s, folder := twoNodes(), reportStore(t.TempDir())
	text := client.NewToken("ann")
	id := speaking(s, "ann", text, 2)
	name := job.ID(id.String())
	begin := func(s *slurmtest.Slurm) (*Backend, *scheduler.Restored) {
		o := options(s)
		o.Reports = folder
		w, err := openBackend(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for {
			ev, _, err := w.Take(time.Now().Add(time.Hour))
			if err != nil || ev == nil {
				t.Fatalf("no job: %v", err)
			}
			if r, ok := ev.(scheduler.Restored); ok {
				return w, &r
			}
		}
	}
	first, _ := begin(s)
	saved := &agentapi.Checkpoint{Generation: 1, Progress: 640, Epoch: 1}
	if _, err := first.agents().Hello(t.Context(), name, hello(1, 2, nil)); err != nil {
		t.Fatal(err)
	}
	if err := first.agents().Checkpoint(t.Context(), name, saved); err != nil {
		t.Fatal(err)
	}
	next, r := begin(s)
	if r.Spec.Target != 5000 || r.Status.Progress != 640 || r.Status.Epoch != 1 {
		t.Errorf("restored is %+v with %+v, want 640 of 5000 samples", r.Spec, r.Status)
	}
	if _, err := next.agents().Report(t.Context(), name, report(1, 704)); err != nil {
		t.Fatal(err)
	}
	if _, reported := heard(next); len(reported) != 1 || reported[0].Progress != 704 {
		t.Errorf("reported is %+v, want 704 samples", reported)
	}
	again := twoNodes() // its state is lost, so numbers begin again
	speaking(again, "ann", client.NewToken("ann"), 2)
	if _, r := begin(again); r.Spec.Target == 5000 || r.Status.Progress != 0 {
		t.Errorf("another job is restored as %+v with %+v", r.Spec, r.Status)
	}
}

// A hello tells from where a job goes on, whatever was reported before.
func TestAgents_goes_back(t *testing.T) {
	s := twoNodes()
	id := speaking(s, "ann", client.NewToken("ann"), 2)
	w := open(t, s)
	a, name := w.agents(), job.ID(id.String())
	w.Round(&policy.Snapshot{}, nil, nil)
	for _, h := range []*agentapi.Hello{hello(1, 2, nil), hello(1, 2, &agentapi.Restored{Step: 3, Progress: 96})} {
		heard(w)
		if _, err := a.Report(context.Background(), name, report(1, 128)); err != nil {
			t.Fatal(err)
		}
		heard(w)
		if _, err := a.Hello(context.Background(), name, h); err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if h.Restored != nil {
			want = h.Restored.Progress
		}
		if _, reported := heard(w); len(reported) != 1 || reported[0].Progress != want {
			t.Errorf("reported is %+v, want %v samples", reported, want)
		}
	}
}

// A job that has the number of another one, since Slurm lost its state, has another ID, has done nothing yet, and is
// not stopped for what was planned for that one. The token of that one is not heard any more.
func TestAgents_number_again(t *testing.T) {
	s, anns, bobs := twoNodes(), client.NewToken("ann"), client.NewToken("bob")
	speaking(s, "ann", anns, 2)
	w := open(t, s)
	if _, err := w.agents().Hello(t.Context(), "1", hello(1, 2, nil)); err != nil {
		t.Fatal(err)
	}
	if err := w.agents().Checkpoint(t.Context(), "1", &agentapi.Checkpoint{Generation: 1, Progress: 500}); err != nil {
		t.Fatal(err)
	}
	heard(w)
	s.LoseState()
	speaking(s, "bob", bobs, 4)
	var told []scheduler.Event
	for range 3 {
		if err := w.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		for ev, _, _ := w.Take(time.Now().Add(time.Hour)); ev != nil; ev, _, _ = w.Take(time.Now().Add(time.Hour)) {
			told = append(told, ev)
		}
	}
	if len(told) != 2 {
		t.Fatalf("told %+v, want an end and a job", told)
	}
	if end, ok := told[0].(scheduler.Exited); !ok || end.Job != "1" || end.Outcome != scheduler.Cancelled {
		t.Errorf("first %+v, want the end of 1", told[0])
	}
	if r, ok := told[1].(scheduler.Restored); !ok || r.Spec.ID != "1~2" || r.Status.Progress != 0 || r.Status.Allocation.GPUs != 4 {
		t.Errorf("then %+v, want 1~2, which has done nothing", told[1])
	}
	if m := s.Job(1).AdminComment; strings.Contains(m, "stop") {
		t.Errorf("its mark is %q: it is being stopped", m)
	}
	if id, err := w.agents().Job(t.Context(), bobs); id != "1~2" || err != nil {
		t.Errorf("bob's token is of %q, %v, want 1~2", id, err)
	}
	if _, err := w.agents().Job(t.Context(), anns); !errors.Is(err, agentapi.ErrUnknown) {
		t.Errorf("ann's token: %v, want that it is not known", err)
	}
}

// A job whose starts and submission are earlier than they were, as after slurmctld was killed and read an older state, is the
// same job.
func TestAgents_older_state(t *testing.T) {
	s := twoNodes()
	speaking(s, "ann", client.NewToken("ann"), 2)
	w := open(t, s)
	heard(w)
	seen := &w.numbers[1].observed
	seen.Restarts, seen.Submit = seen.Restarts+2, seen.Submit.Add(time.Hour)
	if err := w.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ev, _, err := w.Take(time.Now().Add(time.Hour)); ev != nil || err != nil {
		t.Errorf("told %+v, %v, want nothing", ev, err)
	}
}

// The start of a job that Slurm started itself is measured, too, as what a restart costs: but of no job that has run for long when it is first seen,
// and not by a scheduler that comes later.
func TestAgents_measure_a_start(t *testing.T) {
	for _, c := range []struct {
		name        string
		known, says time.Duration // from its start until the scheduler knows it, and until its program says hello
		there       bool          // before the scheduler
		want        time.Duration
	}{
		{"started by Slurm", 0, 17 * time.Second, false, 17 * time.Second},
		{"takes part later", time.Hour, time.Hour + time.Second, false, restart},
		{"of an earlier scheduler", 0, 17 * time.Second, true, restart},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := twoNodes()
				begin := func() job.ID {
					id := speaking(s, "ann", client.NewToken("ann"), 2)
					time.Sleep(c.known)
					return jobID(id)
				}
				var id job.ID
				if c.there {
					id = begin()
				}
				w := open(t, s)
				if !c.there {
					id = begin()
					passed(t, w)
				}
				time.Sleep(c.says - c.known)
				heard(w)
				if _, err := w.agents().Hello(t.Context(), id, hello(1, 2, nil)); err != nil {
					t.Fatal(err)
				}
				if described, _ := heard(w); len(described) != 1 || described[0].RestartOverhead != c.want {
					t.Errorf("described as %+v, want a restart of %v", described, c.want)
				}
			})
		})
	}
}
