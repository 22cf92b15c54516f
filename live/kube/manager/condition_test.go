package manager

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/live/monitor"
)

// Jobs that are left out of plans are told in the condition of the Queue, in a metric, and in an event each
// time that there are some, or none any more.
func TestFits(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := monitor.New(r, monitor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(10)
	l := &leader{log: slog.New(slog.DiscardHandler), metrics: m, events: recorder}
	q := &v1alpha1.Queue{}
	q.Name = "train"
	for i, c := range []struct {
		room  kube.Room
		left  float64
		want  metav1.ConditionStatus // empty: there is no condition
		says  string
		event string // empty: none
	}{
		{kube.Room{}, 0, "", "", ""},
		{kube.Room{Full: map[string]int{"a": 40, "b": 2}}, 42, metav1.ConditionFalse, "not planned: 40 jobs of namespace a, which is at its limit; 2 jobs of namespace b", "Warning TooLong"},
		{kube.Room{Full: map[string]int{"a": 41}, State: planstore.State{LeftOut: 5}}, 46, metav1.ConditionFalse, "41 jobs of namespace a, which is at its limit; 5 waiting jobs for which the Plan has no room", ""},
		{kube.Room{}, 0, metav1.ConditionTrue, "all jobs are planned", "Normal AllFit"},
	} {
		l.fits(q, &c.room)
		if v, there := said(t, r, "oxgang_jobs_left_out"); !there || v != c.left {
			t.Errorf("%d: metric %v, want %v", i, v, c.left)
		}
		got := meta.FindStatusCondition(q.Status.Conditions, v1alpha1.QueueJobsFit)
		if (got != nil) != (c.want != "") || got != nil && (got.Status != c.want || !strings.Contains(got.Message, c.says)) {
			t.Errorf("%d: condition %+v, want %s %q", i, got, c.want, c.says)
		}
		event := ""
		if len(recorder.Events) > 0 {
			event = <-recorder.Events
		}
		if !strings.HasPrefix(event, c.event) || c.event == "" && event != "" {
			t.Errorf("%d: event %q, want %q", i, event, c.event)
		}
	}
}

// A queue whose plan is not written for a minute is not Active, and says why.
func TestWritten(t *testing.T) {
	why := errors.New("etcd is away")
	for name, c := range map[string]struct {
		state planstore.State
		want  string
	}{
		"written":     {planstore.State{}, serving},
		"late":        {planstore.State{Trouble: why, Since: metav1.Now().Add(-patience / 2)}, serving},
		"not written": {planstore.State{Trouble: why, Since: metav1.Now().Add(-2 * patience)}, notWritten},
	} {
		reason, message := written(&kube.Room{State: c.state}, serving, "as it is")
		if reason != c.want || reason == notWritten && !strings.Contains(message, why.Error()) {
			t.Errorf("%s: %s, %q, want %s", name, reason, message, c.want)
		}
	}
}
