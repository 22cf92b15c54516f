package slurm

import (
	"cmp"
	"slices"
	"time"
)

// grouped follows an input in which jobs are sorted and their runs adjacent, like sacct's. It then knows time
// zero before the runs are joined. in is false for other inputs.
type grouped struct {
	in    bool
	count uint32 // of runs
	first run    // of the last job
	ran   bool   // the last job has run
	began uint32 // earliest possible start of a job that ran, without the last one; lastSecond: none
}

func (g *grouped) add(r *run) {
	g.count++
	switch {
	case !g.in:
	case g.count == 1 || g.first.id.before(r.id):
		g.settle()
		g.first, g.ran = *r, r.elapsed > 0
	case g.first.id == r.id:
		if byJob(r, &g.first) < 0 {
			g.first = *r
		}
		g.ran = g.ran || r.elapsed > 0
	default:
		g.in = false
	}
}

func (g *grouped) settle() {
	if g.ran {
		g.began = min(g.began, g.first.eligible)
	}
}

func (k key) before(other key) bool {
	return k.number < other.number || k.number == other.number && k.part < other.part
}

func (l *log) passJobs() (ok bool) {
	of := l.o.Summary
	read := len(of.Notes)
	ok = l.passJoined()
	of.Notes = slices.Insert(of.Notes, read, l.notes.Notes...) // before notes about jobs
	return ok
}

func (l *log) passJoined() (ok bool) {
	if l.grouped.in {
		l.grouped.settle()
		from := l.first(l.grouped.began)
		return l.joined(func(r *run) bool { return l.pass(r, from) })
	}
	began := uint32(lastSecond)
	var jobs []run
	l.joined(func(r *run) bool {
		if r.elapsed > 0 {
			began = min(began, r.eligible)
		}
		jobs = append(jobs, *r)
		return true
	})
	slices.SortFunc(jobs, func(a, b run) int { return cmp.Compare(a.place, b.place) })
	from := l.first(began)
	for i := range jobs {
		if !l.pass(&jobs[i], from) {
			return false
		}
	}
	return true
}

// first returns time zero.
func (l *log) first(began uint32) time.Time {
	if !l.o.Start.IsZero() {
		return l.o.Start
	}
	return time.Unix(int64(began), 0)
}

// joined calls do with one run for each job until it returns false, and joins the others for their notes.
func (l *log) joined(do func(*run) bool) (ok bool) {
	slices.SortFunc(l.runs, func(a, b run) int { return byJob(&a, &b) })
	ok = true
	for rest := l.runs; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(r run) bool { return r.id != rest[0].id })
		if n < 0 {
			n = len(rest)
		}
		r := l.join(rest[:n])
		ok = ok && do(r)
		rest = rest[n:]
	}
	l.runs = nil
	return ok
}

// join returns the last run that ran; runs are in order of time.
func (l *log) join(runs []run) *run {
	first, last := runs[0], &runs[0]
	for i := range runs[1:] {
		r := &runs[1+i]
		switch {
		case r.submit == last.submit && r.start == last.start && r.elapsed == last.elapsed:
			l.notes.Note("repeated rows dropped")
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
