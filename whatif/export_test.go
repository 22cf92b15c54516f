package whatif

import "github.com/oxgang/oxgang/policy"

// Changes returns the changes that Unblock would ask for, in order.
func Changes(s *policy.Snapshot, at int) []Change {
	var all []Change
	for c := range changes(s, at) {
		all = append(all, c)
	}
	return all
}

// Whys returns every reason of the closed list.
func Whys() []Why { return []Why{Known, NoTarget, NoSpeed, Beyond} }
