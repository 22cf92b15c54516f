package cluster

import (
	"math"
	"time"
)

// A Loan is the state of a group of nodes that an inference cluster lends to training. Source: Lyra §4.
type Loan struct {
	Group Group
	Node  Node // example of a node, without ID
	Nodes int  // nodes of the owner, lent or not
	Lent  int
	Spare int // further nodes that can be borrowed now; 0 while the owner wants nodes back
	// Reclaim is the number of lent nodes that the owner wants back by the time By. At By the owner takes those not
	// yet returned, whatever runs there.
	Reclaim int
	By      time.Time // zero if Reclaim is 0
	Load    float64   // fraction of its GPUs that the owner uses
	// Expected is the number of nodes that can be lent in each coming interval of length Every; nil: unknown.
	Expected []int
	Every    time.Duration
}

// Loanable returns how many of an owner's nodes can be lent. need is the fraction of all GPUs that the owner uses, and
// headroom a further fraction that is never lent. Source: Lyra §7.1, "we leave a headroom of 2% of the inference
// cluster capacity".
func Loanable(nodes int, headroom, need float64) int {
	const rounding = 1e-9 // allowed rounding error, in nodes
	n := float64(nodes)
	return max(0, int(math.Floor(n*(1-headroom)-n*need+rounding)))
}

// LoanGroup returns the name of the group of borrowed nodes that have gpus GPUs of type t each.
func LoanGroup(t GPUType, gpus int) Group { return RentGroup(t, gpus) + "-loan" }

// Loans returns the initial state of all groups of nodes on loan, in the order of their first nodes. Loan.Node is the
// first node of the group.
func (c *Cluster) Loans() []Loan {
	var loans []Loan
	for _, o := range c.groups(Loaned) {
		loans = append(loans, Loan{Group: o.Group, Node: o.Node, Nodes: o.Most})
	}
	return loans
}
