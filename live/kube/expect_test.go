package kube

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/job"
)

func between(from time.Time, early, late time.Duration) *v1alpha1.TimeRange {
	a, b := metav1.NewTime(from.Add(early)), metav1.NewTime(from.Add(late))
	return &v1alpha1.TimeRange{Earliest: &a, Latest: &b}
}

// foretelling returns a backend with a job that waits: what its last plan, written some time ago,
// said of it, and what is expected now.
func foretelling(ago time.Duration, was jobstate.Expected, now map[job.ID]jobstate.Expected) *Backend {
	w := assemble(nil, nil, &jobstate.Options{Queue: &v1alpha1.Queue{}, Expect: func() map[job.ID]jobstate.Expected { return now }})
	w.table.Plan = &v1alpha1.Plan{}
	w.table.Plan.Spec.Time = metav1.NewMicroTime(w.Now().Add(-ago))
	e := &jobstate.Job{Entry: driver.Entry{ID: "u"}, Adapter: jobadapter.Kinds[0], Parsed: &jobadapter.Job{UID: "u", Kind: "Job", Namespace: "a", Name: "b"}}
	w.table.ByID["u"], w.table.Order = e, []*jobstate.Job{e}
	w.table.Plan.Spec.Allocations = w.draft().allocations(nil)
	w.table.Plan.Spec.Allocations[0].Unblock, w.table.Plan.Spec.Allocations[0].ETA = was.Unblock, was.ETA
	return w
}

// What is expected goes out with the next plan; a plan is written for it alone once a minute,
// and only if it is news.
func TestDraw_writes_what_is_expected_when_it_is_news(t *testing.T) {
	now := time.Now()
	in := func(late time.Duration) jobstate.Expected {
		return jobstate.Expected{ETA: &v1alpha1.ETA{Start: between(now, 5*time.Minute, late)}}
	}
	open := in(time.Hour)
	open.ETA.Start.Latest = nil
	for _, test := range []struct {
		name string
		ago  time.Duration
		was  jobstate.Expected
		is   map[job.ID]jobstate.Expected
		want bool
	}{
		{"a time that was not known", 2 * time.Minute, jobstate.Expected{}, map[job.ID]jobstate.Expected{"u": in(time.Hour)}, true},
		{"but not a moment after the last plan", 30 * time.Second, jobstate.Expected{}, map[job.ID]jobstate.Expected{"u": in(time.Hour)}, false},
		{"the same again", 2 * time.Minute, in(time.Hour), map[job.ID]jobstate.Expected{"u": in(time.Hour)}, false},
		{"a little later", 2 * time.Minute, in(time.Hour), map[job.ID]jobstate.Expected{"u": in(time.Hour + 5*time.Minute)}, false},
		{"much later", 2 * time.Minute, in(time.Hour), map[job.ID]jobstate.Expected{"u": in(time.Hour + 15*time.Minute)}, true},
		{"not in sight any more", 2 * time.Minute, in(time.Hour), map[job.ID]jobstate.Expected{"u": open}, true},
		{"not known any more", 2 * time.Minute, in(time.Hour), map[job.ID]jobstate.Expected{}, true},
		{"nobody has looked yet", 2 * time.Minute, in(time.Hour), nil, false},
		{"another way out", 2 * time.Minute, jobstate.Expected{Unblock: "x"}, map[job.ID]jobstate.Expected{"u": {Unblock: "y"}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := foretelling(test.ago, test.was, test.is)
			next := w.draw(w.draft())
			if got := next != nil; got != test.want {
				t.Fatalf("a plan is written: %v, want %v", got, test.want)
			}
			if next == nil {
				return
			}
			if diff := cmp.Diff(test.is["u"], planstore.Predictions(next)["u"]); diff != "" {
				t.Errorf("expected (-want +got):\n%s", diff)
			}
		})
	}
}

// A plan that is written for another reason brings what is expected along, at once; of a job
// that has GPUs only its end, and before anybody has looked what the last one said.
func TestDraw_brings_what_is_expected_along(t *testing.T) {
	now := time.Now()
	both := &v1alpha1.ETA{Start: between(now, 0, time.Minute), End: between(now, time.Hour, 2*time.Hour)}
	x := jobstate.Expected{Unblock: "x", ETA: both}
	for _, test := range []struct {
		name string
		gpus int
		was  jobstate.Expected
		is   map[job.ID]jobstate.Expected
		want jobstate.Expected
	}{
		{"it waits", 0, jobstate.Expected{}, map[job.ID]jobstate.Expected{"u": x}, x},
		{"it has GPUs", 2, jobstate.Expected{}, map[job.ID]jobstate.Expected{"u": x}, jobstate.Expected{ETA: &v1alpha1.ETA{End: both.End}}},
		{"it has GPUs, and no end is known", 2, x, map[job.ID]jobstate.Expected{"u": {ETA: &v1alpha1.ETA{Start: both.Start}}}, jobstate.Expected{}},
		{"nobody has looked yet", 0, x, nil, x},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := foretelling(0, test.was, test.is)
			d := w.draft()
			g := jobstate.Grant{Generation: 1}
			g.GPUs = test.gpus
			d.hold("u", g)
			next := w.draw(d)
			if diff := cmp.Diff(test.want, planstore.Predictions(next)["u"]); diff != "" {
				t.Errorf("expected (-want +got):\n%s", diff)
			}
		})
	}
}
