package external_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/lab/external"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/scheduler"
)

// A process is the other side, in this one: what is written to it is a question, and what is read the
// answer.
type process struct {
	t       *testing.T
	answer  func(*external.Question) string
	left    bytes.Buffer
	answers bytes.Buffer
	asked   []external.Question
}

// Write takes a part of a line.
func (p *process) Write(b []byte) (int, error) {
	p.left.Write(b)
	for bytes.ContainsRune(p.left.Bytes(), '\n') {
		line, _ := p.left.ReadBytes('\n')
		var q external.Question
		if err := json.Unmarshal(line, &q); err != nil {
			p.t.Errorf("question %q: %v", line, err)
		}
		p.asked = append(p.asked, q)
		p.answers.WriteString(p.answer(&q) + "\n")
	}
	return len(b), nil
}

// Read returns what was answered.
func (p *process) Read(b []byte) (int, error) { return p.answers.Read(b) }

// newest answers that the jobs that came last are first, each with what its place says.
func newest(q *external.Question) string {
	var a external.Answer
	for i := range slices.Backward(q.Jobs) {
		g := external.Grant{ID: q.Jobs[i].ID}
		if i%3 > 0 {
			n := i % 5
			g.GPUs = &n
		}
		if i%2 > 0 && len(q.GPUs) > 0 {
			g.Type = q.GPUs[i%len(q.GPUs)].Type
		}
		a.Jobs = append(a.Jobs, g)
	}
	text, _ := json.Marshal(a) // a struct of texts and numbers
	return string(text)
}

func asking(t *testing.T, answer func(*external.Question) string) (*external.Policy, *process) {
	t.Helper()
	p := &process{t: t, answer: answer}
	return external.New(p, p, new(external.Meter), func() {}), p
}

// Whatever is answered, plans keep the rules of every policy.
func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy {
		p, _ := asking(t, newest)
		return p
	})
}

func two(t *testing.T) *policy.Snapshot {
	t.Helper()
	c, err := cluster.New([]cluster.Node{
		{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}, {ID: "n1", GPUType: "a100", Capacity: cluster.Resources{GPUs: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: policytest.Epoch, Length: time.Minute, Cluster: c}
	for _, spec := range []job.Spec{
		{ID: "rigid", GPUs: 2, Adaptivity: job.Rigid},
		{ID: "elastic", GPUs: 1, MinGPUs: 1, MaxGPUs: 4, Adaptivity: job.StrongScaling},
	} {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &spec, Status: job.Status{Phase: job.Waiting, Submitted: policytest.Epoch.Add(-time.Second)}})
	}
	return s
}

// What an answer says is what jobs get, in its order and as far as there is room.
func TestPlan(t *testing.T) {
	for _, test := range []struct{ answer, rigid, elastic string }{
		{`{"jobs":[]}`, "0", "0"},
		{`{"jobs":[{"id":"elastic","gpus":4,"type":"t4"},{"id":"rigid","type":"t4"}]}`, "0", "4 t4"},
		{`{"jobs":[{"id":"rigid","type":"t4"},{"id":"elastic","gpus":4,"type":"t4"}]}`, "2 t4", "0"},
		{`{"jobs":[{"id":"rigid","type":"t4"},{"id":"elastic","gpus":4}]}`, "2 t4", "4 a100"},
		{`{"jobs":[{"id":"elastic","gpus":99,"type":"a100"},{"id":"rigid","gpus":1}]}`, "0", "4 a100"},
		{`{"jobs":[{"id":"elastic","gpus":0},{"id":"rigid","gpus":3,"type":"a100"}]}`, "2 a100", "0"},
	} {
		p, _ := asking(t, func(*external.Question) string { return test.answer })
		s := two(t)
		plan, err := p.Plan(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", test.answer, err)
			continue
		}
		for i, want := range []string{test.rigid, test.elastic} {
			d := &plan.Jobs[i]
			got := strings.TrimSpace(strings.Join([]string{itoa(d.Allocation.GPUs), string(d.Allocation.GPUType)}, " "))
			if got != want {
				t.Errorf("%s: job %s has %s, want %s", test.answer, s.Jobs[i].ID, got, want)
			}
		}
		if err := policy.Check(s, plan); err != nil {
			t.Errorf("%s: %v", test.answer, err)
		}
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

// A question says what the answer may be about.
func TestQuestion(t *testing.T) {
	p, other := asking(t, func(*external.Question) string { return `{"jobs":[]}` })
	if _, err := p.Plan(t.Context(), two(t)); err != nil {
		t.Fatal(err)
	}
	q := other.asked[0]
	if diff := cmp.Diff([]external.GPUs{{"t4", 4, 4}, {"a100", 4, 4}}, q.GPUs); diff != "" {
		t.Error(diff)
	}
	want := []external.Sizes{{"t4", 1, 4, 1}, {"a100", 1, 4, 1}}
	if j := q.Jobs[1]; j.ID != "elastic" || j.Submitted != -1 || j.Requested != 1 || j.Fixed || cmp.Diff(want, j.Sizes) != "" {
		t.Errorf("job %+v", j)
	}
}

// An answer that names what there is not, or is none, ends the exchange: nothing is asked after it.
func TestPlan_errors(t *testing.T) {
	for answer, want := range map[string]string{
		`{"jobs":[{"id":"x"}]}`:                    `jobs[0]: there is no active job "x"`,
		`{"jobs":[{"id":"rigid"},{"id":"rigid"}]}`: "jobs[1]: job rigid is listed twice",
		`{"jobs":[{"id":"rigid","gpus":-1}]}`:      "jobs[0]: -1 GPUs, want at least 0",
		`{"jobs":[{"id":"rigid","type":"v100"}]}`:  `jobs[0]: GPU type "v100" is not in the cluster`,
		`{"jobs":[{"id":"rigid","gpu":1}]}`:        `unknown field "gpu"`,
		`{"jobs":[{"id":"rigid","gpus":1.5}]}`:     "answer: json: cannot unmarshal number 1.5",
		`order`:                                    "answer: invalid character",
		"":                                         "no answer: the other process closed the connection",
	} {
		p := &process{t: t, answer: func(*external.Question) string { return answer }}
		failed := 0
		e := external.New(p, p, new(external.Meter), func() { failed++ })
		for range 2 {
			if _, err := e.Plan(t.Context(), two(t)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %v, want %q", answer, err, want)
			}
		}
		if failed != 1 || len(p.asked) != 1 || e.Err() == nil {
			t.Errorf("%q: fail was called %d times and %d questions were asked, want 1 and 1", answer, failed, len(p.asked))
		}
	}
}

// Job-seconds are counted from submission to the end of a job, once each.
func TestMeter(t *testing.T) {
	at := func(s int) time.Time { return policytest.Epoch.Add(time.Duration(s) * time.Second) }
	var m external.Meter
	m.Event(at(0), scheduler.Submitted{Spec: &job.Spec{ID: "a"}})
	m.Event(at(10), scheduler.Submitted{Spec: &job.Spec{ID: "b"}})
	if got := m.Take(at(20)); got != 30 {
		t.Errorf("%v job-seconds, want 10 of one job and 10 of two", got)
	}
	m.Event(at(25), scheduler.Exited{Job: "a", Outcome: scheduler.Lost})
	m.Event(at(30), scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	m.Event(at(40), scheduler.Exited{Job: "b", Outcome: scheduler.Done})
	m.Event(at(90), scheduler.Submitted{Spec: &job.Spec{ID: "c"}})
	if got := m.Rest(); got != 30 {
		t.Errorf("%v job-seconds, want 10 of two jobs and 10 of one", got)
	}
}
