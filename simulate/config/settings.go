package config

import (
	"fmt"
	"slices"
	"strings"
)

// SettingsOf returns the settings of the configuration for a policy whose setting names are known: "sia.p=-1" for
// policy sia, and "p=-1" for all policies with a setting p. It returns an error for a setting of this policy that
// is unknown or has no value.
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
