package kube

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// grants lets a job hold a generation of 2 GPUs of a type, that was planned a time ago.
func grants(e *jobstate.Job, generation int64, gpu cluster.GPUType, ago time.Duration) {
	e.Held = jobstate.Grant{Generation: generation}
	e.Held.Configuration = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: gpu}
	e.Parsed.Generation, e.Since, e.TrainsIn = generation, time.Now().Add(-ago), generation
}

// What a program says of the GPUs that it is on is held of that type, also when it has moved on
// or is about to; and each start that ends with a first hello counts as one of so long.
func TestHello_of_each_type(t *testing.T) {
	w := newBackend(t, nil, nil)
	e := &jobstate.Job{Entry: driver.Entry{ID: "u"}, Parsed: &jobadapter.Job{UID: "u", Spec: &job.Spec{ID: "u"}}, Spec: &job.Spec{ID: "u"}}
	e.Parsed.PerWorker.GPUs = 1
	w.table.ByID["u"], w.table.Order = e, []*jobstate.Job{e}
	says := func(generation, most int) {
		t.Helper()
		h := &agentapi.Hello{Generation: generation, WorldSize: 2, Batch: agentapi.BatchLimits{Init: 8, Max: 64, LocalMax: most}}
		if _, err := w.Hello(t.Context(), "u", h); err != nil {
			t.Fatal(err)
		}
	}
	want := func(most map[cluster.GPUType]int, least, mostly time.Duration) {
		t.Helper()
		if diff := cmp.Diff(most, e.Spec.Batch.LocalMax); diff != "" {
			t.Error(diff)
		}
		if r := e.Spec.RestartOverhead; r < least || r > mostly {
			t.Errorf("a restart takes %v, want %v to %v", r, least, mostly)
		}
	}
	grants(e, 1, "a100", 10*time.Minute)
	says(1, 32)
	want(map[cluster.GPUType]int{"a100": 32}, 10*time.Minute, 11*time.Minute)
	grants(e, 2, "rtx", 20*time.Minute)
	w.describe(e) // before it says so there
	want(map[cluster.GPUType]int{"a100": 32}, 10*time.Minute, 11*time.Minute)
	says(2, 8)
	e.Since = e.Since.Add(-time.Hour)
	says(2, 8) // a resize in place: no start
	want(map[cluster.GPUType]int{"a100": 32, "rtx": 8}, 15*time.Minute, 16*time.Minute)
}
