package fault

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// A Scenario is a task of a program. Its result must not depend on where the program is killed.
type Scenario struct {
	Config *rest.Config
	// Moments are the moments of kills; nil: all.
	Moments []Moment
	// Kill selects the steps at which to kill; nil: all.
	Kill func(act string, c *Call) bool
	// Prepare removes what the previous run left.
	Prepare func(t testing.TB)
	// Start starts the program, which must use only the proxy, and returns a function that kills it and waits for
	// its end. It is called again after a kill.
	Start func(t testing.TB, p *Proxy) (kill func())
	// Acts run one after another, each once the program has settled.
	Acts []Act
	// Within bounds the time from the restart until an act has settled. The wait is six times as long.
	Within time.Duration
	// Final describes the state at the end, which must equal the state after the run without a kill.
	Final func(t testing.TB) string
	// Audit returns an auditor's findings since Prepare; nil: no auditor.
	Audit func(t testing.TB) []audit.Finding
}

// An Act is a part of a scenario.
type Act struct {
	Name string
	// Do causes what the program must react to; nil: nothing.
	Do func(t testing.TB)
	// Settled reports whether the program has finished its reaction.
	Settled func(t testing.TB) bool
}

// An Outcome is the result of one run of a scenario.
type Outcome struct {
	// Call is the step of the kill, even if it was not Reached; Number 0: no kill.
	Call     Call
	Moment   Moment        // of the kill
	Reached  bool          // killed before the program had settled
	Act      string        // of the kill, or not settled
	Took     time.Duration // from the restart, or the longest act without a kill
	Settled  bool
	Final    string
	Findings []audit.Finding
	Complain string // "": nothing
}

// Enumerate first runs a scenario without a kill and counts the program's steps. Then it runs the scenario once for
// each step and moment, kills the program there and restarts it. The first outcome is from the run without a kill; if
// that run does not settle, it is the only one.
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

type runner struct {
	t         testing.TB
	s         *Scenario
	reference string
	steps     []int // before each act of the run without a kill
}

func (r *runner) act(step int) string {
	last := 0
	for i, before := range r.steps {
		if before < step {
			last = i
		}
	}
	return r.s.Acts[last].Name
}

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
			p.Idle() // the last step may still be under way
		}
		if call, dead := k.died(); dead && !o.Reached {
			o.Reached, o.Call, o.Act = true, call, a.Name
			end, dies = r.restart(p), nil
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

func (r *runner) restart(p *Proxy) (end func()) {
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

const patience = 6

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

type killer struct {
	step   int
	moment Moment
	armed  chan struct{} // there is a program to kill
	dead   chan struct{} // closed at its death

	once sync.Once
	kill func() // set when armed is closed

	mu   sync.Mutex
	over bool // all calls are blocked
	at   Call // call of the kill; Number 0: none
}

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

func (k *killer) arm(kill func()) {
	k.once.Do(func() {
		k.kill = kill
		close(k.armed)
	})
}

func (k *killer) died() (Call, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at, k.at.Number > 0
}

func (k *killer) disarm() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.over = true
		k.kill()
	}
}
