package journal

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// record reads a record. known has the last decision on each job, and is updated.
func (c *cursor) record(known map[job.ID]policy.Decision) Record {
	var rec Record
	c.want('{')
	c.name("t")
	rec.At = c.seconds()
	c.want(',')
	at := c.pos
	key := c.str()
	c.want(':')
	if c.err != nil {
		return rec
	}
	switch key {
	case "submit":
		rec.Event = scheduler.Submitted{Spec: c.spec()}
	case "describe":
		rec.Event = scheduler.Described{Spec: c.spec()}
	case "restore":
		rec.Event = c.restored(func(string) bool { return false })
	case "report":
		rec.Event = scheduler.Reported{Report: c.report()}
	case "profiled":
		rec.Event = scheduler.Profiled{Job: c.job()}
	case "exit":
		rec.Event = c.exited()
	case "nodes":
		rec.Event = c.nodes()
	case "computed":
		c.yes()
		rec.Event = scheduler.Computed{}
	case "round":
		rec.Round = c.round(known)
	case "checkpoint":
		c.passed = c.value()
	case "end":
		c.ended = c.yes()
	default:
		c.pos = at
		c.fail(`"submit", "describe", "restore", "report", "profiled", "exit", "nodes", "computed", "round", "checkpoint" or "end"`)
	}
	c.want('}')
	c.end()
	return rec
}

// name moves past a key that must come next.
func (c *cursor) name(key string) {
	c.peek()
	start := c.pos
	if c.str() != key && c.err == nil {
		c.pos = start
		c.fail(fmt.Sprintf("%q", key))
	}
	c.want(':')
}

func (c *cursor) unknown(key string) {
	if c.err == nil {
		c.err = fmt.Errorf("column %d: unknown key %.40q", c.pos+1, key)
	}
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

func (c *cursor) spec() *job.Spec {
	start := c.pos
	text := c.value()
	if c.err != nil {
		return nil
	}
	spec, err := parseSpec(text)
	if err != nil {
		c.err = fmt.Errorf("column %d: submission: %w", start+1, err)
	}
	return spec
}

func (c *cursor) nodes() scheduler.Event {
	var ev scheduler.NodesChanged
	if c.peek() == 'n' {
		c.same()
	} else {
		c.there = c.listed()
	}
	ev.Cluster = c.there
	for c.take(',') {
		key := c.str()
		c.want(':')
		c.offers(key, &ev)
	}
	return ev
}

func (c *cursor) offers(key string, ev *scheduler.NodesChanged) {
	switch key {
	case "rentals":
		var rentals []rentalLine
		c.decoded("rentals", &rentals, func() (err error) {
			ev.Rentals, err = makeRentals(rentals)
			return err
		})
	case "loans":
		var loans []loanLine
		c.decoded("loans", &loans, func() (err error) {
			ev.Loans, err = makeLoans(loans)
			return err
		})
	default:
		c.unknown(key)
	}
}

func (c *cursor) decoded(what string, v any, use func() error) {
	start := c.pos
	text := c.value()
	if c.err != nil {
		return
	}
	err := unmarshal(text, v)
	if err == nil {
		err = use()
	}
	if err != nil {
		c.err = fmt.Errorf("column %d: %s: %w", start+1, what, err)
	}
}

func (c *cursor) exited() scheduler.Event {
	var ev scheduler.Exited
	c.want('[')
	ev.Job = c.job()
	c.want(',')
	start := c.pos
	outcome := c.str()
	for ev.Outcome = scheduler.Done; ev.Outcome.String() != outcome; ev.Outcome++ {
		if ev.Outcome == scheduler.Lost {
			c.pos = start
			c.fail("an outcome")
			break
		}
	}
	if c.take(',') {
		ev.Detail = c.str()
	}
	c.want(']')
	return ev
}

func (c *cursor) report() job.Report {
	var r job.Report
	c.want('[')
	r.Job = c.job()
	c.want(',')
	r.Interval = c.seconds()
	c.want(',')
	r.Configuration = c.configuration()
	c.want(',')
	r.Batch.Local = int(c.count(math.MaxInt32))
	c.want(',')
	r.Batch.Accumulation = int(c.count(math.MaxInt32))
	c.want(',')
	r.StepTime = c.seconds()
	c.want(',')
	r.SyncTime = c.seconds()
	c.want(',')
	r.GradSqr = c.float()
	c.want(',')
	r.GradVar = c.float()
	c.want(',')
	r.Progress = c.float()
	c.want(',')
	r.Epoch = int(c.count(math.MaxInt32))
	if c.take(',') {
		r.Profile = c.bool()
		r.CPUs, r.Memory = c.host()
	}
	c.want(']')
	return r
}

func (c *cursor) bool() bool {
	start := c.pos
	word := string(c.word())
	if word != "true" && word != "false" && c.err == nil {
		c.pos = start
		c.fail("true or false")
	}
	return word == "true"
}

func (c *cursor) same() {
	start := c.pos
	if string(c.word()) != "null" || c.there == nil {
		c.pos = start
		c.fail("nodes, or null if an earlier line lists them")
	}
}

func (c *cursor) yes() bool {
	start := c.pos
	if string(c.word()) != "true" && c.err == nil {
		c.pos = start
		c.fail("true")
	}
	return c.err == nil
}

func (c *cursor) word() []byte {
	c.peek()
	start := c.pos
	for c.pos < len(c.buf) && c.buf[c.pos] >= 'a' && c.buf[c.pos] <= 'z' {
		c.pos++
	}
	return c.buf[start:c.pos]
}

func (c *cursor) configuration() cluster.Configuration {
	var k cluster.Configuration
	k.Nodes = int(c.count(maxGPUs))
	c.want(',')
	k.GPUs = int(c.count(maxGPUs))
	c.want(',')
	k.GPUType = cluster.GPUType(c.str())
	return k
}

func (c *cursor) allocation() cluster.Allocation {
	var a cluster.Allocation
	c.want('[')
	if c.take(']') {
		return a
	}
	a.Configuration = c.configuration()
	a.Also = c.also()
	a.CPUs, a.Memory = c.host()
	c.want(']')
	return a
}

func (c *cursor) also() cluster.Configuration {
	start := c.pos
	if !c.take(',') || !c.take('[') {
		c.pos = start
		return cluster.Configuration{}
	}
	k := c.configuration()
	c.want(']')
	return k
}

func (c *cursor) host() (cpus float64, memory int64) {
	if !c.take(',') {
		return 0, 0
	}
	cpus = c.float()
	c.want(',')
	return cpus, c.count(math.MaxInt64)
}

func (c *cursor) placement() cluster.Placement {
	var p cluster.Placement
	for range c.items() {
		var s cluster.Share
		c.want('[')
		s.Node = cluster.NodeID(c.str())
		c.want(',')
		s.GPUs = int(c.count(maxGPUs))
		s.CPUs, s.Memory = c.host()
		c.want(']')
		p = append(p, s)
	}
	return p
}

func (c *cursor) batch() job.BatchSize {
	var b job.BatchSize
	c.want('[')
	if c.take(']') {
		return b
	}
	b.Local = int(c.count(math.MaxInt32))
	c.want(',')
	b.Accumulation = int(c.count(math.MaxInt32))
	c.want(']')
	return b
}

var kinds = func() map[string]policy.Kind {
	all := map[string]policy.Kind{}
	for _, k := range policy.Kinds() {
		all[k.String()] = k
	}
	return all
}()

func (c *cursor) reason() policy.Reason {
	var r policy.Reason
	c.want('[')
	start := c.pos
	kind, ok := kinds[c.str()]
	if !ok && c.err == nil {
		c.pos = start
		c.fail("a kind of reason")
	}
	r.Kind = kind
	if c.take(',') {
		r.Value = c.float()
	}
	if c.take(',') {
		r.Limit = c.float()
	}
	if c.take(',') {
		r.Config = c.allocation().Configuration
	}
	c.want(']')
	return r
}

func (c *cursor) round(known map[job.ID]policy.Decision) *Round {
	r := &Round{}
	for key := range c.keys() {
		switch key {
		case "n":
			r.Number = int(c.count(math.MaxInt32))
		case "jobs":
			for range c.items() {
				if c.skips() {
					c.value()
					continue
				}
				r.Changed = append(r.Changed, c.change(known))
			}
		case "left":
			for range c.items() {
				id := c.job()
				r.Left = append(r.Left, id)
				delete(known, id)
			}
		case "prices":
			for range c.items() {
				r.Prices = append(r.Prices, c.price())
			}
		case "capacity":
			c.wants = c.capacity()
		case "refused":
			r.Refused = c.str()
		case "stats":
			r.Stats = c.stats()
		case "do":
			for range c.items() {
				r.Actions = append(r.Actions, c.action())
			}
		default:
			c.unknown(key)
		}
	}
	r.Capacity = c.wants
	return r
}

// skips reports whether the next change is of a job that is not read.
func (c *cursor) skips() bool {
	return c.only != nil && c.peek() == '{' && !begins(c.buf[c.pos:], `{"id":`, c.only)
}

func (c *cursor) change(known map[job.ID]policy.Decision) Change {
	var ch Change
	c.want('{')
	c.name("id")
	ch.Job = c.job()
	ch.Decision = known[ch.Job]
	for c.take(',') {
		key := c.str()
		c.want(':')
		switch {
		case c.granted(key, &ch.Decision):
		case key == "why":
			ch.Why = c.reason()
		default:
			c.unknown(key)
		}
	}
	c.want('}')
	if c.err == nil {
		known[ch.Job] = ch.Decision
	}
	return ch
}

// granted reads the value of key into d, if the key is part of a grant.
func (c *cursor) granted(key string, d *policy.Decision) bool {
	switch key {
	case "gets":
		d.Allocation = c.allocation()
	case "on":
		d.Placement = c.placement()
	case "batch":
		d.Batch = c.batch()
	default:
		return false
	}
	return true
}

func (c *cursor) stats() policy.Stats {
	var s policy.Stats
	c.want('[')
	s.Iterations = int(c.count(math.MaxInt32))
	for _, x := range [...]*float64{&s.Objective, &s.Bound, &s.Gap} {
		c.want(',')
		*x = c.float()
	}
	if c.take(',') {
		s.Interrupted = c.bool()
	}
	if c.take(',') {
		s.Failed = c.str()
	}
	c.want(']')
	return s
}
