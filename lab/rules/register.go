// Package rules reproduces where Gavel's public solver ends, and how Synergy's public simulator packs jobs.
package rules

import (
	"github.com/oxgang/oxgang/policy/rivals/gavel"
	"github.com/oxgang/oxgang/policy/synergy"
)

// Register links what the setting PublicCode of the policies gavel and synergy needs. Call it once, before creating
// these policies.
func Register() {
	gavel.RegisterPublic(SolveGavel)
	synergy.RegisterPublic(NewSynergy)
}
