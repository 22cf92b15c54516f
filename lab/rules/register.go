// Package rules has the rules of public code that policies follow in comparisons with papers:
// where the solver of Gavel's code ends, and how Synergy's simulator packs.
package rules

import (
	"github.com/oxgang/oxgang/policy/rivals/gavel"
	"github.com/oxgang/oxgang/policy/synergy"
)

// Register makes the rules of public code available to the policies of gavel and synergy. A program calls it
// once, before it makes policies.
func Register() {
	gavel.RegisterPublic(SolveGavel)
	synergy.RegisterPublic(NewSynergy)
}
