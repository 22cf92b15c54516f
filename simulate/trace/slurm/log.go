package slurm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

type log struct {
	o        parse.Options
	zone     *time.Location
	feed     *parse.Feed
	row      *parse.Row // nil: the input is JSON
	last     record
	runs     runs
	joined   map[uint32]*run // by place: a run changed by a join; nil: part of another run
	notes    parse.Summary   // about joins
	others   []string        // names of clusters that are left out
	owners   interned[owner]
	asks     interned[ask]
	states   interned[string]
	clusters interned[string]
	names    interned[string] // of jobs, at most mostNames
	tres     textCache[resourceList]
	gres     textCache[resourceList]
	clocks   textCache[int64]
	days     [4]day              // of the time columns
	types    [][]cluster.GPUType // of asks; nil: not built yet
	stopped  bool                // by a final error

	observe  bool // keep jobs with their observed times
	observed []parse.Observed
}

type owner struct{ user, partition, qos string }

type ask struct {
	types      string // of GPUs, by comma
	gpus, cpus int
	memory     int64
	had        int    // granted GPUs; 0: unknown
	nodes      int    // granted nodes; 0: unknown
	reason     string // of a wait, unless it is a lack of GPUs
	held       bool   // could not start at once
	reserved   bool
	suspended  bool
	part       string // kind of parts of GPUs next to the GPUs; empty: none
}

func newLog(o parse.Options, yield func(workload.Arrival, error) bool) *log {
	l := &log{o: o, zone: o.Zone, feed: parse.NewFeed(o, Format, false, yield)}
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
	if drop, count := l.dropRow(r, &wanted); drop != "" {
		l.o.Summary.NoteMany(drop, count)
		return nil
	}
	cluster := l.clusters.keep(r.cluster, strings.Clone)
	if cluster > math.MaxUint16 {
		return &parse.Error{File: l.o.File, Line: line, Problem: fmt.Sprintf("more than %d clusters", math.MaxUint16)}
	}
	r.id.cluster = uint16(cluster)
	name, text := l.nameNumber(r.name)
	at := run{
		id: r.id, submit: uint32(r.submit), eligible: uint32(r.arrived()), start: uint32(r.started()), elapsed: uint32(min(r.elapsed, lastSecond)),
		limit: uint32(min(r.limit, lastSecond)), priority: uint32(r.priority), line: uint32(line), name: name, text: text,
		owner: l.owners.keep(owner{r.user, r.partition, r.qos}, owner.clone),
		ask:   l.asks.keep(wanted, ask.clone), state: l.states.keep(stateOf(r.state), strings.Clone),
	}
	if at.start > 0 && at.start < at.submit {
		l.o.Summary.Note("rows of jobs that started before their submission, counted as not waiting")
		at.start = at.submit
	}
	l.runs.add(&at)
	return nil
}

// nameNumber returns the number of a job's name from 1, or 0 and the name itself if there are too many names.
func (l *log) nameNumber(name string) (number uint32, text string) {
	if _, known := l.names.number[name]; !known && len(l.names.all) == mostNames {
		return 0, name
	}
	return l.names.keep(name, strings.Clone) + 1, ""
}

func (l *log) jobName(r *run) string {
	if r.name > 0 {
		return l.names.all[r.name-1]
	}
	return r.text
}

const mostNames = 1 << 16

func (l *log) dropRow(r *record, wanted *ask) (drop string, count int) {
	switch {
	case r.step:
		return "job steps dropped", 1
	case l.o.Cluster != "" && r.cluster != l.o.Cluster:
		if !slices.Contains(l.others, r.cluster) {
			l.others = append(l.others, strings.Clone(r.cluster))
		}
		return "jobs of other clusters left out", 1
	case wanted.gpus == 0 && wanted.part != "":
		return parse.DropParts + " (" + wanted.part + ")", max(1, r.tasks)
	case wanted.gpus == 0 && r.id.part >= heterogeneous:
		return "parts of heterogeneous jobs without GPUs, left out", 1
	case wanted.gpus == 0:
		return parse.DropNoGPUs, max(1, r.tasks)
	case r.tasks > 0 && r.elapsed == 0:
		return "tasks of arrays: " + neverRan(stateOf(r.state)), r.tasks
	}
	return "", 0
}

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
	wanted := ask{
		types: strings.Join(types, ","), gpus: all.gpus, cpus: all.cpus, memory: all.memory,
		had: r.had.gpus, nodes: r.had.nodes, held: r.arrived() > r.submit, reason: waitReason(r.reason), reserved: r.reserved, suspended: r.suspended, part: all.parts,
	}
	if r.had.gpus == 0 && r.had.parts != "" { // it requested GPUs and got parts
		wanted.gpus, wanted.part = 0, r.had.parts
	}
	return wanted
}

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
	a.types, a.reason, a.part = strings.Clone(a.types), strings.Clone(a.reason), strings.Clone(a.part)
	return a
}

func (l *log) pass(r *run, from time.Time) bool {
	who, wanted := &l.owners.all[r.owner], &l.asks.all[r.ask]
	a := workload.Arrival{
		At: time.Unix(int64(r.eligible), 0).Sub(from), Duration: time.Duration(r.elapsed) * time.Second,
		Spec: job.Spec{
			ID: l.nameOf(r.id), Name: l.jobName(r), User: who.user, Queue: who.partition, Adaptivity: job.Rigid,
			GPUs: wanted.gpus, CPUs: float64(wanted.cpus), Memory: wanted.memory, GPUTypes: l.typesOf(r.ask),
			Priority: float64(r.priority), Target: float64(r.limit),
		},
	}
	if l.observe {
		a.Spec.GPUs = max(wanted.gpus, wanted.had)
	}
	if drop := dropped(&a, l.states.all[r.state]); drop != "" {
		l.o.Summary.Note(drop)
		return true
	}
	if cluster := l.clusters.all[r.id.cluster]; len(l.clusters.all) > 1 {
		l.o.Summary.Note("jobs of cluster " + cluster + ", counted with the others as one cluster (only these: --format slurm@" + cluster + ")")
	}
	l.note(l.states.all[r.state], r, wanted)
	l.noteQOS(who.qos)
	if err := l.feed.Check(&a); err != nil {
		return l.feed.Reject(l.blame(int(r.line), err))
	}
	if l.observe {
		l.observed = append(l.observed, l.observedJob(r, a))
	}
	if l.o.Wait != nil && r.start != 0 {
		l.o.Wait(time.Duration(max(r.start, r.eligible)-r.eligible) * time.Second)
	}
	return l.feed.Accept(a, int(r.line), 0, "")
}

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

// nameOf returns Slurm's name of a job, with the cluster in front if there are several, and #2 behind it if it
// is the second job with this number.
func (l *log) nameOf(id key) job.ID {
	name := id.String()
	if len(l.clusters.all) > 1 {
		name = l.clusters.all[id.cluster] + "/" + name
	}
	if id.use > 0 {
		name += "#" + strconv.Itoa(int(id.use)+1)
	}
	return job.ID(name)
}

func dropped(a *workload.Arrival, state string) string {
	switch {
	case a.Duration == 0:
		return neverRan(state)
	case a.At < 0:
		return parse.DropEarlier
	}
	return ""
}

func neverRan(state string) string {
	switch state {
	case "PENDING":
		return "jobs still waiting when the log ends, dropped"
	case "REVOKED":
		return "jobs of a federation that another cluster ran (REVOKED), dropped"
	case "", "COMPLETED":
		return parse.DropNoTime
	}
	return "jobs that never ran (" + state + ") dropped"
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

func (l *log) blame(line int, err error) error {
	if l.row == nil {
		return &parse.Error{File: l.o.File, Line: line, Problem: err.Error(), Err: err}
	}
	l.row.Line = line
	return l.row.Blame(err)
}
