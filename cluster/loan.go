package cluster

import (
	"math"
	"slices"
	"time"
)

// A Loan is how it stands with nodes of one group that their owner, an inference cluster,
// lends while it does not need them. Source: Lyra §4.
type Loan struct {
	Group Group
	Node  Node // what each is like, but for its ID
	Nodes int  // of the owner, lent or not
	Lent  int
	Spare int // more that it would lend now; 0 while it wants some back
	// Reclaim is how many of those lent it wants back, until By. What is not back by then
	// it takes, whatever runs there.
	Reclaim int
	By      time.Time // zero if Reclaim is 0
	Load    float64   // share of all its GPUs that it uses itself
	// Expected is how many nodes it expects that it can lend all through each interval of
	// length Every from now; nil: it does not say.
	Expected []int
	Every    time.Duration
}

// Loanable returns how many of so many nodes can be on loan in all, while their owner needs a
// share of them and a headroom, another share, is never lent. Source: Lyra §7.1, "we leave a
// headroom of 2% of the inference cluster capacity"; a part of a server is not lent, and is
// asked back as a whole one (§2.1, §6).
func Loanable(nodes int, headroom, need float64) int {
	const rounding = 1e-9 // of a node, by which products of shares may be off
	n := float64(nodes)
	return max(0, int(math.Floor(n*(1-headroom)-n*need+rounding)))
}

// LoanGroup returns the group of nodes on loan of so many GPUs of a type.
func LoanGroup(t GPUType, gpus int) Group { return RentGroup(t, gpus) + "-loan" }

// Loans returns how it stands with what can be lent before anything is: the nodes of tenure
// Loaned, by group, in the order in which groups first appear. The first node of a group
// stands for all.
func (c *Cluster) Loans() []Loan {
	var loans []Loan
	for _, n := range c.nodes {
		if n.Tenure != Loaned {
			continue
		}
		i := slices.IndexFunc(loans, func(l Loan) bool { return l.Group == n.Group })
		if i < 0 {
			i = len(loans)
			loans = append(loans, Loan{Group: n.Group, Node: n})
			loans[i].Node.ID = ""
		}
		loans[i].Nodes++
	}
	return loans
}
