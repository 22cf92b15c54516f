package monitor

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/go-logr/logr"
)

// NewLogger returns a logger with format text or json, and a level from debug to error.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	o := new(slog.HandlerOptions)
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q, want debug, info, warn or error", level)
	}
	o.Level = least
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("log format %q, want text or json", format)
}

// Logr returns a logger for libraries that use logr. Messages of V(1) and above are dropped.
func Logr(l *slog.Logger) logr.Logger { return logr.FromSlogHandler(l.Handler()) }

// Log returns a listener for a Watch. It logs each round at level debug, and refused plans as warnings.
func Log(l *slog.Logger, queue string) func(*Timing) {
	return func(r *Timing) {
		attrs := []any{slog.String("queue", queue), slog.Int("round", r.Seq), slog.Duration("took", r.Ended.Sub(r.Begun))}
		if r.Refused != "" {
			l.Warn("plan refused", append(attrs, slog.String("why", r.Refused))...)
			return
		}
		l.Debug("round", attrs...)
	}
}
