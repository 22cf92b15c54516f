package slurm

import (
	"strings"
	"testing"
)

// What the agent API needs is asked for by name.
func TestValidate_agents(t *testing.T) {
	for want, edit := range map[string]func(*Config){
		"":                       func(*Config) {},
		"agents: listen \"x\"":   func(c *Config) { c.Agents.Listen = "x" },
		"not addresses":          func(c *Config) { c.Agents.Names = []string{"10.0.0.1"} },
		"agents: state: missing": func(c *Config) { c.State = "" },
		"want an absolute":       func(c *Config) { c.Agents.Share = "/a;hold" },
		"folder \"\"":            func(c *Config) { c.Agents.Share = "" },
	} {
		c := config()
		c.State, c.Agents = "/var/lib/oxgang", Agents{Listen: ":8446", Names: []string{"head"}, Share: "/shared/oxgang"}
		edit(c)
		if err := c.Validate(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
