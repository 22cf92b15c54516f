package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Book adds up GPU time and cost by job, kind of node and use. The zero value is empty.
type Book struct {
	sums map[line]*Sum
}

type line struct {
	who
	Pool
	use Use
}

type who struct {
	queue, user string
	class       job.Class
	job         job.ID
}

func whose(spec *job.Spec) who {
	if spec == nil {
		return who{}
	}
	return who{spec.Queue, spec.User, cmp.Or(spec.Class, job.Class(spec.Name)), spec.ID}
}

// Add adds an entry.
func (b *Book) Add(e *Entry) {
	if b.sums == nil {
		b.sums = make(map[line]*Sum)
	}
	l := line{whose(e.Job), e.Pool, e.Use}
	if b.sums[l] == nil {
		b.sums[l] = new(Sum)
	}
	b.sums[l].add(&e.Sum)
}

// AddUnused adds measured time in which a job left GPUs idle that it held. It is dropped if the book has no such job.
func (b *Book) AddUnused(id job.ID, t GPUTime) {
	for _, l := range b.lines() {
		if l.job == id && l.use == Held {
			b.sums[l].Unused = b.sums[l].Unused.Plus(t)
			return
		}
	}
}

func (b *Book) lines() []line {
	return slices.SortedFunc(maps.Keys(b.sums), func(a, b line) int {
		return cmp.Or(
			cmp.Compare(a.queue, b.queue), cmp.Compare(a.user, b.user), cmp.Compare(a.class, b.class),
			cmp.Compare(a.job, b.job), a.Pool.compare(b.Pool), cmp.Compare(a.use, b.use),
		)
	})
}

// A Row is the GPU time and cost of one group of jobs, or of one job.
type Row struct {
	Of        []string `json:"of"` // names of the job, user, or other keys by which the statement is grouped
	Jobs      int      `json:"jobs"`
	Used      GPUTime  `json:"gpu_seconds"`
	UsedShare float64  `json:"gpu_seconds_share"`
	Owned     GPUTime  `json:"owned_gpu_seconds"`     // part of Used
	Loaned    GPUTime  `json:"loaned_gpu_seconds"`    // part of Used on nodes on loan
	Rented    GPUTime  `json:"rented_gpu_seconds"`    // part of Used
	Profiling GPUTime  `json:"profiling_gpu_seconds"` // part of Used, and of Owned
	Idle      GPUTime  `json:"idle_gpu_seconds"`      // part of Used, from the end of a job to the end of its last round
	Priced    GPUTime  `json:"priced_gpu_seconds"`    // part of Used, in rounds whose plan has dual prices
	Paid      float64  `json:"paid"`                  // payment at dual prices, in the unit of the policy's objective
	PaidShare float64  `json:"paid_share"`
	Unused    GPUTime  `json:"unused_gpu_seconds"` // part of Used in which the GPUs computed nothing, as measured
	Rent      float64  `json:"rent"`               // money for rented nodes, in the currency of their prices
	Lost      GPUTime  `json:"lost_gpu_seconds"`   // work that other jobs have to repeat because they were stopped for jobs of this row; not part of Used
	jobs      map[job.ID]bool
}

func (r *Row) add(l *line, s *Sum) {
	r.Used, r.Priced, r.Unused = r.Used.Plus(s.Time), r.Priced.Plus(s.Priced), r.Unused.Plus(s.Unused)
	r.Lost = r.Lost.Plus(s.Lost)
	r.Paid += s.Paid
	r.Rent += s.Rent
	for _, part := range []struct {
		of  bool
		sum *GPUTime
	}{
		{l.Tenure == cluster.Owned, &r.Owned},
		{l.Tenure == cluster.Loaned, &r.Loaned},
		{l.Tenure == cluster.Rented, &r.Rented},
		{l.use == Profiling, &r.Profiling},
		{l.use == Idle, &r.Idle},
	} {
		if part.of {
			*part.sum = part.sum.Plus(s.Time)
		}
	}
	if r.jobs == nil {
		r.jobs = map[job.ID]bool{}
	}
	r.jobs[l.job] = true
	r.Jobs = len(r.jobs)
}

type key struct {
	name string
	of   func(*line) string
}

var keys = []key{
	{"queue", func(l *line) string { return l.queue }},
	{"user", func(l *line) string { return l.user }},
	{"class", func(l *line) string { return string(l.class) }},
	{"job", func(l *line) string { return string(l.job) }},
	{"type", func(l *line) string { return string(l.Type) }},
	{"tenure", func(l *line) string { return l.TenureName() }},
	{"group", func(l *line) string { return string(l.Group) }},
	{"use", func(l *line) string { return l.use.String() }},
}

// Keys returns the keys by which a statement can be grouped, such as "user".
func Keys() []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

// A Statement shows a Book as two tables: GPU time by jobs, and by pools of nodes.
type Statement struct {
	By    []string `json:"by"`
	Rows  []Row    `json:"rows"` // GPU time by jobs, in the order of the keys
	Total Row      `json:"total"`
	Pools []Supply `json:"pools"` // GPU time by type, tenure and group of nodes
}

// A Supply states how the GPUs of one pool of nodes were used.
type Supply struct {
	Type     cluster.GPUType `json:"type"`
	Tenure   string          `json:"tenure"`
	Group    cluster.Group   `json:"group,omitempty"`
	Came     int             `json:"came"`                 // nodes that arrived; 0 for owned ones
	Returned int             `json:"returned"`             // nodes given back by rounds
	Gone     int             `json:"gone"`                 // nodes that left otherwise
	There    GPUTime         `json:"there_gpu_seconds"`    // GPU time of nodes that are up: held + idle + free + leaving
	Jobs     GPUTime         `json:"jobs_gpu_seconds"`     // part of There: held + idle
	Free     GPUTime         `json:"free_gpu_seconds"`     // part of There: free
	Leaving  GPUTime         `json:"leaving_gpu_seconds"`  // given back, but still charged
	Starting GPUTime         `json:"starting_gpu_seconds"` // not part of There
	Rent     float64         `json:"rent"`
	Nobody   float64         `json:"nobody_rent"` // part of Rent without a job: starting, free and leaving
}

// State returns the Book as tables, with rows grouped by the given Keys. movements are the results of Movements of all
// recorders that filled the book.
func (b *Book) State(groupBy []string, movements ...Movement) (*Statement, error) {
	s := &Statement{By: groupBy, Rows: []Row{}, Pools: []Supply{}}
	if err := checkKeys(groupBy); err != nil {
		return nil, err
	}
	rows, supplies := map[string]*Row{}, map[Pool]*Supply{}
	var order []string
	for _, l := range b.lines() {
		sum := b.sums[l]
		supplyOf(supplies, l.Pool).add(l.use, sum)
		if l.use.withoutJob() {
			continue
		}
		of := l.names(groupBy)
		id := strings.Join(of, "\x00")
		if rows[id] == nil {
			rows[id] = &Row{Of: of}
			order = append(order, id)
		}
		rows[id].add(&l, sum)
		s.Total.add(&l, sum)
	}
	slices.Sort(order)
	for _, id := range order {
		r := rows[id]
		r.setShare(&s.Total)
		s.Rows = append(s.Rows, *r)
	}
	s.Total.setShare(&s.Total)
	for i := range movements {
		supplyOf(supplies, movements[i].Pool).moved(&movements[i])
	}
	for _, p := range slices.SortedFunc(maps.Keys(supplies), Pool.compare) {
		if !supplies[p].empty() {
			s.Pools = append(s.Pools, *supplies[p])
		}
	}
	return s, nil
}

func checkKeys(by []string) error {
	for i, name := range by {
		if !slices.Contains(Keys(), name) {
			return fmt.Errorf("ledger: rows by %q, want some of %s", name, strings.Join(Keys(), ", "))
		}
		if slices.Contains(by[:i], name) {
			return fmt.Errorf("ledger: rows by %q twice, want it once", name)
		}
	}
	return nil
}

func (l *line) names(by []string) []string {
	of := make([]string, len(by))
	for i, name := range by {
		of[i] = keys[slices.IndexFunc(keys, func(k key) bool { return k.name == name })].of(l)
	}
	return of
}

func (r *Row) setShare(all *Row) {
	if used := all.Used.Seconds(); used > 0 {
		r.UsedShare = r.Used.Seconds() / used
	}
	if all.Paid > 0 {
		r.PaidShare = r.Paid / all.Paid
	}
}

func supplyOf(all map[Pool]*Supply, p Pool) *Supply {
	if all[p] == nil {
		all[p] = &Supply{Type: p.Type, Tenure: p.TenureName(), Group: p.Group}
	}
	return all[p]
}

func (s *Supply) add(use Use, sum *Sum) {
	s.Rent += sum.Rent
	if use.withoutJob() {
		s.Nobody += sum.Rent
	}
	to := map[Use]*GPUTime{Held: &s.Jobs, Idle: &s.Jobs, Free: &s.Free, Leaving: &s.Leaving, Starting: &s.Starting}[use]
	if to == nil { // profiling has no node that was granted
		return
	}
	*to = to.Plus(sum.Time)
	if use != Starting {
		s.There = s.There.Plus(sum.Time)
	}
}

// empty reports whether the pool never had a GPU: profiling has a separate pool.
func (s *Supply) empty() bool { return s.There.IsZero() && s.Starting.IsZero() && s.Came == 0 }

func (s *Supply) moved(m *Movement) {
	s.Came += m.Came
	s.Returned += m.Returned
	s.Gone += m.Gone
}
