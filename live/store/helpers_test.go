package store

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// epoch is some time; tests count seconds from it.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// opened returns a store that is closed when the test ends.
func opened(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails the test if an error does not say what it should.
func wants(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got error %v, want one that says %q", err, want)
	}
}

func newJob(id job.ID, class job.Class) *Job {
	return &Job{
		Spec:    &job.Spec{ID: id, Name: string(id), Class: class, GPUs: 2},
		Request: Request{Command: []string{"python", "train.py"}, Dir: "/home/ada"},
		Token:   "token of " + string(id),
		Status:  job.Status{Phase: job.Waiting, Submitted: epoch},
	}
}

func accepted(t testing.TB, s *Store, id job.ID, class job.Class) *Job {
	t.Helper()
	j := newJob(id, class)
	must(t, s.Accept(j))
	return j
}

// started returns the change that gives a job slots in some generation.
func started(id job.ID, generation int, slots ...int) Change {
	c := Change{Job: id, Generation: generation, Held: slots, Batch: job.BatchSize{Local: 32}}
	c.Status = job.Status{Phase: job.Restoring, Submitted: epoch, FirstStarted: at(5), Since: at(5)}
	c.Status.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: len(slots), GPUType: "cpu"}
	c.Status.Placement = cluster.Placement{{Node: "here", Resources: cluster.Resources{GPUs: len(slots)}}}
	return c
}

func loaded(t testing.TB, s *Store) *State {
	t.Helper()
	st, err := s.Load()
	must(t, err)
	return st
}

func ids(known []Known) []job.ID {
	var list []job.ID
	for _, k := range known {
		list = append(list, k.Job.Spec.ID)
	}
	return list
}

func slicesOf(st *State) []Known { return append(st.Jobs, st.Ended...) }

// look opens a directory for a moment and returns what is there.
func look(dir string) (*State, []*Job, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, nil, err
	}
	st, err1 := s.Load()
	all, err2 := s.Jobs(true)
	return st, all, errors.Join(err1, err2, s.Close())
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	body, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, body, 0o600))
}
