package fault

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// A Scenario is something that a program does, in steps that each write something, and that
// must come out the same wherever the program is killed.
type Scenario struct {
	// Config is how the program speaks to the API server.
	Config *rest.Config
	// Moments are those at which it is killed; nil: all.
	Moments []Moment
	// Kill says at which steps it is killed, of those of the run without a kill, in the order
	// in which they came, each with the act in which it came; nil: at all.
	Kill func(act string, c *Call) bool
	// Prepare clears the stage of the run before.
	Prepare func(t testing.TB)
	// Start starts the program, which is to speak to the proxy only, and returns what ends it
	// at once, as SIGKILL does, and waits until it is gone. It does not wait for the program:
	// that may be held at its first step. It is called again after a kill.
	Start func(t testing.TB, p *Proxy) (kill func())
	// Acts come one after another, each when the program has settled after the one before.
	Acts []Act
	// Within is how long an act may take at most until it has settled, where the program was
	// killed in it: from the restart. It is waited for six times as long.
	Within time.Duration
	// Final describes the state that the program left; each run must leave that of the run
	// without a kill.
	Final func(t testing.TB) string
	// Audit returns what an auditor found since Prepare; nil: there is none.
	Audit func(t testing.TB) []audit.Finding
}

// An Act is a part of a scenario.
type Act struct {
	Name string
	// Do does what the program is to react to; nil: nothing.
	Do func(t testing.TB)
	// Settled says that the program has done all that it has to.
	Settled func(t testing.TB) bool
}

// An Outcome is what became of one run of a scenario.
type Outcome struct {
	// Call is the one at which the program was killed; if that was not Reached, the one of the
	// run without a kill at which it was to be; Number 0: this is that run.
	Call     Call
	Moment   Moment        // of the kill
	Reached  bool          // the kill took place: the program was there before it had settled
	Act      string        // in which it was, or was to be, killed, or which did not settle
	Took     time.Duration // from the restart until the act had settled; without a kill, of the longest act
	Settled  bool          // all acts have
	Final    string
	Findings []audit.Finding
	Complain string // what is wrong; "": nothing
}

// Enumerate runs a scenario without a kill and counts the steps of the program, then once for
// each step and moment with a kill at that point and a restart. The first outcome is that of
// the run without; if that does not settle, it is the only one. An outcome that was not Reached
// is of a run in which the program took fewer steps, or settled before it.
func Enumerate(t testing.TB, s *Scenario) []Outcome {
	t.Helper()
	r := &runner{t: t, s: s}
	plain, calls := r.run(0, Before)
	if r.reference = plain.Final; !plain.Settled {
		plain.Complain = "not settled without a kill"
		return []Outcome{plain}
	}
	all, moments := []Outcome{r.judge(plain)}, s.Moments
	if moments == nil {
		moments = []Moment{Before, Applied, Answered}
	}
	for i := range calls {
		act := r.act(calls[i].Number)
		if s.Kill != nil && !s.Kill(act, &calls[i]) {
			continue
		}
		for _, m := range moments {
			o, _ := r.run(calls[i].Number, m)
			if o.Moment = m; !o.Reached {
				o.Call, o.Act = calls[i], act
			}
			all = append(all, r.judge(o))
		}
	}
	return all
}

// A runner runs a scenario again and again.
type runner struct {
	t         testing.TB
	s         *Scenario
	reference string
	steps     []int // that were taken before each act of the run without a kill
}

// act returns the name of the act in which a step of the run without a kill came.
func (r *runner) act(step int) string {
	last := 0
	for i, before := range r.steps {
		if before < step {
			last = i
		}
	}
	return r.s.Acts[last].Name
}

// run runs the scenario with a kill at a moment of a step; step 0: without. It returns the
// steps that the program took.
func (r *runner) run(step int, m Moment) (Outcome, []Call) {
	r.t.Helper()
	r.s.Prepare(r.t)
	p := r.proxy()
	defer p.Close()
	k := &killer{step: step, moment: m, dead: make(chan struct{}), armed: make(chan struct{})}
	defer k.arm(func() {})
	p.Hook(k.ask)
	k.arm(r.s.Start(r.t, p))
	o := r.play(p, k)
	o.Final = r.s.Final(r.t)
	if r.s.Audit != nil {
		o.Findings = r.s.Audit(r.t)
	}
	return o, p.Calls()
}

// play goes through the acts until one does not settle. In that in which the program is killed
// it starts it again. In the end no program is left.
func (r *runner) play(p *Proxy, k *killer) Outcome {
	r.t.Helper()
	o := Outcome{Settled: true}
	end, dies := k.disarm, k.dead
	defer func() { end() }()
	for i := range r.s.Acts {
		a := &r.s.Acts[i]
		if k.step == 0 {
			r.steps = append(r.steps, len(p.Calls()))
		}
		if a.Do != nil {
			a.Do(r.t)
		}
		began := time.Now()
		settled := r.wait(a, dies)
		if settled && i == len(r.s.Acts)-1 {
			p.Idle() // the step that settled it may not be over
		}
		if call, dead := k.died(); dead && !o.Reached {
			o.Reached, o.Call, o.Act = true, call, a.Name
			end, dies = r.again(p), nil
			began = time.Now()
			settled = r.wait(a, nil)
			o.Took = time.Since(began)
		} else if !o.Reached {
			o.Took = max(o.Took, time.Since(began))
		}
		if !settled {
			o.Settled, o.Act = false, a.Name
			break
		}
	}
	return o
}

// again starts the program once more, when nothing of the dead one is under way any more. It
// returns what ends it.
func (r *runner) again(p *Proxy) (end func()) {
	r.t.Helper()
	p.Close()
	second := r.proxy()
	kill := r.s.Start(r.t, second)
	return func() {
		kill()
		second.Close()
	}
}

func (r *runner) proxy() *Proxy {
	r.t.Helper()
	p, err := New(r.s.Config)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// patience is how many times as long as it may take is waited for an act.
const patience = 6

// wait waits until an act has settled, or something has happened. It reports which.
func (r *runner) wait(a *Act, happened <-chan struct{}) bool {
	end, again := time.NewTimer(patience*r.s.Within), time.NewTicker(20*time.Millisecond)
	defer end.Stop()
	defer again.Stop()
	for !a.Settled(r.t) {
		select {
		case <-happened:
			return false
		case <-end.C:
			return a.Settled(r.t)
		case <-again.C:
		}
	}
	return true
}

// judge says what is wrong with an outcome.
func (r *runner) judge(o Outcome) Outcome {
	switch {
	case !o.Settled:
		o.Complain = fmt.Sprintf("not settled within %s: %s", patience*r.s.Within, o.Act)
	case o.Reached && o.Took > r.s.Within:
		o.Complain = fmt.Sprintf("settled after %s, want at most %s", o.Took.Round(time.Millisecond), r.s.Within)
	case o.Final != r.reference:
		o.Complain = fmt.Sprintf("left %q, want %q", o.Final, r.reference)
	case len(o.Findings) > 0:
		o.Complain = fmt.Sprintf("%d findings, the first: %s", len(o.Findings), o.Findings[0])
	}
	return o
}

// A killer kills a program at one point, and after that lets nothing of it pass.
type killer struct {
	step   int
	moment Moment
	armed  chan struct{} // closed when there is something to kill
	dead   chan struct{} // closed when it is dead

	once sync.Once
	kill func() // set when armed is closed

	mu   sync.Mutex
	over bool // nothing passes any more
	at   Call // at which it was killed; Number 0: it was not
}

// ask is the proxy's hook.
func (k *killer) ask(c *Call, m Moment) bool {
	<-k.armed
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over && c.Number == k.step && m == k.moment {
		k.kill()
		k.over, k.at = true, *c
		close(k.dead)
	}
	return !k.over
}

// arm says how to kill; only the first time counts.
func (k *killer) arm(kill func()) {
	k.once.Do(func() {
		k.kill = kill
		close(k.armed)
	})
}

// died returns the call at which the program was killed, and whether it was.
func (k *killer) died() (Call, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at, k.at.Number > 0
}

// disarm kills the program, for the run is over, if it is not dead.
func (k *killer) disarm() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.over = true
		k.kill()
	}
}
