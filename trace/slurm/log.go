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
	tres    recalled[resourceList]
	gres    recalled[resourceList]
	clocks  recalled[int64]
	days    [4]day              // of the columns of times
	types   [][]cluster.GPUType // of asks; nil: not needed yet
	stopped bool                // by an error that ends the reading

	observe  bool // keep what is passed on, with what was observed of it
	observed []parse.Observed
}

// A run is one run of a job.
type run struct {
	id                      key
	submit, eligible, start uint32 // seconds since 1970; eligible is not before submit; start 0: not known
	elapsed, limit          uint32 // seconds; limit 0: not known
	priority                uint32 // 0: not known
	name, owner, ask, state uint32
	line                    uint32 // 0: another run of the job stands for it
}

// pageRuns is how many runs are allocated at once.
const pageRuns = 1 << 12

// An owner is who submitted a job, and where.
type owner struct{ user, partition, qos string }

// An ask is what many jobs ask for alike.
type ask struct {
	types      string // of GPUs, by comma
	gpus, cpus int
	memory     int64
	had        int    // GPUs that it was given; 0: not known
	nodes      int    // that it was given; 0: not known
	reason     string // why it was kept back, if not for want of GPUs
	held       bool   // it could not start at once
	reserved   bool
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
		id: r.id, submit: uint32(r.submit), eligible: uint32(r.arrived()), start: uint32(r.started()), elapsed: uint32(min(r.elapsed, lastSecond)),
		limit: uint32(min(r.limit, lastSecond)), priority: uint32(r.priority), line: uint32(line),
		name: l.names.keep(r.name), owner: l.owners.keep(owner{r.user, r.partition, r.qos}, owner.clone),
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
		had: r.had.gpus, nodes: r.had.nodes, held: r.arrived() > r.submit, reason: kept(r.reason), reserved: r.reserved,
	}
}

// kept returns why a job was kept back; empty: because others had the GPUs.
func kept(reason string) string {
	switch reason {
	case "None", "Resources", "Priority":
		return ""
	}
	return reason
}

// clone returns an owner whose texts are its own.
func (o owner) clone() owner {
	return owner{strings.Clone(o.user), strings.Clone(o.partition), strings.Clone(o.qos)}
}

// clone returns an ask whose text is its own.
func (a ask) clone() ask {
	a.types, a.reason = strings.Clone(a.types), strings.Clone(a.reason)
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
	last.submit, last.eligible = first.submit, first.eligible
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
			first = min(first, r.eligible)
		}
	}
	return time.Unix(int64(first), 0)
}

// pass passes on a job, if it counts, and reports whether to go on.
func (l *log) pass(r *run, from time.Time) bool {
	who, wanted := &l.owners.all[r.owner], &l.asks.all[r.ask]
	a := workload.Arrival{
		At: time.Unix(int64(r.eligible), 0).Sub(from), Duration: time.Duration(r.elapsed) * time.Second,
		Spec: job.Spec{
			ID: job.ID(r.id.String()), Name: l.names.at(r.name), User: who.user, Queue: who.partition, Adaptivity: job.Rigid,
			GPUs: wanted.gpus, CPUs: float64(wanted.cpus), Memory: wanted.memory, GPUTypes: l.typesOf(r.ask),
			Priority: float64(r.priority), Target: float64(r.limit),
		},
	}
	if l.observe {
		a.Spec.GPUs = max(wanted.gpus, wanted.had)
	}
	if drop := dropped(&a); drop != "" {
		l.o.Summary.Note(drop)
		return true
	}
	l.note(l.states.all[r.state], r, wanted)
	l.noteQOS(who.qos)
	if err := l.feed.Check(&a); err != nil {
		return l.feed.Reject(l.blame(int(r.line), err))
	}
	if l.observe {
		l.observed = append(l.observed, l.seen(r, a))
	}
	return l.feed.Accept(a, int(r.line), 0, "")
}

// seen returns what was observed of a job.
func (l *log) seen(r *run, a workload.Arrival) parse.Observed {
	o := parse.Observed{Arrival: a, Nodes: l.asks.all[r.ask].nodes, Submitted: time.Unix(int64(r.eligible), 0).UTC()}
	if r.start == 0 {
		l.o.Summary.Note("jobs of which the log does not say when they started, not compared")
		return o
	}
	o.Started = time.Unix(int64(r.start), 0).UTC()
	if !stillRan(l.states.all[r.state]) {
		o.Ended = o.Started.Add(a.Duration)
	}
	return o
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

// typesOf returns the GPU types of an ask. Jobs that ask alike have one list, of which none may change an entry.
func (l *log) typesOf(number uint32) []cluster.GPUType {
	if l.types == nil {
		l.types = make([][]cluster.GPUType, len(l.asks.all))
	}
	list := l.asks.all[number].types
	if list != "" && l.types[number] == nil {
		for name := range strings.SplitSeq(list, ",") {
			l.types[number] = append(l.types[number], cluster.GPUType(name))
		}
		l.types[number] = slices.Clip(l.types[number])
	}
	return l.types[number]
}

// blame adds the place to an error of a check.
func (l *log) blame(line int, err error) error {
	if l.row == nil {
		return &parse.Error{File: l.o.File, Line: line, Problem: err.Error(), Err: err}
	}
	l.row.Line = line
	return l.row.Blame(err)
}
