// Package rivals registers every policy and every engine: all of policy/standard, and those that serve only for
// comparison.
package rivals

import (
	// Each of these registers its engines.
	_ "github.com/oxgang/oxgang/opt/copter"
	_ "github.com/oxgang/oxgang/opt/exact" // exact, lp-exact

	// Each of these registers its policies.
	_ "github.com/oxgang/oxgang/policy/rivals/afs"
	_ "github.com/oxgang/oxgang/policy/rivals/gandiva"
	_ "github.com/oxgang/oxgang/policy/rivals/gavel"  // gavel, mst, ftf, ossp, allox, gandivafair
	_ "github.com/oxgang/oxgang/policy/rivals/pollux" // pollux, pollux-autoscale
	_ "github.com/oxgang/oxgang/policy/rivals/pop"
	_ "github.com/oxgang/oxgang/policy/rivals/themis"
	_ "github.com/oxgang/oxgang/policy/standard"
)
