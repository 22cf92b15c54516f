// Package rules reproduces two public codes for comparisons with papers: where Gavel's solver ends, and how Synergy's
// simulator packs jobs.
package rules

import (
	"github.com/oxgang/oxgang/policy/rivals/gavel"
	"github.com/oxgang/oxgang/policy/synergy"
)

// Register makes the public rules available to the policies gavel and synergy. Call it once, before creating
// policies.
func Register() {
	gavel.RegisterPublic(SolveGavel)
	synergy.RegisterPublic(NewSynergy)
}
