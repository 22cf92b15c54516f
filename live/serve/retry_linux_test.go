package serve

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
)

// A failed job is submitted again with its command and size; a job that has not failed, or is not there, is not.
func TestRun_retries(t *testing.T) {
	s := start(t, options(t))
	r := s.request("fails", "sh", "-c", "exit 3")
	r.GPUs = control.Range{Min: 2, Max: 3}
	id, err := s.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	good := s.submit("works", "true")
	s.ended(id)
	s.ended(good)
	again, err := s.Retry(t.Context(), id)
	if err != nil || again == id {
		t.Fatalf("%s, %v", again, err)
	}
	s.ended(again)
	if v, err := s.Job(t.Context(), again); err != nil || v.Outcome != "failed" || v.Name != "fails" || v.MinGPUs != 2 || v.MaxGPUs != 3 || !slices.Equal(v.Command, r.Command) {
		t.Errorf("%+v, %v", v, err)
	}
	for id, want := range map[job.ID]int{good: http.StatusConflict, "nobody": http.StatusNotFound} {
		again, err := s.Retry(t.Context(), id)
		if e, is := errors.AsType[*control.Error](err); !is || e.Status != want {
			t.Errorf("%s: %s, %v, want status %d", id, again, err, want)
		}
	}
}
