package monitor

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// TracesWanted reports whether an OpenTelemetry endpoint is set and neither OTEL_SDK_DISABLED nor OTEL_TRACES_EXPORTER disables it.
func TracesWanted(getenv func(string) string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if e := getenv("OTEL_TRACES_EXPORTER"); e != "" && e != "otlp" {
		return false
	}
	for _, name := range endpoints {
		if getenv(name) != "" {
			return true
		}
	}
	return false
}

// NewTraces returns an OpenTelemetry provider configured by the OTEL_ variables. It sends in the background and never
// blocks. The caller must shut it down.
func NewTraces(ctx context.Context, service, version string) (*sdk.TracerProvider, error) {
	e, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	r, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("traces: resource: %w", err)
	}
	return sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(r)), nil
}

// Spans returns a listener of a Watch. It exports each round as a trace with one span for each stage.
func Spans(p trace.TracerProvider, queue string) func(*Timing) {
	t := p.Tracer("github.com/oxgang/oxgang/live/monitor")
	return func(r *Timing) {
		attrs := trace.WithAttributes(attribute.String("oxgang.queue", queue), attribute.Int("oxgang.round", r.Seq))
		ctx, span := t.Start(context.Background(), "round", trace.WithTimestamp(r.Begun), attrs)
		for i := range r.Stages {
			stage(ctx, t, &r.Stages[i])
		}
		if r.Refused != "" {
			span.SetStatus(codes.Error, r.Refused)
		}
		span.End(trace.WithTimestamp(r.Ended))
	}
}

func stage(ctx context.Context, t trace.Tracer, s *Stage) {
	_, span := t.Start(ctx, s.Name, trace.WithTimestamp(s.Begun))
	if s.Interrupted {
		span.SetAttributes(attribute.Bool("oxgang.interrupted", true))
	}
	if s.Err != nil {
		span.SetStatus(codes.Error, s.Err.Error())
	}
	span.End(trace.WithTimestamp(s.Ended))
}
