// Package rivals adds every policy of this repository to policy/registry: those of package
// policy/standard, and those that only comparisons need.
package rivals

import (
	// Each policy adds itself to policy/registry when it is linked.
	_ "github.com/oxgang/oxgang/policy/rivals/afs"
	_ "github.com/oxgang/oxgang/policy/rivals/gandiva"
	_ "github.com/oxgang/oxgang/policy/rivals/gavel"  // gavel, mst, ftf, ossp, allox, gandivafair
	_ "github.com/oxgang/oxgang/policy/rivals/pollux" // pollux, pollux-autoscale
	_ "github.com/oxgang/oxgang/policy/rivals/pop"
	_ "github.com/oxgang/oxgang/policy/rivals/themis"
	_ "github.com/oxgang/oxgang/policy/standard"
)
