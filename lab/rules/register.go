// Package reference is the way into the reference wing: what only comparison with papers
// and public code needs. Nothing that schedules imports the wing; what policies need of
// it to follow public rules is registered with them here.
package reference

import (
	"github.com/oxgang/oxgang/lab/gavelcode"
	"github.com/oxgang/oxgang/lab/synergycode"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
	"github.com/oxgang/oxgang/policy/synergy"
)

// Register makes the rules of public code available to the policies of gavel and synergy. A program calls it
// once, before it makes policies.
func Register() {
	gavel.RegisterPublic(gavelcode.Solve)
	synergy.RegisterPublic(synergycode.New)
}
