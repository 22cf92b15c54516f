package slurm

import (
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A log holds the runs of all jobs until they are joined.
type log struct {
	o       parse.Options
	zone    *time.Location
	feed    *parse.Feed
	row     *parse.Row // nil: the input is JSON
	runs    []run      // of all jobs
	grouped grouped
	notes   parse.Summary // about joins
	owners  interned[owner]
	asks    interned[ask]
	states  interned[string]
	tres    textCache[resourceList]
	gres    textCache[resourceList]
	clocks  textCache[int64]
	days    [4]day              // of the time columns
	types   [][]cluster.GPUType // of asks; nil: not built yet
	stopped bool                // by a final error

	observe  bool // keep jobs with their observed times
	observed []parse.Observed
}

type owner struct{ user, partition, qos string }

// An ask is a request that many jobs share.
type ask struct {
	types      string // of GPUs, by comma
	gpus, cpus int
	memory     int64
	had        int    // granted GPUs; 0: unknown
	nodes      int    // granted nodes; 0: unknown
	reason     string // of a wait, unless it is a lack of GPUs
	held       bool   // could not start at once
	reserved   bool
}

func newLog(o parse.Options, yield func(workload.Arrival, error) bool) *log {
	l := &log{o: o, zone: o.Zone, feed: parse.NewFeed(o, Format, false, yield)}
	l.grouped = grouped{in: true, began: lastSecond}
	if l.zone == nil {
		l.zone = time.UTC
	}
	return l
}

func (l *log) add(r *record, line int) error {
	if r.local && l.o.Zone == nil {
		l.o.Summary.Note("rows with times without a zone, read as UTC (set it with --zone)")
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
	at := run{
		id: r.id, submit: uint32(r.submit), eligible: uint32(r.arrived()), start: uint32(r.started()), elapsed: uint32(min(r.elapsed, lastSecond)),
		limit: uint32(min(r.limit, lastSecond)), priority: uint32(r.priority), line: uint32(line), place: l.grouped.count, name: strings.Clone(r.name),
		owner: l.owners.keep(owner{r.user, r.partition, r.qos}, owner.clone),
		ask:   l.asks.keep(wanted, ask.clone), state: l.states.keep(stateOf(r.state), strings.Clone),
	}
	l.grouped.add(&at)
	l.runs = append(l.runs, at)
	return nil
}

// stateOf returns the state without who cancelled the job: "CANCELLED by 1000".
func stateOf(text string) string {
	state, _, _ := strings.Cut(text, " ")
	return strings.TrimSuffix(state, "+")
}

func askOf(r *record) ask {
	all := r.asked
	all.add(r.had)
	types := all.types
	if len(types) == 0 {
		types = r.had.types
	}
	return ask{
		types: strings.Join(types, ","), gpus: all.gpus, cpus: all.cpus, memory: all.memory,
		had: r.had.gpus, nodes: r.had.nodes, held: r.arrived() > r.submit, reason: waitReason(r.reason), reserved: r.reserved,
	}
}

// waitReason returns why a job waited; "" if for GPUs.
func waitReason(reason string) string {
	switch reason {
	case "None", "Resources", "Priority":
		return ""
	}
	return reason
}

func (o owner) clone() owner {
	return owner{strings.Clone(o.user), strings.Clone(o.partition), strings.Clone(o.qos)}
}

func (a ask) clone() ask {
	a.types, a.reason = strings.Clone(a.types), strings.Clone(a.reason)
	return a
}

// pass passes on a job, unless it is dropped, and reports whether to continue.
func (l *log) pass(r *run, from time.Time) bool {
	who, wanted := &l.owners.all[r.owner], &l.asks.all[r.ask]
	a := workload.Arrival{
		At: time.Unix(int64(r.eligible), 0).Sub(from), Duration: time.Duration(r.elapsed) * time.Second,
		Spec: job.Spec{
			ID: job.ID(r.id.String()), Name: r.name, User: who.user, Queue: who.partition, Adaptivity: job.Rigid,
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
		l.observed = append(l.observed, l.observedJob(r, a))
	}
	return l.feed.Accept(a, int(r.line), 0, "")
}

// observedJob returns a job with its observed times.
func (l *log) observedJob(r *run, a workload.Arrival) parse.Observed {
	o := parse.Observed{Arrival: a, Nodes: l.asks.all[r.ask].nodes, Submitted: time.Unix(int64(r.eligible), 0).UTC()}
	if r.start == 0 {
		l.o.Summary.Note("jobs without a start time in the log, not compared")
		return o
	}
	o.Started = time.Unix(int64(r.start), 0).UTC()
	if !stillRan(l.states.all[r.state]) {
		o.Ended = o.Started.Add(a.Duration)
	}
	return o
}

// dropped returns why a job is dropped, or "".
func dropped(a *workload.Arrival) string {
	switch {
	case a.At < 0:
		return parse.DropEarlier
	case a.Duration == 0:
		return parse.DropNoTime
	}
	return ""
}

// typesOf returns the GPU types of an ask. The list is shared and must not change.
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
