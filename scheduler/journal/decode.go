package journal

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A decoder reads the record of one line. The records before it determine what "null" and omitted values mean.
type decoder struct {
	in   cursor
	only []byte // read only the changes of this job, in quotes; nil: all
	// there is the last list of nodes; nil: none yet.
	there *cluster.Cluster
	wants map[cluster.Group]int
	ended bool // this is the last line
	// passed is the value if this line is a checkpoint.
	passed []byte
}

func (dec *decoder) record(known map[job.ID]policy.Decision) Record {
	var rec Record
	dec.in.want('{')
	dec.in.name("t")
	rec.At = dec.in.seconds()
	dec.in.want(',')
	at := dec.in.pos
	key := dec.in.str()
	dec.in.want(':')
	if dec.in.err != nil {
		return rec
	}
	switch key {
	case "submit":
		rec.Event = scheduler.Submitted{Spec: dec.spec()}
	case "describe":
		rec.Event = scheduler.Described{Spec: dec.spec()}
	case "restore":
		rec.Event = dec.restored(func(string) bool { return false })
	case "report":
		rec.Event = scheduler.Reported{Report: dec.report()}
	case "profiled":
		rec.Event = scheduler.Profiled{Job: dec.in.job()}
	case "exit":
		rec.Event = dec.exited()
	case "nodes":
		rec.Event = dec.nodes()
	case "computed":
		dec.in.yes()
		rec.Event = scheduler.Computed{}
	case "round":
		rec.Round = dec.round(known)
	case "checkpoint":
		dec.passed = dec.in.value()
	case "end":
		dec.ended = dec.in.yes()
	default:
		dec.in.pos = at
		dec.in.fail(`"submit", "describe", "restore", "report", "profiled", "exit", "nodes", "computed", "round", "checkpoint" or "end"`)
	}
	dec.in.want('}')
	dec.in.end()
	return rec
}

func (c *cursor) job() job.ID {
	start := c.pos
	id := c.str()
	if id == "" && c.err == nil {
		c.pos = start
		c.fail("a job ID")
	}
	return job.ID(id)
}

func (dec *decoder) spec() *job.Spec {
	start := dec.in.pos
	text := dec.in.value()
	if dec.in.err != nil {
		return nil
	}
	spec, err := parseSpec(text)
	if err != nil {
		dec.in.err = fmt.Errorf("column %d: submission: %w", start+1, err)
	}
	return spec
}

func (dec *decoder) nodes() scheduler.Event {
	var ev scheduler.NodesChanged
	if dec.in.peek() == 'n' {
		dec.same()
	} else {
		dec.there = dec.listed()
	}
	ev.Cluster = dec.there
	for dec.in.take(',') {
		key := dec.in.str()
		dec.in.want(':')
		dec.offers(key, &ev)
	}
	return ev
}

func (dec *decoder) offers(key string, ev *scheduler.NodesChanged) {
	switch key {
	case "rentals":
		var rentals []rentalLine
		dec.decoded("rentals", &rentals, func() (err error) {
			ev.Rentals, err = makeRentals(rentals)
			return err
		})
	case "loans":
		var loans []loanLine
		dec.decoded("loans", &loans, func() (err error) {
			ev.Loans, err = makeLoans(loans)
			return err
		})
	default:
		dec.in.unknown(key)
	}
}

func (dec *decoder) decoded(what string, v any, use func() error) {
	start := dec.in.pos
	text := dec.in.value()
	if dec.in.err != nil {
		return
	}
	err := unmarshal(text, v)
	if err == nil {
		err = use()
	}
	if err != nil {
		dec.in.err = fmt.Errorf("column %d: %s: %w", start+1, what, err)
	}
}

func (dec *decoder) exited() scheduler.Event {
	var ev scheduler.Exited
	dec.in.want('[')
	ev.Job = dec.in.job()
	dec.in.want(',')
	start := dec.in.pos
	outcome := dec.in.str()
	for ev.Outcome = scheduler.Done; ev.Outcome.String() != outcome; ev.Outcome++ {
		if ev.Outcome == scheduler.Lost {
			dec.in.pos = start
			dec.in.fail("an outcome")
			break
		}
	}
	if dec.in.take(',') {
		ev.Detail = dec.in.str()
	}
	dec.in.want(']')
	return ev
}

func (dec *decoder) report() job.Report {
	var r job.Report
	dec.in.want('[')
	r.Job = dec.in.job()
	dec.in.want(',')
	r.Interval = dec.in.seconds()
	dec.in.want(',')
	r.Configuration = dec.configuration()
	dec.in.want(',')
	r.Batch.Local = int(dec.in.count(math.MaxInt32))
	dec.in.want(',')
	r.Batch.Accumulation = int(dec.in.count(math.MaxInt32))
	dec.in.want(',')
	r.StepTime = dec.in.seconds()
	dec.in.want(',')
	r.SyncTime = dec.in.seconds()
	dec.in.want(',')
	r.GradSqr = dec.in.float()
	dec.in.want(',')
	r.GradVar = dec.in.float()
	dec.in.want(',')
	r.Progress = dec.in.float()
	dec.in.want(',')
	r.Epoch = int(dec.in.count(math.MaxInt32))
	if dec.in.take(',') {
		r.Profile = dec.in.bool()
		r.CPUs, r.Memory = dec.host()
	}
	dec.in.want(']')
	return r
}

func (dec *decoder) same() {
	start := dec.in.pos
	if string(dec.in.word()) != "null" || dec.there == nil {
		dec.in.pos = start
		dec.in.fail("nodes, or null if an earlier line lists them")
	}
}

func (dec *decoder) configuration() cluster.Configuration {
	var k cluster.Configuration
	k.Nodes = int(dec.in.count(maxGPUs))
	dec.in.want(',')
	k.GPUs = int(dec.in.count(maxGPUs))
	dec.in.want(',')
	k.GPUType = cluster.GPUType(dec.in.str())
	return k
}

func (dec *decoder) allocation() cluster.Allocation {
	var a cluster.Allocation
	dec.in.want('[')
	if dec.in.take(']') {
		return a
	}
	a.Configuration = dec.configuration()
	a.Also = dec.also()
	a.CPUs, a.Memory = dec.host()
	dec.in.want(']')
	return a
}

func (dec *decoder) also() cluster.Configuration {
	start := dec.in.pos
	if !dec.in.take(',') || !dec.in.take('[') {
		dec.in.pos = start
		return cluster.Configuration{}
	}
	k := dec.configuration()
	dec.in.want(']')
	return k
}

func (dec *decoder) host() (cpus float64, memory int64) {
	if !dec.in.take(',') {
		return 0, 0
	}
	cpus = dec.in.float()
	dec.in.want(',')
	return cpus, dec.in.count(math.MaxInt64)
}

func (dec *decoder) placement() cluster.Placement {
	var p cluster.Placement
	for range dec.in.items() {
		var s cluster.Share
		dec.in.want('[')
		s.Node = cluster.NodeID(dec.in.str())
		dec.in.want(',')
		s.GPUs = int(dec.in.count(maxGPUs))
		s.CPUs, s.Memory = dec.host()
		dec.in.want(']')
		p = append(p, s)
	}
	return p
}

func (dec *decoder) batch() job.BatchSize {
	var b job.BatchSize
	dec.in.want('[')
	if dec.in.take(']') {
		return b
	}
	b.Local = int(dec.in.count(math.MaxInt32))
	dec.in.want(',')
	b.Accumulation = int(dec.in.count(math.MaxInt32))
	dec.in.want(']')
	return b
}

var kinds = func() map[string]policy.Kind {
	all := map[string]policy.Kind{}
	for _, k := range policy.Kinds() {
		all[k.String()] = k
	}
	return all
}()

func (dec *decoder) reason() policy.Reason {
	var r policy.Reason
	dec.in.want('[')
	start := dec.in.pos
	kind, ok := kinds[dec.in.str()]
	if !ok && dec.in.err == nil {
		dec.in.pos = start
		dec.in.fail("a kind of reason")
	}
	r.Kind = kind
	if dec.in.take(',') {
		r.Value = dec.in.float()
	}
	if dec.in.take(',') {
		r.Limit = dec.in.float()
	}
	if dec.in.take(',') {
		r.Config = dec.allocation().Configuration
	}
	dec.in.want(']')
	return r
}

func (dec *decoder) round(known map[job.ID]policy.Decision) *Round {
	r := &Round{}
	for key := range dec.in.keys() {
		switch key {
		case "n":
			r.Number = int(dec.in.count(math.MaxInt32))
		case "jobs":
			for range dec.in.items() {
				if dec.skips() {
					dec.in.value()
					continue
				}
				r.Changed = append(r.Changed, dec.change(known))
			}
		case "left":
			for range dec.in.items() {
				id := dec.in.job()
				r.Left = append(r.Left, id)
				delete(known, id)
			}
		case "prices":
			for range dec.in.items() {
				r.Prices = append(r.Prices, dec.price())
			}
		case "capacity":
			dec.wants = dec.capacity()
		case "refused":
			r.Refused = dec.in.str()
		case "stats":
			r.Stats = dec.stats()
		case "do":
			for range dec.in.items() {
				r.Actions = append(r.Actions, dec.action())
			}
		default:
			dec.in.unknown(key)
		}
	}
	r.Capacity = dec.wants
	return r
}

func (dec *decoder) skips() bool {
	return dec.only != nil && dec.in.peek() == '{' && !begins(dec.in.buf[dec.in.pos:], `{"id":`, dec.only)
}

func (dec *decoder) change(known map[job.ID]policy.Decision) Change {
	var ch Change
	dec.in.want('{')
	dec.in.name("id")
	ch.Job = dec.in.job()
	ch.Decision = known[ch.Job]
	for dec.in.take(',') {
		key := dec.in.str()
		dec.in.want(':')
		switch {
		case dec.granted(key, &ch.Decision):
		case key == "why":
			ch.Why = dec.reason()
		default:
			dec.in.unknown(key)
		}
	}
	dec.in.want('}')
	if dec.in.err == nil {
		known[ch.Job] = ch.Decision
	}
	return ch
}

func (dec *decoder) granted(key string, d *policy.Decision) bool {
	switch key {
	case "gets":
		d.Allocation = dec.allocation()
	case "on":
		d.Placement = dec.placement()
	case "batch":
		d.Batch = dec.batch()
	default:
		return false
	}
	return true
}

func (dec *decoder) stats() policy.Stats {
	var s policy.Stats
	dec.in.want('[')
	s.Iterations = int(dec.in.count(math.MaxInt32))
	for _, x := range [...]*float64{&s.Objective, &s.Bound, &s.Gap} {
		dec.in.want(',')
		*x = dec.in.float()
	}
	if dec.in.take(',') {
		s.Interrupted = dec.in.bool()
	}
	if dec.in.take(',') {
		s.Failed = dec.in.str()
	}
	dec.in.want(']')
	return s
}
