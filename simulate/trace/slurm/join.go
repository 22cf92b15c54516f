package slurm

import (
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
	l.joinRuns()
	from := l.first()
	of.Began = from.UTC()
	ok = true
	l.jobs(func(r *run) bool {
		ok = l.pass(r, from)
		return ok
	})
	of.Notes = slices.Insert(of.Notes, read, l.notes.Notes...) // before notes about jobs
	return ok
}

// jobs calls do with the runs that stand for jobs, in the order of their rows, until do returns false.
func (l *log) jobs(do func(*run) bool) {
	l.runs.each(func(r *run) bool {
		if joined, ok := l.joined[r.place]; ok {
			return joined == nil || do(joined)
		}
		return do(r)
	})
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

func (l *log) first() time.Time {
	if !l.o.Start.IsZero() {
		return l.o.Start
	}
	began := uint32(lastSecond)
	l.jobs(func(r *run) bool {
		if r.elapsed > 0 {
			began = min(began, r.eligible)
		}
		return true
	})
	return time.Unix(int64(began), 0)
}

// joinRuns joins the runs of each job. Most jobs have one.
func (l *log) joinRuns() {
	order := l.runs.repeated()
	l.joined = map[uint32]*run{}
	for rest := order; len(rest) > 0; {
		n := 1
		for n < len(rest) && l.runs.byJob(&rest[0].id, &rest[n].id) == 0 {
			n++
		}
		if n > 1 {
			l.joinGroup(rest[:n])
		}
		rest = rest[n:]
	}
}

// joinGroup joins the runs at these places, which have the same job number.
func (l *log) joinGroup(places []place) {
	group := make([]*run, len(places))
	for i, p := range places {
		r := l.runs.at(p.at)
		group[i], l.joined[p.at] = &r, nil
	}
	slices.SortFunc(group, byStart)
	var jobs []*run
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].id == group[0].id {
			n++
		}
		jobs, group = l.joinUses(jobs, group[:n]), group[n:]
	}
	for _, r := range l.joinParts(jobs) {
		l.joined[r.place] = r
	}
}

// joinUses appends the jobs that had the same number, one after another. id.use counts them.
func (l *log) joinUses(jobs, same []*run) []*run {
	for use := uint16(0); len(same) > 0; use++ {
		first := same[0]
		n, end := 1, l.leftAt(first)
		for n < len(same) && l.requeued(first, same[n], end) {
			end = max(end, l.leftAt(same[n]))
			n++
		}
		last := l.join(same[:n])
		if last.id.use = use; use > 0 {
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

func (l *log) join(same []*run) *run {
	first, last := same[0], same[0]
	for _, r := range same[1:] {
		switch {
		case r.submit == last.submit && r.start == last.start && r.elapsed == last.elapsed:
			l.notes.Note("repeated rows dropped")
		case l.states.all[last.state] == "RESIZED" && last.start > 0 && r.elapsed > 0:
			l.notes.Note("rows of jobs before a resize, simulated with their last GPUs")
			r.elapsed, r.start = r.start+r.elapsed-last.start, last.start
			last = r
		case r.elapsed == 0:
			l.notes.Note(noteCutShort)
		default:
			l.notes.Note(noteCutShort)
			last = r
		}
	}
	last.submit, last.eligible = first.submit, first.eligible
	return last
}

const noteCutShort = "runs that a requeue ended, or that never ran: their time counts as waiting"

// joinParts joins the parts of heterogeneous jobs (7+0, 7+1), which start together. Parts on different GPU types
// remain separate jobs.
func (l *log) joinParts(jobs []*run) []*run {
	joined := jobs[:0]
	for _, r := range jobs {
		if r.id.part < heterogeneous || !l.joinPart(joined, r) {
			joined = append(joined, r)
		}
	}
	return joined
}

// joinPart adds a part to the first of these jobs that it belongs to, and reports whether there is one.
func (l *log) joinPart(jobs []*run, part *run) bool {
	for _, j := range jobs {
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
