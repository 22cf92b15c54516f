// Package reference is the way into the reference wing: what only comparison with papers
// and public code needs. Nothing that schedules imports the wing; what policies need of
// it to follow public rules is registered with them here.
package reference

import (
	"github.com/oxgang/oxgang/lab/gavelcode"
	"github.com/oxgang/oxgang/lab/synergycode"
	"github.com/oxgang/oxgang/policy/registry"
)

// Register makes the rules of public code available in policy/registry. A program calls it
// once, before it makes policies.
func Register() {
	registry.RegisterPublicGavel(gavelcode.Solve)
	registry.RegisterPublicSynergy(synergycode.New)
}
