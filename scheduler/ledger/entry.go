package ledger

import (
	"cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Use states how GPUs were used: held by a job, free, and so on.
type Use uint8

// The uses. The first three are by jobs.
const (
	Held Use = iota // granted by rounds
	Idle            // held by a job that had ended, until the end of its round
	Profiling
	Free     // up, and held by no job
	Starting // rented and charged, but not up yet
	Leaving  // rented, given back, and charged until they are gone
)

var useNames = [...]string{"held", "idle", "profiling", "free", "starting", "leaving"}

func (u Use) String() string { return useNames[u] }

// Nobody reports whether the GPUs had no job in this use.
func (u Use) Nobody() bool { return u >= Free }

// A Pool is all GPUs of one type and tenure (owned, rented or on loan). Rented and lent GPUs of different groups
// are different pools.
type Pool struct {
	Type   cluster.GPUType
	Tenure cluster.Tenure
	Group  cluster.Group // empty for owned nodes
}

func (p Pool) compare(q Pool) int {
	return cmp.Or(cmp.Compare(p.Type, q.Type), cmp.Compare(p.Tenure, q.Tenure), cmp.Compare(p.Group, q.Group))
}

func poolOf(n *cluster.Node) Pool {
	p := Pool{Type: n.GPUType, Tenure: n.Tenure, Group: n.Group}
	if n.Tenure == cluster.Owned {
		p.Group = ""
	}
	return p
}

var tenureNames = map[cluster.Tenure]string{cluster.Owned: "owned", cluster.Loaned: "loaned", cluster.Rented: "rented"}

// TenureName returns the tenure in one word.
func (p Pool) TenureName() string { return tenureNames[p.Tenure] }

// A Sum is an amount of GPU time, and its cost.
type Sum struct {
	Time   GPUTime
	Priced GPUTime // part of Time, in rounds whose plan has prices
	Paid   float64 // in the unit of the policy's objective
	Rent   float64 // cost of rented nodes, in the currency of their prices
}

// Add adds u to s.
func (s *Sum) Add(u *Sum) {
	s.Time, s.Priced = s.Time.Plus(u.Time), s.Priced.Plus(u.Priced)
	s.Paid += u.Paid
	s.Rent += u.Rent
}

// An Entry states that a job, or no job if Job is nil, had GPUs of one pool for some time.
type Entry struct {
	Job *job.Spec
	Pool
	Use Use
	Sum
}
