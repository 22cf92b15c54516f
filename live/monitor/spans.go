package monitor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

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
