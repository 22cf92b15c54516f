package config

import (
	"fmt"
	"slices"
	"strings"
)

// SettingsOf returns c's settings for a policy; known lists the settings that the policy has. "sia.p=-1" sets p for
// policy sia, and "p=-1" for every policy that has p. It returns an error for a setting without a value, and for sia.x
// if sia has no setting x.
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
