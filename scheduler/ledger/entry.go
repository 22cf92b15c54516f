package ledger

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// withoutJob reports whether the GPUs had no job in this use.
func (u Use) withoutJob() bool { return u >= Free }

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
	Priced GPUTime // part of Time, in rounds whose plan has dual prices
	Paid   float64 // payment at dual prices, in the unit of the policy's objective
	Rent   float64 // cost of rented nodes, in the currency of their prices
	Unused GPUTime // part of Time in which the GPUs were measured and computed nothing
	Lost   GPUTime // work that other jobs have to repeat because they were stopped for this one; not part of Time
}

func (s *Sum) add(u *Sum) {
	s.Time, s.Priced = s.Time.Plus(u.Time), s.Priced.Plus(u.Priced)
	s.Paid += u.Paid
	s.Rent += u.Rent
	s.Unused, s.Lost = s.Unused.Plus(u.Unused), s.Lost.Plus(u.Lost)
}

// An Entry states that a job, or no job if Job is nil, had GPUs of one pool for some time.
type Entry struct {
	Job *job.Spec
	Pool
	Use Use
	Sum
}

// A GPUTime is a number of GPUs times a duration, exact to the nanosecond. It holds up to 292 billion GPU-years.
type GPUTime struct {
	seconds int64
	nanos   int64 // 0 to 999,999,999
}

// Of returns the GPU time of gpus GPUs for duration d. Neither may be negative.
func Of(gpus int, d time.Duration) GPUTime {
	nanos := int64(gpus) * int64(d%time.Second)
	return GPUTime{int64(gpus)*int64(d/time.Second) + nanos/1e9, nanos % 1e9}
}

// Plus returns the sum of t and u.
func (t GPUTime) Plus(u GPUTime) GPUTime {
	nanos := t.nanos + u.nanos
	return GPUTime{t.seconds + u.seconds + nanos/1e9, nanos % 1e9}
}

// IsZero reports whether t is 0.
func (t GPUTime) IsZero() bool { return t == GPUTime{} }

// Seconds returns GPU-seconds.
func (t GPUTime) Seconds() float64 { return float64(t.seconds) + float64(t.nanos)/1e9 }

// Hours returns GPU-hours.
func (t GPUTime) Hours() float64 { return t.Seconds() / 3600 }

func (t GPUTime) String() string {
	if t.nanos == 0 {
		return strconv.FormatInt(t.seconds, 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", t.seconds, t.nanos), "0")
}

// MarshalJSON writes GPU-seconds as a number.
func (t GPUTime) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }

// A Period is the time from From, included, to To, excluded. The zero value is all time.
type Period struct{ From, To time.Time }

func (p Period) overlap(from, to time.Time) time.Duration {
	if p != (Period{}) {
		if from.Before(p.From) {
			from = p.From
		}
		if to.After(p.To) {
			to = p.To
		}
	}
	return max(0, to.Sub(from))
}

// Has reports whether a time is in the period.
func (p Period) Has(t time.Time) bool {
	return p == (Period{}) || !t.Before(p.From) && t.Before(p.To)
}

// Missing returns the parts of the period, in order, that are in no period of covered.
func (p Period) Missing(covered []Period) []Period {
	rest := []Period{p}
	for _, c := range covered {
		var next []Period
		for _, r := range rest {
			if r.overlap(c.From, c.To) == 0 {
				next = append(next, r)
				continue
			}
			if r.From.Before(c.From) {
				next = append(next, Period{r.From, c.From})
			}
			if c.To.Before(r.To) {
				next = append(next, Period{c.To, r.To})
			}
		}
		rest = next
	}
	return rest
}
