package local

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/scheduler"
)

// A simulation runs the production code of this package, and of the packages below it, in one
// goroutine and in virtual time: what happens, happens one after the other, in an order that follows
// from the scenario.
type simulation struct {
	sc    *scenario
	o     Options
	disk  *Disk
	began time.Time
	due   happenings
	count int // of happenings so far

	// The machine.
	keepers []*simKeeper
	pids    int
	moved   time.Duration // its clock was set by
	tokens  map[job.ID]string

	// The scheduler; nil, and zero, while it does not run.
	life         int // counts its starts
	store        *store.Store
	w            *Backend
	x            *executor
	sched        *scheduler.Scheduler
	api          *agentapi.Server
	plan         func() (time.Time, bool) // goes on until the scheduler waits, and returns until when
	halt         func()
	planAt       time.Time
	stalledUntil time.Time
	passAt       time.Time
	steps        int // that hook was called with
	crashAt      int // the step at which a crash comes; 0: none
	power        bool
	done         bool // Run has returned

	ledger
	met     meetings
	wrong   error // the first that was found
	history []string
}

// A happening is something that is to happen.
type happening struct {
	at time.Time
	n  int
	do func()
}

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].n < h[j].n
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// simRound is the time between plans.
const simRound = 5 * time.Second

// errCrash is what hook panics with where a crash comes.
var errCrash = errors.New("simulated crash")

// simulate runs a scenario in a directory on tmpfs, and returns it with what was found wrong. It must
// run in a bubble of testing/synctest.
func simulate(dir string, sc *scenario) *simulation {
	m := &simulation{sc: sc, disk: Mount(dir), began: time.Now(), tokens: map[job.ID]string{}, ledger: newLedger(), met: meetings{}}
	m.o = DefaultOptions()
	m.o.Dir, m.o.Machine, m.o.Supervisor = dir+"/state", slots(4), []string{"keeper"}
	m.o.Grace, m.o.Report, m.o.Quiet, m.o.Silence = 10*time.Second, 5*time.Second, 5*time.Second, 20*time.Second
	for _, restore := range []func(){supervisor.Simulate(m.system()), store.SimulateSync(Sync)} {
		defer restore()
	}
	wasHook, wasQueue := hook, newQueue
	defer func() { hook, newQueue = wasHook, wasQueue }()
	hook, newQueue = m.step, m.queue
	m.disk.OnSync(m.synced)
	m.prepare()
	m.run()
	m.fall()
	for _, k := range m.keepers {
		k.leave()
	}
	m.disk.Unmount()
	return m
}

// queue returns the scheduler's, whose clock people set.
func (m *simulation) queue() *driver.Queue {
	start := time.Now()
	return driver.NewQueueWithClock(driver.Clock{
		Wall:    func() time.Time { return time.Now().Add(m.moved) },
		Elapsed: func() time.Duration { return time.Since(start) },
	})
}

// prepare plans what the scenario says.
func (m *simulation) prepare() {
	for i := range m.sc.jobs {
		j := &m.sc.jobs[i]
		m.after(j.at, func() { m.submit(j) })
		if j.cancel > 0 {
			m.after(j.cancel, func() { m.cancel(j) })
		}
	}
	for _, f := range m.sc.faults {
		m.after(f.at, func() { m.inject(f) })
	}
	m.after(m.sc.calm, m.drain)
	m.after(m.sc.calm+patience, func() { m.fail("jobs that have not ended: %s", m.left()) })
	m.after(0, m.rise)
	if m.sc.watch != nil {
		m.sc.watch(m)
	}
}

// after lets something happen later.
func (m *simulation) after(wait time.Duration, do func()) {
	m.count++
	heap.Push(&m.due, happening{time.Now().Add(wait), m.count, do})
}

// patience is how long all jobs may take to end once nothing goes wrong any more.
const patience = 40 * time.Minute

// run lets everything happen, until all jobs have ended or something is wrong.
func (m *simulation) run() {
	for m.wrong == nil && !m.done {
		at := m.due[0].at
		what := func() { heap.Pop(&m.due).(happening).do() }
		if m.w != nil && m.planAt.Before(at) {
			at, what = m.planAt, m.goOn
		}
		if m.w != nil && m.passAt.Before(at) {
			at, what = m.passAt, m.pass
		}
		time.Sleep(time.Until(at))
		m.happen(what)
	}
	if m.wrong == nil {
		m.checkEnd()
	}
}

// happen lets one thing happen, and everything that follows from it at once.
func (m *simulation) happen(what func()) {
	defer func() {
		if r := recover(); r != nil && r != errCrash { //nolint:errorlint // it is this very value
			panic(r)
		} else if r != nil || m.disk.Dead() {
			m.crash()
		}
	}()
	what()
	if m.disk.Dead() && m.w != nil && !m.power {
		m.meet(metCrash)
	}
	if m.w == nil || m.disk.Dead() {
		return
	}
	now := time.Now()
	select {
	case <-m.w.jobs.Events.Woken():
		m.planAt = m.unstalled(earlier(m.planAt, now.Add(m.lag("plan"))))
	default:
	}
	select {
	case <-m.w.jobs.Work:
		m.passAt = m.unstalled(earlier(m.passAt, now.Add(m.lag("pass"))))
	default:
	}
	m.checkTable()
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// unstalled returns a time at which the scheduler may run.
func (m *simulation) unstalled(t time.Time) time.Time {
	if t.Before(m.stalledUntil) {
		return m.stalledUntil
	}
	return t
}

// lag is how long it takes until a goroutine that was woken runs.
func (m *simulation) lag(who string) time.Duration {
	return time.Duration(m.draw("lag", who) % uint64(2*time.Millisecond))
}

// pass is one of the executor.
func (m *simulation) pass() {
	m.passAt = time.Now().Add(unsettledPoll)
	m.x.pass()
}

// goOn lets the scheduler go on until it waits.
func (m *simulation) goOn() {
	at, waits := m.plan()
	m.planAt = at
	m.done = !waits && !m.disk.Dead()
}

// A turn is the scheduler's backend: where Backend waits, the simulation goes on.
type turn struct {
	*Backend
	m     *simulation
	yield func(until time.Time) bool
}

// Next implements scheduler.Backend as Backend does.
func (b turn) Next(_ context.Context, deadline time.Time) (scheduler.Event, error) {
	for {
		ev, wait, err := b.Take(deadline)
		if ev == nil && err == nil && wait <= 0 {
			b.m.checkRound()
		}
		if err != nil || ev != nil || wait <= 0 {
			return ev, err
		}
		if !b.yield(time.Now().Add(wait)) {
			return nil, context.Canceled
		}
	}
}

// Do implements scheduler.Backend as Backend does.
func (b turn) Do(ctx context.Context, actions []scheduler.Action) error {
	b.Lock()
	changed, err := b.apply(ctx, actions)
	b.Unlock()
	if err != nil || len(changed) == 0 {
		return err
	}
	p := b.Backend.plan(changed)
	for {
		err := b.write(p)
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		b.m.meet(metFullPlan)
		b.m.delay(time.Now())
		if !b.yield(time.Now().Add(time.Second)) {
			return context.Canceled
		}
	}
}

// rise starts the scheduler. If it cannot, it is tried again: nothing but a full disk may be why.
func (m *simulation) rise() {
	if m.w != nil {
		return
	}
	m.life++
	m.trace("scheduler starts")
	w, err := m.open()
	switch {
	case m.disk.Dead():
		return // happen sees it
	case errors.Is(err, store.ErrFull) || err != nil && m.fullNow:
		m.meet(metFullStart)
		m.fall()
		m.after(time.Second, m.rise)
		return
	case err != nil:
		m.fail("does not start: %v", err)
		return
	}
	m.w, m.x, m.planAt, m.passAt = w, w.executor(), time.Now(), time.Now()
	m.api = agentapi.New(w.Agents(), agentapi.Options{})
	m.lastRound = time.Now()
	m.checkOpen()
	so := scheduler.DefaultOptions()
	so.Round, so.Profile = simRound, false
	if m.sched, err = scheduler.New(whims{m}, submesh.New(submesh.DefaultOptions()), w.Cluster(), so); err != nil {
		m.fail("scheduler: %v", err)
		return
	}
	w.Follow(so.Round, func(now time.Time) []*policy.Job { return m.sched.Snapshot(now).Jobs })
	m.plan, m.halt = iter.Pull(func(yield func(time.Time) bool) {
		err := m.sched.Run(context.Background(), turn{w, m, yield}, w, watcher{m})
		if err != nil && !errors.Is(err, context.Canceled) && !m.disk.Dead() {
			m.fail("the scheduler ends: %v", err)
		}
	})
	if time.Since(m.began) >= m.sc.calm {
		w.Drain()
	}
}

func (m *simulation) open() (*Backend, error) {
	var err error
	if m.store, err = store.Open(m.o.Dir); err != nil {
		return nil, err
	}
	return Open(m.store, m.o)
}

// fall ends the scheduler; what it wrote stays.
func (m *simulation) fall() {
	if m.halt != nil {
		m.halt()
	}
	m.disk.Crash()
	if m.store != nil {
		_ = m.store.Close() // nothing is written
	}
	m.disk.Restart()
	m.store, m.w, m.x, m.plan, m.halt, m.api, m.crashAt = nil, nil, nil, nil, nil, nil, 0
	m.stalledUntil = time.Time{}
}

// crash ends the scheduler, and the machine where the power fails, and starts them again.
func (m *simulation) crash() {
	m.trace("CRASH%s", map[bool]string{true: ": the power fails"}[m.power])
	m.fall()
	if m.power {
		m.power = false
		before := m.disk.Losses()
		if err := m.losePower(); err != nil {
			m.fail("simulation: %v", err)
		}
		m.meetLosses(before, m.disk.Losses())
	}
	m.after(time.Duration(m.draw("down")%uint64(30*time.Second)), m.rise)
}

// step is hook: a crash may come here.
func (m *simulation) step(name string) {
	m.steps++
	m.trace("step: %s", name)
	if m.crashAt > 0 && m.steps >= m.crashAt {
		m.crashAt = 0
		m.meet("crash at " + name)
		m.disk.Crash()
		panic(errCrash)
	}
}

// inject lets a fault come.
func (m *simulation) inject(f fault) {
	m.trace("FAULT %s %d %v", f.kind, f.n, f.long)
	up := m.w != nil
	switch f.kind {
	case crashNow, powerNow:
		if f.kind == crashNow && up {
			m.meet(metCrashNow)
		}
		m.power = f.kind == powerNow
		m.crash()
	case crashAtStep:
		m.crashAt = m.steps + f.n
	case crashAtWrite, powerAtWrite:
		m.power = f.kind == powerAtWrite
		m.disk.CrashIn(f.n)
	case diskFull:
		m.setFull(true)
		m.after(f.long, func() { m.setFull(false) })
	case clockSet:
		m.meet(metClock(f.long))
		m.moved += f.long
	case stall:
		if up {
			until := time.Now().Add(f.long)
			m.delay(until)
			m.planAt, m.passAt, m.stalledUntil = until, until, until
		}
	case breach:
		m.fail("I0: broken")
	case mute:
		m.muteUntil = time.Now().Add(f.long)
	case hang, kill:
		if all := m.running(); len(all) > 0 {
			m.hit(all[f.n%len(all)], f)
		}
	}
}

// hit lets a supervisor hang, or kills it.
func (m *simulation) hit(k *simKeeper, f fault) {
	m.trace("it hits %v", k)
	if f.kind == kill {
		m.meet(metKilled)
		k.kill()
		return
	}
	k.hungUntil = time.Now().Add(f.long)
	m.hung = true
}

func (m *simulation) setFull(full bool) {
	m.fullNow = full
	m.delay(time.Now())
	m.disk.SetFull(full)
}

// delay notes that something keeps the scheduler from its work until a time.
func (m *simulation) delay(until time.Time) {
	if until.After(m.delayed) {
		m.delayed = until
	}
}

func (m *simulation) muted(now time.Time) bool { return now.Before(m.muteUntil) }

// drain lets no more go wrong, and waits for the jobs.
func (m *simulation) drain() {
	m.setFull(false)
	m.crashAt = 0
	m.disk.CrashIn(0)
	m.power = false
	m.trace("calm")
	for i := range m.sc.jobs {
		if m.truth[job.ID(m.sc.jobs[i].name)] == nil {
			m.submit(&m.sc.jobs[i])
		}
	}
	if m.w != nil {
		m.w.Drain()
	}
}

// submit submits a job, and again after a time if the scheduler does not answer.
func (m *simulation) submit(j *simJob) {
	spec := &job.Spec{GPUs: 1, MaxGPUs: 4, Adaptivity: job.StrongScaling}
	if j.gpus > 0 {
		spec = &job.Spec{GPUs: j.gpus, Adaptivity: job.Rigid}
	}
	if !m.answers() {
		m.again(j)
		return
	}
	id, err := m.w.Submit(j.name, spec, store.Request{Command: []string{"train"}, Dir: "/"})
	m.trace("submits %s: %s %v", j.name, id, err)
	if err != nil {
		m.again(j)
		return
	}
	m.accepted = append(m.accepted, id)
	m.truthOf(id)
	m.tokens[id] = m.w.jobs.ByID[id].Token
}

// answers reports whether the scheduler does.
func (m *simulation) answers() bool { return m.w != nil && !time.Now().Before(m.stalledUntil) }

func (m *simulation) again(j *simJob) {
	if time.Since(m.began) < m.sc.calm {
		m.after(3*time.Second, func() { m.submit(j) })
	}
}

func (m *simulation) cancel(j *simJob) {
	id := job.ID(j.name)
	if !m.answers() || m.truth[id] == nil {
		return
	}
	m.truth[id].cancelling = true
	err := m.w.Cancel(id)
	m.trace("cancels %s: %v", id, err)
	if err == nil {
		m.noteFinal(id)
	}
}

// jobOf returns what the scenario says of a job: its ID begins with its name.
func (m *simulation) jobOf(id job.ID) *simJob {
	name, _, _ := strings.Cut(string(id), "-")
	for i := range m.sc.jobs {
		if m.sc.jobs[i].name == name {
			return &m.sc.jobs[i]
		}
	}
	panic("no job " + name)
}

// draw returns a number that follows from the seed, the time and what it is for: no draw changes
// another one.
func (m *simulation) draw(what ...string) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, m.sc.seed, time.Since(m.began), what)
	x := h.Sum64() // its low bits are weak
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// draws reports whether one in so many numbers is drawn.
func (m *simulation) draws(x uint64, oneIn uint64) bool { return x%oneIn == 0 }

// choose returns a function that draws a number below its argument, another one at each call.
func (m *simulation) choose(what string) func(int) int {
	n := 0
	return func(most int) int {
		n++
		return int(m.draw(what, fmt.Sprint(n)) % uint64(most))
	}
}

func (m *simulation) since(t time.Time) time.Duration { return t.Sub(m.began).Round(time.Millisecond) }

// trace notes what happens, without what differs from run to run: where the files are.
func (m *simulation) trace(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), m.o.Dir, "(state)")
	m.history = append(m.history, fmt.Sprintf("%10v %s", m.since(time.Now()), text))
}

// fail notes what is wrong, if it is the first thing.
func (m *simulation) fail(format string, args ...any) {
	if m.wrong == nil {
		m.wrong = fmt.Errorf(format, args...)
		m.trace("WRONG: %v", m.wrong)
	}
}

// whims is a policy that changes its mind: until it is calm, it gives jobs any number of GPUs, and
// then equal ones.
type whims struct{ m *simulation }

func (whims) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (p whims) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if time.Since(p.m.began) > p.m.sc.calm {
		return equalSplit{}.Plan(ctx, s)
	}
	t := s.Cluster.Types()[0]
	plan := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	free := t.GPUs
	for i, j := range s.Jobs {
		if j.Holding() && (j.NonPreemptive || p.m.draws(p.m.draw("keep", string(j.ID)), 2)) {
			plan.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement}
			free -= j.Allocation.GPUs
		}
	}
	for i, j := range s.Jobs {
		n := int(p.m.draw("want", string(j.ID)) % 5)
		if !j.Adaptivity.Has(job.GPUCount) {
			n = j.GPUs
		}
		if plan.Jobs[i].Allocation.GPUs == 0 && n > 0 && n <= free {
			plan.Jobs[i].Allocation.Nodes, plan.Jobs[i].Allocation.GPUs, plan.Jobs[i].Allocation.GPUType = 1, n, t.Type
			free -= n
		}
	}
	return plan, nil
}
