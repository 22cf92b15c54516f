package slurm

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// helloWithin is how long a program that has a token may run before it says hello. After that its job counts as training, and may be resized by
// its time limit: perhaps it has no client. Starts took 17 to 35 s where they were measured (docs/experiments/slurm-resize.md).
const helloWithin = 2 * time.Minute

// listen notices jobs that run as planned and whose programs, which have tokens, have said nothing for
// Options.Silence: since they started, or since they spoke last. It says so in the log and, by Steps, in the job's
// mark. One that has spoken before counts as rigid and keeps what it holds until it speaks again: nobody knows
// what it has done, or whether it would hear a notice. One that never has may be a program without the client,
// whose job is resized by its time limit, as if it had no token.
func (b *Backend) listen(now time.Time) {
	if b.o.Agents == "" {
		return
	}
	for _, e := range b.Order {
		if e.greets && !e.Over && now.Sub(e.up) >= helloWithin { // perhaps it has no client
			e.greets = false
			b.Events.Emit(scheduler.Reported{Report: e.resumed()})
		}
		last := e.up
		if e.Heard.After(last) {
			last = e.Heard
		}
		if e.Silent || e.Over || e.seen.Token == "" || !e.asPlanned() || now.Sub(last) < b.o.Silence {
			continue
		}
		e.Silent = true
		b.o.Log.Warn("a program says nothing: it hangs, does not reach the agent API, or has no client of it", "job", e.spec.ID, "user", e.spec.User,
			"since", last.UTC().Format(time.RFC3339), "spoke before", e.program.Hello != nil, "nodes", e.seen.Nodes)
		b.describe(e)
	}
}

// hears records that a job's program has said something.
func (b *Backend) hears(e *entry) {
	e.Heard = time.Now()
	if e.Silent {
		e.Silent = false
		b.o.Log.Info("a program speaks again", "job", e.spec.ID)
		b.describe(e)
	}
}

// rigid returns a specification with which a job keeps what it holds.
func (e *entry) rigid(spec *job.Spec) *job.Spec {
	r := *spec
	r.Adaptivity &^= job.GPUCount | job.BatchSizes
	r.GPUs = e.held.allocation.GPUs
	return &r
}
