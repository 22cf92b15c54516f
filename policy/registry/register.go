package registry

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// policyName matches valid names: they can stand in a comma-separated list, and before a setting.
var policyName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`) })

// Register makes a policy of another module available by name.
func Register(e *Entry) error {
	switch {
	case !policyName().MatchString(e.Name):
		return fmt.Errorf("policy %q: want a name of at most 63 lower-case letters, digits and hyphens that starts with a letter", e.Name)
	case slices.Contains(Names(), e.Name):
		return fmt.Errorf("policy %s: this name is taken", e.Name)
	case e.New == nil:
		return fmt.Errorf("policy %s: no New, want a function that makes it", e.Name)
	}
	p, err := e.New(nil)
	if err != nil {
		return fmt.Errorf("policy %s: without settings: %w", e.Name, err)
	}
	if p == nil {
		return fmt.Errorf("policy %s: New returned none", e.Name)
	}
	if _, err := e.NewPlacer("", PlacerOptions{}); err != nil {
		return fmt.Errorf("policy %s: %w", e.Name, err)
	}
	Add(*e)
	return nil
}
