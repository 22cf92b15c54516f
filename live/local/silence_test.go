package local

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// An agent that falls silent keeps what it has, while others wait: its job is taken for rigid,
// and for adaptive again once it speaks. That the waiting job then gets a GPU at its cost
// shows that the wait before was a test. Source: reliability, fault F7.
func TestSilent_agent_keeps_its_GPUs(t *testing.T) {
	t.Parallel()
	o := options(t, 4)
	o.Silence = time.Second
	s := newStage(t, o)
	id, a := s.elastic("quiet")
	await(t, "silence", func() bool { return s.job(id).Silent })
	other := s.shell(t, "other", "true", 1)
	if row := s.row(id); row.Adaptivity.Has(job.GPUCount) || row.GPUs != 4 {
		t.Errorf("silent: seen as %v of %d GPUs, want rigid of the 4 it has", row.Adaptivity, row.GPUs)
	}
	if l := s.job(id); l.Generation != 2 || len(l.Held) != 4 || !l.Up || len(s.job(other).Held) != 0 {
		t.Errorf("silent: generation %d on slots %v, the other on %v, want generation 2 on all", l.Generation, l.Held, s.job(other).Held)
	}
	a.must("report", honest(2, 1))
	if end := s.ended(other); end.Outcome.String() != "done" {
		t.Errorf("the other job ended %+v, want it done: the silent one speaks again and is adaptive", end)
	}
}

// One that was silent and is started again is adaptive from the start.
func TestSilent_agent_is_started_again(t *testing.T) {
	t.Parallel()
	o := options(t, 4)
	o.Silence = time.Second
	s := newStage(t, o)
	id, _ := s.elastic("quiet")
	await(t, "silence", func() bool { return s.job(id).Silent })
	s.strike(id, 0)
	s.up(id, 3)
	if row := s.row(id); !row.Adaptivity.Has(job.GPUCount) || row.GPUs != 1 {
		t.Errorf("seen as %v of %d GPUs, want as it was described", row.Adaptivity, row.GPUs)
	}
}

// elastic runs a job of 1 to 4 GPUs that has grown to 4, in generation 2, and its agent.
func (s *stage) elastic(name string) (job.ID, *agent) {
	s.t.Helper()
	spec := &job.Spec{GPUs: 1, MaxGPUs: 4, Adaptivity: job.StrongScaling}
	id := s.script(name, "exec sleep 1000", spec)
	a := s.agent(id)
	s.up(id, 1)
	a.must("hello", helloOf(1, 1))
	s.up(id, 2)
	a.must("hello", helloOf(2, 4))
	return id, a
}

// strike kills a worker of a job's planned generation, by its rank.
func (s *stage) strike(id job.ID, ranks ...int) {
	s.t.Helper()
	pids := workers(s.t, s.folder(id, s.job(id).Generation))
	for _, rank := range ranks {
		if err := kill9(pids[rank]); err != nil {
			s.t.Fatal(err)
		}
	}
	await(s.t, "the end of the generation", func() bool {
		state, err := supervisor.Look(s.folder(id, s.job(id).Generation))
		return err == nil && state.Phase == supervisor.Ended
	})
}
