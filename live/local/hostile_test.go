package local

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// lies are what an agent says that is wrong, after an honest report of sequence 2 in
// generation 1, and what it is told.
var lies = []struct {
	name, what, body string
	status           int
}{
	{"NaN", "report", with(honest(1, 3), `"step_time":0.01`, `"step_time":NaN`), 400},
	{"1e308", "report", with(honest(1, 3), `"step_time":0.01`, `"step_time":1e308`), 400},
	{"1e999", "report", with(honest(1, 3), `"step_time":0.01`, `"step_time":1e999`), 400},
	{"negative", "report", with(honest(1, 3), `"step_time":0.01`, `"step_time":-0.01`), 400},
	{"progress 1e308", "report", with(honest(1, 3), `"progress":192000`, `"progress":1e308`), 400},
	{"steps backwards", "report", with(honest(1, 3), `"step":3000`, `"step":1`), 400},
	{"progress backwards", "report", with(honest(1, 3), `"progress":192000`, `"progress":1`), 400},
	{"more exchange than step", "report", with(honest(1, 3), `"sync_time":0`, `"sync_time":9`), 400},
	{"another job", "report", with(honest(1, 3), `{`, `{"job":"honest",`), 400},
	{"twice", "report", with(honest(1, 3), `{`, `{"sequence":9,`), 400},
	{"huge", "report", with(honest(1, 3), `{`, `{"x":"`+strings.Repeat("x", 70<<10)+`",`), 413},
	{"replayed", "report", with(honest(1, 2), `"step_time":0.01`, `"step_time":9`), 200},
	{"an old generation", "report", honest(0, 3), 400},
	{"a later generation", "report", honest(2, 3), 409},
	{"more workers", "hello", helloOf(1, 64), 400},
	{"no batch", "hello", with(helloOf(1, 1), `"init":64`, `"init":-64`), 400},
	{"hello again", "hello", helloOf(1, 1), 200},
	{"a checkpoint elsewhere", "checkpoint", `{"generation":1,"step":5,"progress":320,"epoch":0,"bytes":4,"seconds":0,"path":"../honest","checksum":"` + checksum + `"}`, 400},
}

// Nothing that a hostile agent says reaches what is believed of its job, or touches another;
// what is refused is counted. Source: reliability, fault F8.
func TestHostile_agent(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 2))
	good, _ := s.speaks("honest")
	bad, a := s.speaks("hostile")
	before := s.beliefs(good, bad)
	refused := int64(0)
	for _, lie := range lies {
		status, text := a.patient(lie.what, lie.body)
		if status != lie.status {
			t.Errorf("%s: got %d %s, want %d", lie.name, status, text, lie.status)
		}
		if status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge {
			refused++
		}
	}
	a.token += "x"
	if status, _ := a.say("report", honest(1, 3)); status != http.StatusUnauthorized {
		t.Errorf("another token: got %d, want 401", status)
	}
	if differ := before.differ(s.beliefs(good, bad)); differ != "" {
		t.Error(differ)
	}
	all := s.api.Quarantined()
	if q, touched := all[good]; all[bad].Count != refused || touched {
		t.Errorf("%d messages in quarantine, want the %d refused; of the honest one %+v, want none", all[bad].Count, refused, q)
	}
}

// A generation that is over is not listened to any more.
func TestHostile_old_generation(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 4))
	id, a := s.elastic("job")
	a.must("report", honest(2, 1))
	before := s.beliefs(id)
	for _, m := range [][2]string{{"hello", helloOf(1, 1)}, {"report", honest(1, 9)}} {
		if status, text := a.say(m[0], m[1]); status != http.StatusConflict {
			t.Errorf("%s of generation 1: got %d %s, want 409", m[0], status, text)
		}
	}
	if differ := before.differ(s.beliefs(id)); differ != "" {
		t.Error(differ)
	}
}

// 10,000 reports in a burst are answered with 429, but for as many as the limits let pass,
// and the other job is heard meanwhile.
func TestHostile_burst(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 2))
	good, honestly := s.speaks("honest")
	bad, a := s.speaks("hostile")
	before := s.beliefs(bad)
	lie := with(honest(1, 3), `"step_time":0.01`, `"step_time":-1`)
	var senders sync.WaitGroup
	began, slowest := time.Now(), time.Duration(0)
	for range 4 {
		senders.Go(func() {
			for range 2500 {
				if status, _ := a.say("report", lie); status != http.StatusBadRequest && status != http.StatusTooManyRequests {
					t.Errorf("got %d, want 400 or 429", status)
				}
			}
		})
	}
	for i := range 5 {
		sent := time.Now()
		honestly.must("report", honest(1, 3+i))
		slowest = max(slowest, time.Since(sent))
	}
	senders.Wait()
	o := agentapi.DefaultOptions()
	most := int64(float64(o.Burst) + o.Rate*time.Since(began).Seconds() + 1)
	if n := s.api.Quarantined()[bad].Count; n < 1 || n > most {
		t.Errorf("%d messages came through to quarantine, want 1 to %d", n, most)
	}
	if differ := before.differ(s.beliefs(bad)); differ != "" {
		t.Error(differ)
	}
	if got := s.row(good).Status.Progress; got != 7*64000 || slowest > 2*time.Second {
		t.Errorf("the honest job's progress is %v, want %v; its slowest report took %v, want at most 2 s", got, 7*64000, slowest)
	}
	t.Logf("10,000 reports in %v, the other job's slowest in %v", time.Since(began), slowest)
}

// An honest report, by contrast, does reach what is believed; so does a hostile one that no
// boundary has seen get stopped, by the next.
func TestBeliefs_see_reports(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 1))
	id, a := s.speaks("job")
	before := s.beliefs(id)
	unchecked := &agentapi.Report{Generation: 1, Sequence: 3, Batch: agentapi.Batch{Local: 64}, StepTime: 1e308, Interval: 10}
	if _, err := s.Agents().Report(t.Context(), id, unchecked); err == nil || before.differ(s.beliefs(id)) != "" {
		t.Errorf("a step of 1e308 s was taken in: %v", err)
	}
	a.must("report", with(honest(1, 3), `"step_time":0.01`, `"step_time":0.02`))
	if before.differ(s.beliefs(id)) == "" {
		t.Error("steps twice as long change nothing: the comparison cannot fail")
	}
}

// speaks runs a job on one GPU and its agent, which has reported twice.
func (s *stage) speaks(name string) (job.ID, *agent) {
	s.t.Helper()
	id := s.shell(s.t, name, "exec sleep 1000", 1)
	a := s.agent(id)
	s.up(id, 1)
	a.must("hello", helloOf(1, 1))
	a.must("report", honest(1, 1))
	a.must("report", honest(1, 2))
	return id, a
}

// patient says it again while it is told to wait.
func (a *agent) patient(what, body string) (status int, text string) {
	a.t.Helper()
	await(a.t, "an answer", func() bool {
		status, text = a.say(what, body)
		return status != http.StatusTooManyRequests
	})
	return status, text
}

// beliefs are how the scheduler sees jobs.
type beliefs map[job.ID]*policy.Job

func (s *stage) beliefs(ids ...job.ID) beliefs {
	s.t.Helper()
	b := make(beliefs)
	for _, id := range ids {
		b[id] = s.row(id)
		if b[id] == nil || b[id].Perf == nil {
			s.t.Fatalf("job %s: nothing is believed of it", id)
		}
	}
	return b
}

// differ says of which job something else is believed now: its model, its limits, how it
// is doing; empty: of none.
func (b beliefs) differ(now beliefs) string {
	for id, was := range b {
		if !reflect.DeepEqual(was, now[id]) {
			return fmt.Sprintf("job %s: believed %+v of it, before %+v", id, now[id], was)
		}
	}
	return ""
}
