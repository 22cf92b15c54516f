// Package config is the configuration of a simulation: a table of keys, set by defaults, then a file, the
// environment and flags. It stores the origin of each value.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Config is the complete configuration of a simulation.
type Config struct {
	Inputs
	Deciding
	Measuring
	Jobs Jobs
	// Public switches on all rules of the public Sia simulator that differ from the Sia thesis.
	Public    bool
	Scheduler scheduler.Options
	Sim       sim.Options
	Lender    Lender // in addition to Sim.Lender
	origins   map[string]string
}

// Inputs select the nodes, the jobs, and their speeds.
type Inputs struct {
	Cluster  string   // a preset, or "t4:6x4,a100:2x8": type:nodes x GPUs per node
	Scale    int      // factor on the nodes of Cluster
	Trace    string   // a file; empty: generate
	Format   string   // format of Trace; empty: guessed from its content
	OnBadRow string   // what to do with invalid rows of Trace: few, fail or skip
	Mapping  string   // mapping file of a table in Trace; empty: none
	Zone     string   // time zone of local times in Trace; empty: UTC, with a note
	Limit    int      // maximum number of jobs to read; 0: all
	Profiles string   // a folder of measured profiles; empty: the embedded fits
	Table    string   // name of the table of measured steps, if the profiles have several
	Like     []string // GPU types without profiles: "h100=a100x2.2" (type=profiled type x speed)
	Generate Generate
}

// Deciding has the keys that select the policies and estimate job speeds for them.
type Deciding struct {
	Policies []string
	Settings []string // policy settings: "p=-1" for all policies, "sia.p=-1" for one
	Placer   string   // empty: preferred by the policy
	Penalty  float64  // for placer pack: fraction of its speed that a job is assumed to lose on several nodes
	Estimate string   // how speeds are estimated: an estimate.Mode
	Classes  string   // learned or known, for policies that use classes
}

// Measuring has the keys that determine when a run ends and which jobs are measured.
type Measuring struct {
	Horizon  time.Duration // time at which the run ends; 0: when all jobs have ended
	Window   Window        // selects the measured jobs; zero: all
	Skipped  []string      // queues whose jobs are not measured
	Fairness Fairness
}

// Generate has the keys of the trace that is generated if none is given.
type Generate struct {
	Kind string
	Jobs int           // 0: default of Kind
	Span time.Duration // time in which jobs are submitted; 0: default of Kind
	Load float64       // see generate.Options.Load; 0: default of Kind
	// Split, such as "20-70-10", and MultiGPU apply to Synergy's kinds; empty: default of Kind.
	Split    string
	MultiGPU bool
}

// Fairness configures the report of finish-time fairness (rho).
type Fairness struct {
	Rho   string  // "isolated", "static"; empty: by the trace
	Above float64 // rho above which a job counts as scheduled unfairly
}

// Default returns the configuration in which every key has its default.
func Default() *Config {
	return &Config{
		Inputs: Inputs{Cluster: "hetero64", Scale: 1, OnBadRow: "few", Generate: Generate{Kind: "philly-like"}},
		Deciding: Deciding{
			Policies: []string{"oxgang", "sia", "easy", "srtf"}, Penalty: pack.DefaultOptions().Penalty,
			Estimate: estimate.Bootstrap.String(), Classes: Learned,
		},
		Measuring: Measuring{Skipped: []string{workload.Warm}, Fairness: Fairness{Above: 1}},
		Jobs:      Jobs{Fungible: AsTraced, Checkpoints: AsTraced, WrongBy: 0.25, MixedSpeed: 0.7},
		Scheduler: scheduler.DefaultOptions(), Sim: sim.DefaultOptions(), Lender: Lender{Forecast: Seasonal},
		origins: make(map[string]string),
	}
}

// The sources of class statistics.
const (
	Learned = "learned" // statistics estimated from past jobs
	Known   = "known"   // the true statistics of the whole trace
)

// rhos lists the definitions of finish-time fairness. With "", the trace determines the definition.
func rhos() []string { return []string{"", "isolated", "static"} }

const unset = "default"

// Origin returns where the value of a key comes from: "default", "environment", "flag" or the name of a file.
func (c *Config) Origin(key string) string {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return unset
}

// IsSet reports whether a key was set explicitly, even to its default value.
func (c *Config) IsSet(key string) bool { return c.Origin(key) != unset }

// Unknown returns an error for a key that does not exist, with similar keys.
func Unknown(key string) error { return fmt.Errorf("unknown key %q%s", key, didYouMean(key)) }

// Set sets a key from text.
func (c *Config) Set(key, value, origin string) error {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == key })
	if i < 0 {
		return Unknown(key)
	}
	if key == "set" {
		var err error
		if value, err = c.setKeys(value, origin); err != nil {
			return err
		}
	}
	if err := keys[i].set(c, strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	c.origins[key] = origin
	return nil
}

// setKeys sets the configuration keys among comma-separated settings, and returns the settings for policies. It
// skips one-word keys with a flag, because policies have such settings (window). A part without = continues the
// list before it.
func (c *Config) setKeys(settings, origin string) (rest string, err error) {
	var all, policies []string
	for _, part := range split(settings) {
		if len(all) > 0 && !strings.Contains(part, "=") {
			all[len(all)-1] += "," + part
			continue
		}
		all = append(all, part)
	}
	var errs []error
	for _, part := range all {
		name, value, _ := strings.Cut(part, "=")
		if name != "set" && slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name && (strings.Contains(name, ".") || !k.HasOption()) }) {
			errs = append(errs, c.Set(name, value, origin))
			continue
		}
		policies = append(policies, part)
	}
	return strings.Join(policies, ","), errors.Join(errs...)
}

// Get returns the value of a key as text that Set accepts.
func (c *Config) Get(key string) string {
	for _, k := range keys {
		if k.Name == key {
			return k.get(c)
		}
	}
	return ""
}

// others are variables of other programs: the live scheduler's state, jobs, and the Python
// packages.
var others = []string{
	"OXGANG_STATE", "OXGANG_SOCKET", "OXGANG_URL", "OXGANG_TOKEN", "OXGANG_JOB", "OXGANG_GENERATION",
	"OXGANG_CHECKPOINTS", "OXGANG_NOTICE", "OXGANG_CPUS", "OXGANG_MEMORY", "OXGANG_SHARED_GPU", "OXGANG_SLOT", "OXGANG_RUN", "OXGANG_PROGRAM",
}

// Environment sets keys from environment variables: OXGANG_SIM_NOISE sets sim.noise. An unknown variable that begins
// with OXGANG_ is an error, unless another program uses it.
func (c *Config) Environment(environ []string) error {
	var errs []error
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "OXGANG_") || slices.Contains(others, name) {
			continue
		}
		i := slices.IndexFunc(keys, func(k Key) bool { return k.variable() == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("unknown environment variable %s", name))
			continue
		}
		errs = append(errs, c.Set(keys[i].Name, value, "environment"))
	}
	return errors.Join(errs...)
}

// Validate returns all errors in c, joined.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Policies) == 0 {
		bad("policy: empty, want at least one")
	}
	if _, err := c.BuildCluster(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.Likenesses(); err != nil {
		errs = append(errs, err)
	}
	if !(c.Penalty >= 0 && c.Penalty <= 1) {
		bad("split-penalty %v, want 0 to 1", c.Penalty)
	}
	if c.Horizon < 0 {
		bad("horizon %v, want at least 0", c.Horizon)
	}
	if !slices.Contains(rhos(), c.Fairness.Rho) {
		bad("fairness.rho %q, want one of %q", c.Fairness.Rho, rhos())
	}
	if !(c.Fairness.Above > 0) {
		bad("fairness.above %v, want more than 0", c.Fairness.Above)
	}
	if g := c.Generate; g.Span < 0 || g.Load < 0 {
		bad("generate: span %v and load %v, want at least 0", g.Span, g.Load)
	}
	if _, err := parse.BadRowOf(c.OnBadRow); err != nil {
		errs = append(errs, err)
	}
	if _, err := Location(c.Zone); err != nil {
		errs = append(errs, err)
	}
	if _, err := estimate.ParseMode(c.Estimate); err != nil {
		errs = append(errs, err)
	}
	if c.Classes != Learned && c.Classes != Known {
		bad("estimate.classes %q, want %s or %s", c.Classes, Learned, Known)
	}
	if c.Profiles == "" && c.Table != "" {
		bad("profiles.table %q without profiles", c.Table)
	}
	if c.Trace == "" && c.Format != "" {
		bad("format %q without a trace", c.Format)
	}
	return errors.Join(append(errs, c.Jobs.validate(), c.Lender.validate(), c.Scheduler.Validate(), c.Sim.Validate())...)
}

// SettingsOf returns the settings in c for a policy. known are the names of all settings that the policy has. "sia.p=-1" sets p for policy sia, and
// "p=-1" for every policy that has p. It returns an error for a missing value, and for sia.x if policy sia has no
// setting x.
func (c *Config) SettingsOf(policy string, known []string) (map[string]string, error) {
	own := make(map[string]string)
	for _, s := range c.Settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("set: got %q, want name=value or policy.name=value", s)
		}
		to, name, addressed := strings.Cut(key, ".")
		switch {
		case addressed && to != policy:
		case addressed && !slices.Contains(known, name):
			return nil, fmt.Errorf("set: policy %s has no setting %q; it has %s", policy, name, strings.Join(known, ", "))
		case addressed:
			own[name] = value
		case slices.Contains(known, key):
			own[key] = value
		}
	}
	return own, nil
}
