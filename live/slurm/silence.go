package slurm

import (
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

// helloWithin is how long a program with a token may run without a hello. Measured starts took 17 to 35 s
// (docs/experiments/slurm-resize.md).
const helloWithin = 2 * time.Minute

// findSilent finds programs with a token that have sent nothing for backendOptions.Silence.
//
// If the program had sent messages before, the job keeps what it holds until the next message. Otherwise the program
// may lack the client, so its job is resized by its time limit as if it had no token.
func (b *Backend) findSilent(now time.Time) {
	if b.o.Agents == "" {
		return
	}
	for _, e := range b.Order {
		if e.awaitsHello && !e.Over && now.Sub(e.runningSince) >= helloWithin {
			e.awaitsHello = false
			b.Events.Emit(scheduler.Reported{Report: e.resumed()})
		}
		last := e.runningSince
		if e.Heard.After(last) {
			last = e.Heard
		}
		if e.Silent || e.Over || e.observed.Token == "" || !e.asPlanned() || now.Sub(last) < b.o.Silence {
			continue
		}
		e.Silent = true
		b.o.Log.Warn("a program sends no messages: it hangs, cannot reach the agent API, or does not use the client", "job", e.spec.ID, "user", e.spec.User,
			"since", last.UTC().Format(time.RFC3339), "sent before", e.program.Hello != nil, "nodes", e.observed.Nodes)
		b.describe(e)
	}
}

func (b *Backend) messageReceived(e *entry) {
	e.Heard = time.Now()
	if e.Silent {
		e.Silent = false
		b.o.Log.Info("a program sends messages again", "job", e.spec.ID)
		b.describe(e)
	}
}
