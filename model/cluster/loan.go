package cluster

import (
	"math"
	"time"
)

// A Loan is the state of the nodes of one group that their owner, an inference cluster, lends
// while it does not need them. Source: Lyra §4.
type Loan struct {
	Group Group
	Node  Node // each node of the group, without its ID
	Nodes int  // of the owner, lent or not
	Lent  int
	Spare int // how many more the owner would lend now; 0 while it wants some back
	// Reclaim is how many of the lent nodes the owner wants back until By. It then takes
	// those that were not given back, whatever runs there.
	Reclaim int
	By      time.Time // zero if Reclaim is 0
	Load    float64   // share of all its GPUs that the owner uses itself
	// Expected is how many nodes the owner expects to be able to lend throughout each
	// interval of length Every from now on; nil: it does not say.
	Expected []int
	Every    time.Duration
}

// Loanable returns how many of an owner's nodes can be on loan at the same time, if the owner
// needs a share of them, and headroom, another share, is never lent. Source: Lyra §7.1, "we leave a
// headroom of 2% of the inference cluster capacity"; a part of a server is not lent, and is
// asked back as a whole one (§2.1, §6).
func Loanable(nodes int, headroom, need float64) int {
	const rounding = 1e-9 // allowed rounding error, in nodes
	n := float64(nodes)
	return max(0, int(math.Floor(n*(1-headroom)-n*need+rounding)))
}

// LoanGroup returns the name of the group of loaned nodes with a number of GPUs of a type.
func LoanGroup(t GPUType, gpus int) Group { return RentGroup(t, gpus) + "-loan" }

// Loans returns the state of all groups of nodes of tenure Loaned before any node is lent, in the
// order in which the groups first appear. Node is the first node of the group.
func (c *Cluster) Loans() []Loan {
	var loans []Loan
	for _, o := range c.groups(Loaned) {
		loans = append(loans, Loan{Group: o.Group, Node: o.Node, Nodes: o.Most})
	}
	return loans
}
