package driver

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// Options configure a Driver.
type Options struct {
	Queue    string
	Policy   string            // name in policy/registry
	Settings map[string]string // nil for the policy's defaults
	Round    time.Duration     // time between plans
	Verify   bool
	Tool     string           // name and version of the program, for journals
	Journals string           // directory, created if missing; empty for no journal
	Digest   bool             // enables Driver.Digest
	Predict  bool             // enables Driver.Look and Driver.Predictions, computed by a goroutine
	Metrics  *monitor.Metrics // where the queue's metrics are added
	Traces   trace.TracerProvider
	Log      *slog.Logger
}

// NewPolicy returns a new policy and its placer. It returns an error if the name or a setting is unknown.
func NewPolicy(name string, settings map[string]string) (policy.Policy, placement.Placer, error) {
	entry, err := registry.Find(name)
	if err != nil {
		return nil, nil, err
	}
	p, err := registry.New(name, settings)
	if err != nil {
		return nil, nil, err
	}
	placer, err := entry.NewPlacer("", registry.PlacerOptions{})
	return p, placer, err
}

func (o *Options) newPolicy() (policy.Policy, placement.Placer, error) {
	return NewPolicy(o.Policy, o.Settings)
}

// scheduler sets what all backends share: jobs are profiled while they train. A submission starts a round. Jobs of
// a class learn together.
func (o *Options) scheduler() scheduler.Options {
	so := scheduler.DefaultOptions()
	so.Round, so.Profile, so.OnSubmit, so.Estimate.Share, so.Estimate.Verify = o.Round, false, true, true, o.Verify
	if entry, err := registry.Find(o.Policy); err == nil {
		so.Classes = entry.Traits().Classes
	}
	return so
}

func (o *Options) header(b Backend) journal.Header {
	h := journal.Header{
		Tool: o.Tool, Policy: o.Policy, Seed: 1, Start: b.Now(), Round: o.Round, Cluster: b.Cluster(),
		Settings: []journal.Setting{{Name: "scheduler.profile", Value: "false"}, {Name: "scheduler.on-submit", Value: "true"}, {Name: "estimate.share", Value: "true"}},
	}
	if o.Verify {
		h.Settings = append(h.Settings, journal.Setting{Name: "estimate.verify", Value: "true"})
	}
	if entry, err := registry.Find(o.Policy); err == nil {
		for _, name := range entry.SettingNames() {
			if value, set := o.Settings[name]; set {
				h.Settings = append(h.Settings, journal.Setting{Name: name, Value: value})
			}
		}
	}
	return h
}
