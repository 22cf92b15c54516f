package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/scheduler"
)

// A stage is a backend whose scheduler and agent API run until the test ends.
type stage struct {
	*Backend
	t   *testing.T
	api *agentapi.Server
}

// newStage runs a backend with a plan every 50 ms, of policy equalSplit.
func newStage(t *testing.T, o Options) *stage {
	t.Helper()
	o.Socket = filepath.Join(o.Dir, "agent.sock")
	s := &stage{Backend: open(t, o), t: t}
	s.api = agentapi.New(s.Agents(), agentapi.Options{})
	l, err := net.Listen("unix", o.Socket)
	if err != nil {
		t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.Round, so.Profile = 50*time.Millisecond, false
	sched, err := scheduler.New(equalSplit{}, submesh.New(submesh.DefaultOptions()), s.Cluster(), so)
	if err != nil {
		t.Fatal(err)
	}
	s.Follow(so.Round, func(now time.Time) []*policy.Job { return sched.Snapshot(now).Jobs })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- s.api.Serve(l) }()
	go func() { done <- sched.Run(ctx, s.Backend, s.Backend) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(s.api.Shutdown(context.Background()), <-done, <-done); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return s
}

func (s *stage) train(name string, steps int, spec *job.Spec) job.ID {
	s.t.Helper()
	r := store.Request{Command: []string{s.o.Supervisor[0], "worker", fmt.Sprint(steps)}, Dir: s.o.Dir, Env: os.Environ()}
	id, err := s.Submit(name, spec, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// job returns how a job that has not ended stands; a zero one if it has.
func (s *stage) job(id job.ID) Live {
	for _, l := range s.Live() {
		if l.Spec.ID == id {
			return l
		}
	}
	return Live{}
}

// up waits until the workers of a generation run.
func (s *stage) up(id job.ID, generation int) {
	s.t.Helper()
	await(s.t, fmt.Sprintf("generation %d of job %s", generation, id), func() bool {
		l := s.job(id)
		return l.Generation == generation && l.Up
	})
}

// ended waits until a job has, and returns how.
func (s *stage) ended(id job.ID) *store.Ending {
	s.t.Helper()
	var end *store.Ending
	await(s.t, fmt.Sprintf("the end of job %s", id), func() bool {
		jobs, err := s.jobs.store.Jobs(true)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, j := range jobs {
			if j.Spec.ID == id {
				end = j.Ended
			}
		}
		return end != nil
	})
	return end
}

// row returns how the scheduler sees a job, some rounds from now: all that was said before
// has been heard by then.
func (s *stage) row(id job.ID) *policy.Job {
	s.t.Helper()
	round := func() int {
		snapshot, _ := s.LastRound()
		if snapshot == nil {
			return 0
		}
		return snapshot.Round
	}
	for end := round() + 3; round() < end; time.Sleep(5 * time.Millisecond) {
		if s.t.Context().Err() != nil {
			s.t.Fatal("no rounds")
		}
	}
	s.Lock()
	defer s.Unlock()
	return s.Snapshot.Job(id)
}

func (s *stage) output(id job.ID) string {
	s.t.Helper()
	text, err := os.ReadFile(LogFile(s.o.Dir, id))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// An agent speaks for a job, whatever its processes do.
type agent struct {
	t     *testing.T
	token string
	http  http.Client
}

func (s *stage) agent(id job.ID) *agent {
	a := &agent{t: s.t, token: s.job(id).Token}
	a.http.Transport = &http.Transport{MaxIdleConnsPerHost: 4, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", s.o.Socket)
	}}
	s.t.Cleanup(a.http.CloseIdleConnections)
	return a
}

// say sends a body and returns the status and the text of the answer.
func (a *agent) say(what, body string) (int, string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, "http://x/v1/"+what, bytes.NewBufferString(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := a.http.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// must says what is accepted.
func (a *agent) must(what, body string) {
	a.t.Helper()
	if status, text := a.say(what, body); status != http.StatusOK {
		a.t.Fatalf("%s %s: %d %s", what, body, status, text)
	}
}

// helloOf is what a program says that starts, in a generation, with so many workers.
func helloOf(generation, workers int) string {
	return fmt.Sprintf(`{"version":1,"client":"test","generation":%d,"world_size":%d,"batch":{"init":64,"max":64},"restored":null}`, generation, workers)
}

// honest is a report of a training on one GPU, 1000 steps before or after another.
func honest(generation, sequence int) string {
	return fmt.Sprintf(`{"generation":%d,"sequence":%d,"step":%d,"progress":%d,"epoch":0,"interval":10,"batch":{"local":64,"accumulation":0},"step_time":0.01,"sync_time":0}`,
		generation, sequence, 1000*sequence, 64000*sequence)
}

// with returns a report with something in it changed.
func with(report, old, changed string) string {
	if !strings.Contains(report, old) {
		panic(old)
	}
	return strings.Replace(report, old, changed, 1)
}

func (s *stage) folder(id job.ID, generation int) string {
	return s.folders.Generation(statedir.Generation{Job: id, Number: generation})
}
