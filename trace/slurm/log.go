package slurm

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/trace/parse"
	"github.com/oxgang/oxgang/workload"
)

// A log holds the runs of all jobs, until those of a job are joined.
type log struct {
	o       parse.Options
	zone    *time.Location
	feed    *parse.Feed
	row     *parse.Row // nil: the input is JSON
	runs    [][]run    // pages of pageRuns, in the order of the input
	count   int
	names   names
	owners  interned[owner]
	asks    interned[ask]
	states  interned[string]
	stopped bool // by an error that ends the reading
}

// A run is one run of a job.
type run struct {
	id                      key
	submit, start, elapsed  uint32 // seconds, since 1970 but for elapsed
	name, owner, ask, state uint32
	line                    uint32 // 0: another run of the job stands for it
}

// pageRuns is how many runs are allocated at once.
const pageRuns = 1 << 12

// An owner is who submitted a job, and where.
type owner struct{ user, partition string }

// An ask is what many jobs ask for alike.
type ask struct {
	types      string // of GPUs, by comma
	gpus, cpus int
	memory     int64
	more, held bool // it was given more GPUs than it asked for; it could not start at once
}

// newLog returns the log of an input, before its first row.
func newLog(o parse.Options, yield func(workload.Arrival, error) bool) *log {
	l := &log{o: o, zone: o.Zone, feed: parse.NewFeed(o, Format, false, yield)}
	if l.zone == nil {
		l.zone = time.UTC
	}
	return l
}

// at returns a run.
func (l *log) at(i uint32) *run { return &l.runs[i/pageRuns][i%pageRuns] }

// add keeps a run.
func (l *log) add(r *record, line int) error {
	if r.local && l.o.Zone == nil {
		l.o.Summary.Note("rows whose times have no zone, taken as UTC (--zone names theirs)")
	}
	wanted := askOf(r)
	switch {
	case r.step:
		l.o.Summary.Note("job steps dropped")
		return nil
	case wanted.gpus == 0:
		l.o.Summary.Note(parse.DropNoGPUs)
		return nil
	}
	if l.count%pageRuns == 0 {
		l.runs = append(l.runs, make([]run, 0, pageRuns))
	}
	page := &l.runs[len(l.runs)-1]
	*page = append(*page, run{
		id: r.id, submit: uint32(r.submit), start: uint32(r.start), elapsed: uint32(min(r.elapsed, lastSecond)), line: uint32(line),
		name: l.names.keep(r.name), owner: l.owners.keep(owner{r.user, r.partition}, owner.clone),
		ask: l.asks.keep(wanted, ask.clone), state: l.states.keep(stateOf(r.state), strings.Clone),
	})
	l.count++
	return nil
}

// stateOf returns the state without who cancelled the job: "CANCELLED by 1000".
func stateOf(text string) string {
	state, _, _ := strings.Cut(text, " ")
	return strings.TrimSuffix(state, "+")
}

// askOf returns what a record asks for, or was given.
func askOf(r *record) ask {
	all := r.asked
	all.add(r.had)
	types := all.types
	if len(types) == 0 {
		types = r.had.types
	}
	return ask{
		types: strings.Join(types, ","), gpus: all.gpus, cpus: all.cpus, memory: all.memory,
		more: r.asked.gpus > 0 && r.had.gpus > r.asked.gpus, held: r.eligible > r.submit,
	}
}

// clone returns an owner whose texts are its own.
func (o owner) clone() owner { return owner{strings.Clone(o.user), strings.Clone(o.partition)} }

// clone returns an ask whose text is its own.
func (a ask) clone() ask {
	a.types = strings.Clone(a.types)
	return a
}

// merge joins the runs of each job: one of them stands for all.
func (l *log) merge() {
	order := make([]uint32, l.count)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		x, y := l.at(a), l.at(b)
		return cmp.Or(cmp.Compare(x.id.number, y.id.number), cmp.Compare(x.id.part, y.id.part), cmp.Compare(x.submit, y.submit),
			cmp.Compare(x.start, y.start), cmp.Compare(x.elapsed, y.elapsed), cmp.Compare(a, b))
	})
	for len(order) > 0 {
		n := 1
		for n < len(order) && l.at(order[n]).id == l.at(order[0]).id {
			n++
		}
		l.join(order[:n])
		order = order[n:]
	}
}

// join makes the last run that ran stand for the runs of a job, which are in order of time.
func (l *log) join(runs []uint32) {
	first, last := l.at(runs[0]), l.at(runs[0])
	for _, i := range runs[1:] {
		r, other := l.at(i), last
		switch {
		case r.submit == last.submit && r.start == last.start && r.elapsed == last.elapsed:
			l.o.Summary.Note("rows that repeat another dropped")
			other = r
		case r.elapsed == 0:
			l.o.Summary.Note(noteCutShort)
			other = r
		default:
			l.o.Summary.Note(noteCutShort)
			last = r
		}
		other.line = 0
	}
	last.submit = first.submit
}

const noteCutShort = "runs before a requeue, or after one that never ran: their time counts as waiting"

// passAll passes on all jobs and reports whether to go on.
func (l *log) passAll() bool {
	from := l.first()
	for i := range uint32(l.count) {
		if r := l.at(i); r.line != 0 && !l.pass(r, from) {
			return false
		}
	}
	return true
}

// first returns time zero: that of the options, or the first submission of a job that ran.
func (l *log) first() time.Time {
	if !l.o.Start.IsZero() {
		return l.o.Start
	}
	first := uint32(lastSecond)
	for i := range uint32(l.count) {
		if r := l.at(i); r.line != 0 && r.elapsed > 0 {
			first = min(first, r.submit)
		}
	}
	return time.Unix(int64(first), 0)
}

// pass passes on a job, if it counts, and reports whether to go on.
func (l *log) pass(r *run, from time.Time) bool {
	who, wanted := &l.owners.all[r.owner], &l.asks.all[r.ask]
	a := workload.Arrival{
		At: time.Unix(int64(r.submit), 0).Sub(from), Duration: time.Duration(r.elapsed) * time.Second,
		Spec: job.Spec{
			ID: job.ID(r.id.String()), Name: l.names.at(r.name), User: who.user, Queue: who.partition, Adaptivity: job.Rigid,
			GPUs: wanted.gpus, CPUs: float64(wanted.cpus), Memory: wanted.memory, GPUTypes: typesOf(wanted.types),
		},
	}
	if drop := dropped(&a); drop != "" {
		l.o.Summary.Note(drop)
		return true
	}
	l.note(l.states.all[r.state], wanted)
	if err := l.feed.Check(&a); err != nil {
		return l.feed.Reject(l.blame(int(r.line), err))
	}
	return l.feed.Accept(a, int(r.line), 0, "")
}

// dropped says why a job is dropped, or "".
func dropped(a *workload.Arrival) string {
	switch {
	case a.At < 0:
		return parse.DropEarlier
	case a.Duration == 0:
		return parse.DropNoTime
	}
	return ""
}

// note counts what the replay of a job cannot show.
func (l *log) note(state string, wanted *ask) {
	switch state {
	case "", "COMPLETED":
	case "RUNNING", "SUSPENDED":
		l.o.Summary.Note("jobs that still ran, taken to end then")
	default:
		l.o.Summary.Note("jobs that ended as " + state + ", run for as long as they did")
	}
	if wanted.more {
		l.o.Summary.Note("jobs that were given more GPUs than they asked for (whole nodes), counted as asked for")
	}
	if wanted.held {
		l.o.Summary.Note("jobs that could not start when submitted (a dependency, a hold, a begin time, a limit of an array), taken as if they could")
	}
}

// typesOf returns the GPU types of a list of names.
func typesOf(list string) []cluster.GPUType {
	if list == "" {
		return nil
	}
	var types []cluster.GPUType
	for name := range strings.SplitSeq(list, ",") {
		types = append(types, cluster.GPUType(name))
	}
	return types
}

// blame adds the place to an error of a check.
func (l *log) blame(line int, err error) error {
	if l.row == nil {
		return &parse.Error{File: l.o.File, Line: line, Problem: err.Error(), Err: err}
	}
	l.row.Line = line
	return l.row.Blame(err)
}
