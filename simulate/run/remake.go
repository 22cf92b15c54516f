package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
)

// A Remake makes the policy and placer of a recorded run again, with the run's settings.
type Remake struct {
	config *config.Config
	entry  registry.Entry
	// Scheduler has the options of the run's scheduler.
	Scheduler scheduler.Options
}

// Fresh makes a new policy and placer with the settings of the run.
func (r *Remake) Fresh() (policy.Policy, placement.Placer, error) {
	p, err := NewPolicy(r.config, r.entry.Name)
	if err != nil {
		return nil, nil, err
	}
	placer, err := r.entry.NewPlacer(r.config.Placer, registry.PlacerOptions{Penalty: r.config.Penalty})
	return p, placer, err
}

// Again returns the Remake of the run with journal header h. If name is not empty, it makes the policy called name
// instead. It reads the inputs only if estimates depend on them.
func Again(h *journal.Header, name string, files Files) (*Remake, error) {
	own := name == "" || name == h.Policy
	if name == "" {
		name = h.Policy
	}
	entry, err := registry.Find(name)
	if err != nil {
		return nil, err
	}
	c, err := recordedConfig(h, own)
	if err != nil {
		return nil, err
	}
	in := &Inputs{restart: c.Sim.Restart, asSubmitted: true}
	if informed(c) {
		if in, err = Load(c, files); err != nil {
			return nil, fmt.Errorf("read the inputs of the run, which its policy needs: %w", err)
		}
	}
	c.Scheduler.Round = h.Round
	so, _, err := options(c, in, entry.Traits())
	return &Remake{c, entry, so}, err
}

func recordedConfig(h *journal.Header, own bool) (*config.Config, error) {
	c, keys := config.Default(), config.Keys()
	for _, s := range h.Settings {
		known := slices.ContainsFunc(keys, func(k config.Key) bool { return k.Name == s.Name })
		switch {
		case known && c.Get(s.Name) == s.Value, !known && !own:
		case known:
			if err := c.Set(s.Name, s.Value, "journal"); err != nil {
				return nil, err
			}
		default:
			c.Settings = append(c.Settings, h.Policy+"."+s.Name+"="+s.Value)
		}
	}
	return c, errors.Join(dropObsolete(c), c.Validate())
}

// dropObsolete drops settings that no longer exist. One with an effect is an error: timeshare of policy sia
// (§3.5.6), which 0 turned off.
func dropObsolete(c *config.Config) error {
	var err error
	c.Settings = slices.DeleteFunc(c.Settings, func(s string) bool {
		key, value, _ := strings.Cut(s, "=")
		if key != "timeshare" && key != "sia.timeshare" {
			return false
		}
		if tau, bad := time.ParseDuration(value); bad != nil || tau != 0 {
			err = fmt.Errorf("setting %s is %q: policy sia has no time sharing any more; replay the journal with the version that wrote it", key, value)
		}
		return true
	})
	return err
}

func informed(c *config.Config) bool {
	mode, _ := estimate.ParseMode(c.Estimate)
	return c.Public || mode == estimate.Oracle || mode == estimate.PublicCode || c.Classes == config.Known || c.Scheduler.Profile && c.IsSet("scheduler.profile")
}
