package agentapi

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options are the limits of a Server. A zero field means its default.
type Options struct {
	Rate        float64       // messages per second of one job, on average; default 10
	Burst       int           // messages of one job at once; default 20
	Strangers   float64       // requests per second and listener without a known token, on average; default 10
	Connections int           // open connections per listener; default 256
	ReadTime    time.Duration // time from the first byte to the end of the body; default 10 s
	Log         *slog.Logger  // may be nil
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Rate: 10, Burst: 20, Strangers: 10, Connections: 256, ReadTime: 10 * time.Second,
		Log: slog.New(slog.DiscardHandler),
	}
}

func (o Options) complete() Options {
	d := DefaultOptions()
	set(&o.Rate, d.Rate)
	set(&o.Burst, d.Burst)
	set(&o.Strangers, d.Strangers)
	set(&o.Connections, d.Connections)
	set(&o.ReadTime, d.ReadTime)
	set(&o.Log, d.Log)
	return o
}

func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Validate returns all errors of o.
func (o *Options) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"rate", o.Rate},
		{"burst", float64(o.Burst)},
		{"strangers", o.Strangers},
		{"connections", float64(o.Connections)},
		{"read time", o.ReadTime.Seconds()},
	} {
		if !(f.value >= 0 && f.value <= 1e6) {
			errs = append(errs, fmt.Errorf("agent API: %s %v, want 0 (the default) to 1000000", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}
