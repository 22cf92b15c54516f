// Package controltest has a simulated scheduler of one machine, whose jobs do what a test prescribes. Post sends
// messages to a real one, as the Python client does.
package controltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A Machine is a control.Service for tests, which runs no jobs. It is safe for concurrent use.
type Machine struct {
	dir string // of logs

	mu           sync.Mutex
	now          time.Time
	jobs         []*status.Job
	requests     []control.Request
	status       status.Status // without jobs
	explanations map[job.ID]*control.Explanation
	changed      chan struct{} // closed, and replaced, when a job is submitted
}

var _ control.Service = (*Machine)(nil)

// New returns a machine with four slots of one h200 each, 16 cores and 64 GiB, at time now. It writes logs to dir.
func New(dir string, now time.Time) *Machine {
	m := &Machine{dir: dir, now: now, explanations: make(map[job.ID]*control.Explanation), changed: make(chan struct{}), status: status.Status{
		Backend: status.Machine, Title: "gpu7", Policy: "sia",
		Queues: []status.Queue{{Policy: "sia", Round: 41, GPUs: 4}}, GPUs: []status.GPUs{{Type: "h200", Total: 4}},
		Nodes: []status.Node{{Name: "gpu7", Type: "h200", GPUs: 4, CPUs: status.Amount{Total: 16}, Memory: status.Amount{Total: 64 << 30}}},
	}}
	for i := range 4 {
		m.status.Nodes[0].Slots = append(m.status.Nodes[0].Slots, status.Slot{Index: i, Type: "h200", Visible: strconv.Itoa(i)})
	}
	return m
}

// Submit accepts a job, which waits.
func (m *Machine) Submit(_ context.Context, r *control.Request) (job.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := unique(r.Name, func(id job.ID) bool { return m.find(id) != nil })
	m.requests = append(m.requests, *r)
	m.jobs = append(m.jobs, &status.Job{
		ID: id, Name: r.Name, Phase: job.Waiting.String(), MinGPUs: r.GPUs.Min, MaxGPUs: r.GPUs.Max,
		Target: r.Samples, Batch: r.Batch, Submitted: m.now, Command: r.Command,
		Reason: "no-round", Sentence: "the next round decides on it",
	})
	close(m.changed)
	m.changed = make(chan struct{})
	return id, nil
}

// Prune reports 8 KiB of deleted logs, or 0 if r has no limit for logs.
func (m *Machine) Prune(_ context.Context, r *control.PruneRequest) ([]statedir.Amount, error) {
	a := statedir.Amount{Category: statedir.Logs, Count: 1, Bytes: 8 << 10}
	if _, other := r.Keep[statedir.Logs]; other {
		a = statedir.Amount{Category: statedir.Logs}
	}
	return []statedir.Amount{a}, nil
}

// Await waits until there is a job with this ID, or ctx ends.
func (m *Machine) Await(ctx context.Context, id job.ID) error {
	for {
		m.mu.Lock()
		found, changed := m.find(id) != nil, m.changed
		m.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Status returns the state of the machine, with copies of the jobs.
func (m *Machine) Status(all bool) *status.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status
	s.At = time.Now()
	for _, v := range m.jobs {
		switch {
		case !v.HasEnded():
			s.Jobs = append(s.Jobs, *v)
		case all:
			s.Ended = append(s.Ended, *v)
		}
	}
	return &s
}

// Node returns the machine's GPUs, cores and memory.
func (m *Machine) Node() status.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status.Nodes[0]
}

// Job returns a copy of one job.
func (m *Machine) Job(id job.ID) (status.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.find(id)
	if v == nil {
		return status.Job{}, m.unknown(id)
	}
	return *v, nil
}

// Explain returns the explanation that SetExplanation has stored, or else the sentence of the job.
func (m *Machine) Explain(_ context.Context, id job.ID) (*control.Explanation, error) {
	v, err := m.Job(id)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	explanation := m.explanations[id]
	m.mu.Unlock()
	if explanation != nil {
		return explanation, nil
	}
	story, err := json.Marshal(map[string]string{"job": string(id), "policy": "sia"})
	return &control.Explanation{Text: fmt.Sprintf("%s is %s: %s\n", id, v.Phase, v.Sentence), Story: story}, err
}

// Log writes the text that Say has added.
func (m *Machine) Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error {
	if _, err := m.Job(id); err != nil {
		return err
	}
	ended := func() bool {
		v, err := m.Job(id)
		return err != nil || v.HasEnded()
	}
	return (&control.Tail{Path: m.log(id), Ended: ended}).Copy(ctx, lines, follow, w)
}

// Cancel ends a job.
func (m *Machine) Cancel(_ context.Context, id job.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.find(id)
	switch {
	case v == nil:
		return m.unknown(id)
	case v.HasEnded():
		return control.TooLate("job %s: it has ended already (%s)", id, v.Outcome)
	}
	m.end(v, job.Cancelled, job.Cancelled.String(), "")
	return nil
}

// Retry adds a job with the same request as a failed one.
func (m *Machine) Retry(_ context.Context, id job.ID) (job.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.find(id)
	switch {
	case v == nil:
		return "", m.unknown(id)
	case v.Outcome != "failed":
		return "", control.TooLate("job %s: it has not failed", id)
	}
	return id + "-again", nil
}

// Change changes an existing job.
func (m *Machine) Change(id job.ID, f func(*status.Job)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.find(id))
}

// End ends a job at the machine's time.
func (m *Machine) End(id job.ID, phase job.Phase, outcome, detail string) {
	m.Change(id, func(v *status.Job) { m.end(v, phase, outcome, detail) })
}

func (m *Machine) end(v *status.Job, phase job.Phase, outcome, detail string) {
	v.Phase, v.Outcome, v.Detail, v.Finished = phase.String(), outcome, detail, m.now
	v.GPUs, v.GPUType, v.Goodput = 0, "", 0
	v.End = status.Range{}
}

// SetExplanation makes e the explanation of a job.
func (m *Machine) SetExplanation(id job.ID, e *control.Explanation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.explanations[id] = e
}

// Ask returns the question as its answer.
func (*Machine) Ask(_ context.Context, q *control.Question) (json.RawMessage, error) {
	return json.Marshal(q)
}

// Try returns the job as its answer.
func (*Machine) Try(_ context.Context, spec *job.Spec) (json.RawMessage, error) {
	return json.Marshal(spec)
}

// ChangeStatus changes what is reported of the machine.
func (m *Machine) ChangeStatus(f func(*status.Status)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.status)
}

// Requests returns the submitted requests.
func (m *Machine) Requests() []control.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]control.Request(nil), m.requests...)
}

// Say adds to the log of a job.
func (m *Machine) Say(id job.ID, text string) error {
	f, err := os.OpenFile(m.log(id), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if bad := f.Close(); err == nil {
		err = bad
	}
	return err
}

func (m *Machine) log(id job.ID) string { return filepath.Join(m.dir, string(id)+".log") }

func (m *Machine) find(id job.ID) *status.Job {
	for _, v := range m.jobs {
		if v.ID == id {
			return v
		}
	}
	return nil
}

func (m *Machine) unknown(id job.ID) error {
	ids := make([]job.ID, len(m.jobs))
	for i, v := range m.jobs {
		ids[i] = v.ID
	}
	return control.Unknown(id, ids)
}

func unique(name string, taken func(job.ID) bool) job.ID {
	const most = 63 // bytes, as in control.ValidName
	id := job.ID(name)
	for n := 2; taken(id); n++ {
		end := "-" + strconv.Itoa(n)
		id = job.ID(strings.TrimRight(name[:min(len(name), most-len(end))], "-") + end)
	}
	return id
}
