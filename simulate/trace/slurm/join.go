package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

func (l *log) passJobs() (ok bool) {
	if err := l.noCluster(); err != nil {
		l.feed.Fail(err)
		return false
	}
	of := l.o.Summary
	read := len(of.Notes)
	jobs := l.joined()
	slices.Sort(jobs)
	from := l.first(jobs)
	of.Began = from.UTC()
	ok = true
	for _, i := range jobs {
		if ok = l.pass(l.runs.at(i), from); !ok {
			break
		}
	}
	of.Notes = slices.Insert(of.Notes, read, l.notes.Notes...) // before notes about jobs
	return ok
}

func (l *log) noCluster() error {
	if l.o.Cluster == "" || slices.Contains(l.clusters.all, l.o.Cluster) {
		return nil
	}
	has := "no column Cluster"
	if len(l.others) > 0 {
		has = "rows of " + strings.Join(l.others, ", ")
	}
	return &parse.Error{File: l.o.File, Problem: fmt.Sprintf("no rows of cluster %s: the file has %s", parse.Quote(l.o.Cluster), has)}
}

func (l *log) first(jobs []uint32) time.Time {
	if !l.o.Start.IsZero() {
		return l.o.Start
	}
	began := uint32(lastSecond)
	for _, i := range jobs {
		if r := l.runs.at(i); r.elapsed > 0 {
			began = min(began, r.eligible)
		}
	}
	return time.Unix(int64(began), 0)
}

func (l *log) joined() []uint32 {
	order := make([]uint32, l.runs.count)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(byJob(l.runs.at(a), l.runs.at(b)), cmp.Compare(a, b)) })
	jobs := order[:0] // never longer than the runs that were read
	for rest := order; len(rest) > 0; {
		id := l.runs.at(rest[0]).id
		n := slices.IndexFunc(rest, func(i uint32) bool { return l.runs.at(i).id != id })
		if n < 0 {
			n = len(rest)
		}
		jobs = l.joinUses(jobs, rest[:n])
		rest = rest[n:]
	}
	return l.joinParts(jobs)
}

// joinUses appends the jobs that had the same number, one after another. id.use counts them.
func (l *log) joinUses(jobs, same []uint32) []uint32 {
	for use := uint16(0); len(same) > 0; use++ {
		first := l.runs.at(same[0])
		n, end := 1, l.leftAt(first)
		for n < len(same) && l.requeued(first, l.runs.at(same[n]), end) {
			end = max(end, l.leftAt(l.runs.at(same[n])))
			n++
		}
		last := l.join(same[:n])
		if l.runs.at(last).id.use = use; use > 0 {
			l.notes.Note("job numbers that Slurm used again for another job")
		}
		jobs, same = append(jobs, last), same[n:]
	}
	return jobs
}

// requeued reports whether r is a later run of the job of first, whose runs ended by end. Slurm submits a job
// again when it requeues it. A number returns when the counter of jobs wraps: for another user, or long after.
func (l *log) requeued(first, r *run, end uint32) bool {
	before, now := l.owners.all[first.owner].user, l.owners.all[r.owner].user
	if before != now && before != "" && now != "" {
		return false
	}
	return r.submit == first.submit || int64(r.submit) <= int64(end)+aDay
}

// leftAt returns when a run ended. A run that never ended, although the job has a later one, counts as ended
// at its start.
func (l *log) leftAt(r *run) uint32 {
	if stillRan(l.states.all[r.state]) {
		return max(r.submit, r.start)
	}
	return uint32(min(int64(max(r.submit, r.start))+int64(r.elapsed), lastSecond))
}

func (l *log) join(same []uint32) uint32 {
	first, at := l.runs.at(same[0]), same[0]
	for _, i := range same[1:] {
		last, r := l.runs.at(at), l.runs.at(i)
		switch {
		case r.submit == last.submit && r.start == last.start && r.elapsed == last.elapsed:
			l.notes.Note("repeated rows dropped")
		case l.states.all[last.state] == "RESIZED" && last.start > 0 && r.elapsed > 0:
			l.notes.Note("rows of jobs before a resize, simulated with their last GPUs")
			r.elapsed, r.start = r.start+r.elapsed-last.start, last.start
			at = i
		case r.elapsed == 0:
			l.notes.Note(noteCutShort)
		default:
			l.notes.Note(noteCutShort)
			at = i
		}
	}
	last := l.runs.at(at)
	last.submit, last.eligible = first.submit, first.eligible
	return at
}

const noteCutShort = "runs that a requeue ended, or that never ran: their time counts as waiting"

// joinParts joins the parts of heterogeneous jobs (7+0, 7+1), which start together. Parts on different GPU types
// remain separate jobs.
func (l *log) joinParts(jobs []uint32) []uint32 {
	joined := jobs[:0]
	begin := 0 // of the jobs with the same number
	for _, i := range jobs {
		r := l.runs.at(i)
		if len(joined) == 0 || !l.runs.at(joined[begin]).id.sameNumber(r.id) {
			begin = len(joined)
		}
		if r.id.part < heterogeneous || !l.joinPart(joined[begin:], r) {
			joined = append(joined, i)
		}
	}
	return joined
}

func (k key) sameNumber(other key) bool {
	return k.cluster == other.cluster && k.number == other.number
}

// joinPart adds a part to the first of these jobs that it belongs to, and reports whether there is one.
func (l *log) joinPart(jobs []uint32, part *run) bool {
	for _, i := range jobs {
		j := l.runs.at(i)
		a, b := l.asks.all[j.ask], l.asks.all[part.ask]
		switch {
		case j.submit > part.submit+rounding || part.submit > j.submit+rounding:
		case a.types != b.types && a.types != "" && b.types != "":
			l.notes.Note("parts of heterogeneous jobs on other GPU types than the first part, simulated as jobs of their own that may start at other times")
		default:
			l.notes.Note("parts of heterogeneous jobs, joined with the first part to one job")
			if a.types == "" {
				a.types = b.types
			}
			a.gpus, a.cpus, a.memory, a.had, a.nodes = a.gpus+b.gpus, a.cpus+b.cpus, a.memory+b.memory, a.had+b.had, a.nodes+b.nodes
			j.ask, j.elapsed, j.id.part = l.asks.keep(a, ask.clone), max(j.elapsed, part.elapsed), 0
			return true
		}
	}
	return false
}

type run struct {
	id                      key
	submit, eligible, start uint32 // seconds since 1970; eligible is not before submit; start 0: unknown
	elapsed, limit          uint32 // seconds; limit 0: unknown
	priority                uint32 // 0: unknown
	owner, ask, state       uint32
	line                    uint32
	name                    string
}

// runs is a list of runs in blocks: it grows without copying, and its elements stay where they are.
type runs struct {
	blocks [][]run
	count  int
}

const blockRuns = 1 << 14

func (l *runs) add(r *run) {
	if l.count%blockRuns == 0 {
		l.blocks = append(l.blocks, make([]run, 0, blockRuns))
	}
	last := &l.blocks[len(l.blocks)-1]
	*last = append(*last, *r)
	l.count++
}

func (l *runs) at(i uint32) *run { return &l.blocks[i/blockRuns][i%blockRuns] }

func byJob(a, b *run) int {
	return cmp.Or(cmp.Compare(a.id.cluster, b.id.cluster), cmp.Compare(a.id.number, b.id.number), cmp.Compare(a.id.part, b.id.part), cmp.Compare(a.submit, b.submit),
		cmp.Compare(a.start, b.start), cmp.Compare(a.elapsed, b.elapsed))
}
