package monitor_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"

	"github.com/oxgang/oxgang/live/monitor"
)

// TestNewTraces: a round reaches a collector, as the environment says.
func TestNewTraces(t *testing.T) {
	got := make(chan *tracepb.ExportTraceServiceRequest, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		message := new(tracepb.ExportTraceServiceRequest)
		if err == nil {
			err = proto.Unmarshal(text, message)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		got <- message
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "box")
	p, err := monitor.NewTraces(t.Context(), "oxgang", "v1")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1e9, 0)
	monitor.Spans(p, "default")(&monitor.Timing{Seq: 3, Begun: at, Ended: at.Add(time.Second), Stages: []monitor.Stage{{Name: monitor.StagePolicy, Begun: at, Ended: at}}})
	if err := p.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	m := <-got
	spans := m.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 2 || spans[0].Name != "policy" || spans[1].Name != "round" || string(spans[0].ParentSpanId) != string(spans[1].SpanId) {
		t.Errorf("got %v, want a policy below a round", spans)
	}
	if n := spans[1].EndTimeUnixNano - spans[1].StartTimeUnixNano; n != 1e9 {
		t.Errorf("round of %d ns, want 1 s", n)
	}
	for _, a := range m.ResourceSpans[0].Resource.Attributes {
		if a.Key == "service.name" && a.Value.GetStringValue() != "box" {
			t.Errorf("service %v, want box", a.Value)
		}
	}
}

func TestTracesWanted(t *testing.T) {
	for _, tc := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "otlp"}, true},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, false},
	} {
		if got := monitor.TracesWanted(func(name string) string { return tc.env[name] }); got != tc.want {
			t.Errorf("%v: %t, want %t", tc.env, got, tc.want)
		}
	}
}
