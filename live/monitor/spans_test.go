package monitor

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
)

// TestSpans: two rounds of one scheduler are two traces; in the second the policy panics.
func TestSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := tracetest.NewInMemoryExporter()
		p := trace.NewTracerProvider(trace.WithSyncer(kept))
		w := NewWatch(Spans(p, "default"))
		o := scheduler.DefaultOptions()
		o.Round, o.Profile = 10*time.Second, false
		bad := flaky{queue.New(queue.FIFO()), func(round int) bool { return round == 1 }}
		s, err := scheduler.New(w.Policy(bad), w.Placer(placement.NewBestFit()), nodes(t, 1), o)
		if err != nil {
			t.Fatal(err)
		}
		b := &script{start: time.Now(), apply: time.Second, events: []timed{{0, scheduler.Submitted{Spec: gang("a", 1)}}, {25 * time.Second, report("a", 1)}}}
		if err := s.Run(t.Context(), w.Backend(b), w); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range kept.GetSpans() {
			names = append(names, s.Name)
		}
		want := []string{"snapshot", "policy", "check", "place", "diff", "record", "apply", "round", "snapshot", "policy", "check", "record", "apply", "round"}
		if got := kept.GetSpans(); len(got) != len(want) {
			t.Fatalf("spans %v, want %v", names, want)
		}
		for i, s := range kept.GetSpans() {
			round := kept.GetSpans()[7+i/8*6]
			if s.Name != want[i] || s.SpanContext.TraceID() != round.SpanContext.TraceID() {
				t.Errorf("span %d: %s of trace %v, want %s", i, s.Name, s.SpanContext.TraceID(), want[i])
			}
		}
		if ok, failed := kept.GetSpans()[7], kept.GetSpans()[13]; ok.Status.Code != codes.Unset || failed.Status.Code != codes.Error || ok.EndTime.Sub(ok.StartTime) != 2*time.Second {
			t.Errorf("rounds %v and %v, want the second an error, and the first 2 s", ok, failed)
		}
	})
}

// TestWatch_a_dropped_round: one in which the context ends reaches nobody, nor is its time
// counted for the next.
func TestWatch_a_dropped_round(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []Timing
		w := NewWatch(func(r *Timing) { heard = append(heard, *r) })
		b := w.Backend(&rounds{n: 2})
		ask := func() {
			if ev, err := b.Next(t.Context(), time.Time{}); ev != nil || err != nil {
				t.Fatal(ev, err)
			}
			time.Sleep(time.Second)
		}
		ask()
		ask()
		if err := b.Do(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := b.Do(t.Context(), nil); err != nil { // what an event asks for is no round
			t.Fatal(err)
		}
		if len(heard) != 1 || heard[0].Ended.Sub(heard[0].Begun) != time.Second {
			t.Errorf("heard %+v, want one round of 1 s", heard)
		}
	})
}

// TestWatch_changes_nothing: what is wrapped answers as it does by itself.
func TestWatch_changes_nothing(t *testing.T) {
	w := NewWatch()
	s := &policy.Snapshot{Cluster: nodes(t, 1), Length: time.Minute}
	if _, err := w.Policy(queue.New(queue.FIFO())).Plan(t.Context(), s); err != nil {
		t.Error(err)
	}
	if _, err := w.Placer(placement.NewBestFit()).Place(t.Context(), s, &policy.Plan{}); err != nil {
		t.Error(err)
	}
	if _, err := w.Backend(&rounds{}).Next(t.Context(), time.Time{}); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want io.EOF", err)
	}
	w.Event(time.Time{}, scheduler.NodesChanged{Cluster: new(cluster.Cluster)})
}

// rounds is a backend of so many rounds.
type rounds struct{ n int }

func (r *rounds) Now() time.Time { return time.Now() }
func (r *rounds) Next(context.Context, time.Time) (scheduler.Event, error) {
	if r.n--; r.n < 0 {
		return nil, io.EOF
	}
	return nil, nil
}
func (r *rounds) Do(context.Context, []scheduler.Action) error { return nil }
