package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// ClassOptions configure how the statistics of classes are estimated.
type ClassOptions struct {
	// BurnIn is an initial observation time, with weight e^(-t/BurnIn), that is added when arrivals are divided by time.
	// So a first job that arrives at once counts as one per BurnIn. Default 1 h, in which 1 to 60 jobs of a class arrive
	// in Sia's newTrace.
	BurnIn time.Duration
	// Forget is the age at which an arrival has weight 1/e. Default 7 days, so that the rate
	// follows neither the time of day nor bursts.
	Forget time.Duration
}

// DefaultClassOptions returns the defaults that the fields state.
func DefaultClassOptions() ClassOptions {
	return ClassOptions{BurnIn: time.Hour, Forget: 168 * time.Hour}
}

// Validate returns all errors in o, joined.
func (o *ClassOptions) Validate() error {
	var errs []error
	if o.BurnIn <= 0 {
		errs = append(errs, fmt.Errorf("classes: burn-in %v, want more than 0", o.BurnIn))
	}
	if o.Forget <= 0 {
		errs = append(errs, fmt.Errorf("classes: forgetting time %v, want more than 0", o.Forget))
	}
	return errors.Join(errs...)
}

// material is the relative change of an arrival rate, epoch size, gradient noise or step time above which Classes
// publishes new statistics.
const material = 0.05

// Classes estimates for each class of jobs how often they arrive, how much progress they make in each epoch, and how
// fast. Make it with NewClasses. A nil *Classes ignores all calls. Source: BOA §3.1, §5.2.
type Classes struct {
	o     ClassOptions
	pool  *Pool
	began time.Time // time of the first call; zero: none yet
	list  []*class  // by name
	jobs  map[job.ID]*life
}

// NewClasses returns Classes without measurements. estimates configures the performance models of the jobs; jobs of a
// class share measurements even if Share is false.
func NewClasses(estimates Options, o ClassOptions) *Classes {
	estimates.Share = true
	return &Classes{o: o, pool: NewPool(&estimates), jobs: make(map[job.ID]*life)}
}

// Submitted records the arrival of a job at time now. It keeps the pointer spec.
func (cs *Classes) Submitted(now time.Time, spec *job.Spec) {
	if cs == nil {
		return
	}
	cs.begin(now)
	if spec.Class == "" {
		return
	}
	i, found := slices.BinarySearchFunc(cs.list, spec.Class, func(c *class, name job.Class) int { return cmp.Compare(c.name, name) })
	if !found {
		cs.list = slices.Insert(cs.list, i, &class{name: spec.Class, belief: cs.pool.New(spec)})
	}
	c := cs.list[i]
	c.forms = c.forms.With(spec)
	c.arrivals.add(now, cs.o.Forget)
	c.restart += spec.RestartOverhead
	if spec.Target > 0 {
		c.target.add(spec.Target)
	}
	cs.jobs[spec.ID] = &life{class: c, target: spec.Target, starts: []float64{0}}
}

func (cs *Classes) begin(now time.Time) {
	if cs.began.IsZero() {
		cs.began = now
	}
}

// Learn records the measurements that a job reported.
func (cs *Classes) Learn(r *job.Report) {
	if l := cs.life(r.Job); l != nil {
		l.keepPace(r)
		l.class.belief.Learn(r)
	}
}

// mostEpochs limits the epochs of a class; later ones count as the last. opt/convex needs 40 ms for so many.
const mostEpochs = 10_000

// Reached records that job id is in the given epoch (the first is 0) with the given progress, at most its target. An
// epoch starts at the first progress reported in it, even if the job later returns to a checkpoint.
func (cs *Classes) Reached(id job.ID, epoch int, progress float64) {
	l := cs.life(id)
	if l == nil {
		return
	}
	if l.target > 0 {
		progress = min(progress, l.target)
	}
	l.reach(min(epoch, mostEpochs-1), progress)
}

// Ended records that job id has ended in the given phase. If it completed, the sizes of its epochs count for its class.
func (cs *Classes) Ended(id job.ID, phase job.Phase) {
	l := cs.life(id)
	if l == nil {
		return
	}
	delete(cs.jobs, id)
	if phase == job.Completed {
		l.finish()
	}
}

func (cs *Classes) life(id job.ID) *life {
	if cs == nil {
		return nil
	}
	return cs.jobs[id]
}

// Stats returns the statistics of all classes whose speed is known, sorted by name. The pointer for a class stays the
// same until a statistic changes by more than Material. Batch limits come from the first job of the class. Source: BOA
// §3.1.
func (cs *Classes) Stats(now time.Time) []*perf.ClassStats {
	if cs == nil {
		return nil
	}
	cs.begin(now)
	elsewhere := cs.meanTotal()
	var all []*perf.ClassStats
	for _, c := range cs.list {
		if !c.belief.known() {
			continue
		}
		next := c.summarise(elsewhere)
		next.rate = c.arrivals.rate(now, cs.began, &cs.o)
		if c.shown == nil || c.last.differs(&next) {
			c.shown, c.last = c.show(&next), next
		}
		all = append(all, c.shown)
	}
	return all
}

func (cs *Classes) meanTotal() float64 {
	var m mean
	for _, c := range cs.list {
		if total := c.total(); total > 0 {
			m.add(total)
		}
	}
	return m.value
}

type summary struct {
	rate    float64
	sizes   []float64
	noise   []float64 // samples, by epoch
	epochs  int       // with reported gradients
	forms   int
	news    int // changes of throughput
	pace    float64
	guessed string
}

func (s *summary) differs(t *summary) bool {
	return s.forms != t.forms || s.news != t.news || s.epochs != t.epochs || s.guessed != t.guessed || moved(s.rate, t.rate) || moved(s.pace, t.pace) ||
		!slices.EqualFunc(s.sizes, t.sizes, stayed) || !slices.EqualFunc(s.noise, t.noise, stayed)
}

func moved(a, b float64) bool { return math.Max(a, b) > (1+material)*math.Min(a, b) }

func stayed(a, b float64) bool { return !moved(a, b) }

type arrivals struct {
	n      int
	weight float64 // total at time last
	last   time.Time
}

func (a *arrivals) add(now time.Time, forget time.Duration) {
	a.weight = a.weight*a.fade(now, forget) + 1
	a.n++
	a.last = now
}

func (a *arrivals) fade(now time.Time, forget time.Duration) float64 {
	return math.Exp(-max(0, now.Sub(a.last).Seconds()) / forget.Seconds())
}

// seldom is the lowest rate, per second: once in 30,000 years.
const seldom = 1e-12

// rate returns the estimated arrivals per second: the weight of all arrivals over the weight of the
// observed time. The burn-in adds to that time, with a weight that fades. At a constant rate the
// result is unbiased once the burn-in has faded. Deviation: BOA's rates are constants, the number
// of arrivals over the time of the last, because it knows the trace.
func (a *arrivals) rate(now, began time.Time, o *ClassOptions) float64 {
	age, forget, burn := max(0, now.Sub(began).Seconds()), o.Forget.Seconds(), o.BurnIn.Seconds()
	watched := -forget * math.Expm1(-age/forget)
	return max(seldom, a.weight*a.fade(now, o.Forget)/(watched+burn*math.Exp(-age/burn)))
}
