package trace

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Description summarises a trace.
type Description struct {
	Jobs        int
	First, Last time.Duration // first and last submission, since the start of the trace
	Users       int
	Queues      int
	Demand
	Asked
	Waits     Quantiles   // of the jobs whose submission and start the trace states
	Started   int         // number of these jobs
	Hours     []Load      // hours with submissions, ascending
	Sizes     []SizeCount // by requested GPUs, ascending
	Cancelled int
	// Summary, if set by the caller, is printed too.
	Summary *parse.Summary
}

// A Demand sums up the jobs of a trace whose running time is known.
type Demand struct {
	GPUHours  float64 // requested GPUs times Duration
	Known     int     // number of jobs with a known running time
	Durations Quantiles
}

// An Asked counts the jobs of a trace by what they request, the most frequent first.
type Asked struct {
	Applications []NameCount
	GPUTypes     []NameCount // sorted by name
	Adaptivity   []NameCount
}

// A Load counts the jobs submitted in one hour.
type Load struct {
	Hour     int // 0: the first hour of the trace
	Jobs     int
	GPUHours float64 // GPU-hours of jobs with a known running time
}

// A SizeCount counts the jobs that request a certain number of GPUs.
type SizeCount struct {
	GPUs, Jobs int
	GPUHours   float64 // GPU-hours of jobs with a known running time
}

// A NameCount counts the jobs with one name, for example of an application or a user.
type NameCount struct {
	Name string
	Jobs int
}

// Quantiles of durations, by nearest rank.
type Quantiles struct{ Mean, Min, P10, P50, P90, P99, Max time.Duration }

// Describe reads a whole trace and summarises it, or returns its first error. It stores 12 bytes for each distinct
// running time and wait. waits, if not nil, are the waits that parse.Options.Wait receives meanwhile.
func Describe(seq iter.Seq2[workload.Arrival, error], waits *Waits) (*Description, error) {
	d := &Description{}
	c := counters{hours: map[int]*Load{}, sizes: map[int]*SizeCount{}, names: map[string]map[string]int{}}
	for a, err := range seq {
		if err != nil {
			return nil, err
		}
		if d.Jobs == 0 || a.At < d.First {
			d.First = a.At
		}
		d.Last = max(d.Last, a.At)
		d.Jobs++
		c.add(&a)
		if a.CancelAfter > 0 {
			d.Cancelled++
		}
	}
	c.fill(d)
	if waits != nil {
		d.Waits, d.Started = waits.quantiles(), waits.count
	}
	return d, nil
}

// Waits collects the waits of a trace's jobs.
type Waits struct{ tally }

// Add adds a wait.
func (w *Waits) Add(d time.Duration) { w.add(d) }

type counters struct {
	hours     map[int]*Load
	hour      *Load // of the last arrival
	sizes     map[int]*SizeCount
	names     map[string]map[string]int // "application", "user" ... -> name -> jobs
	durations tally
}

func (c *counters) add(a *workload.Arrival) {
	hour := int(a.At / time.Hour)
	if c.hour == nil || c.hour.Hour != hour {
		if c.hours[hour] == nil {
			c.hours[hour] = &Load{Hour: hour}
		}
		c.hour = c.hours[hour]
	}
	size := a.Spec.GPUs
	if c.sizes[size] == nil {
		c.sizes[size] = &SizeCount{GPUs: size}
	}
	c.hour.Jobs++
	c.sizes[size].Jobs++
	if a.Duration > 0 {
		work := float64(size) * a.Duration.Hours()
		c.hour.GPUHours += work
		c.sizes[size].GPUHours += work
		c.durations.add(a.Duration)
	}
	c.name("application", a.Application)
	c.name("user", a.Spec.User)
	c.name("queue", a.Spec.Queue)
	c.name("adaptivity", adaptivityWord(a.Spec.Adaptivity))
	for _, t := range a.Spec.GPUTypes {
		c.name("type", string(t))
	}
}

func (c *counters) name(kind, name string) {
	if name == "" {
		return
	}
	if c.names[kind] == nil {
		c.names[kind] = map[string]int{}
	}
	c.names[kind][name]++
}

func adaptivityWord(a job.Adaptivity) string {
	if a == 0 {
		a = job.Rigid
	}
	for _, c := range siaCategories {
		if c.adaptivity == a {
			return c.name
		}
	}
	return "other"
}

func (c *counters) fill(d *Description) {
	for _, h := range slices.Sorted(maps.Keys(c.hours)) {
		d.Hours = append(d.Hours, *c.hours[h])
		d.GPUHours += c.hours[h].GPUHours
	}
	for _, n := range slices.Sorted(maps.Keys(c.sizes)) {
		d.Sizes = append(d.Sizes, *c.sizes[n])
	}
	d.Users, d.Queues = len(c.names["user"]), len(c.names["queue"])
	d.Applications = ranked(c.names["application"])
	d.GPUTypes = ranked(c.names["type"])
	d.Adaptivity = ranked(c.names["adaptivity"])
	d.Known = c.durations.count
	d.Durations = c.durations.quantiles()
}

func ranked(counts map[string]int) []NameCount {
	var list []NameCount
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, NameCount{name, counts[name]})
	}
	slices.SortStableFunc(list, func(a, b NameCount) int { return cmp.Compare(b.Jobs, a.Jobs) })
	return list
}

type tally struct {
	values []time.Duration // ascending
	times  []uint32        // count of each value
	recent []time.Duration
	count  int
}

const mostRecent = 1 << 16

func (t *tally) add(d time.Duration) {
	t.recent = append(t.recent, d)
	t.count++
	if len(t.recent) >= max(mostRecent, len(t.values)/4) {
		t.settle()
	}
}

func (t *tally) settle() {
	slices.Sort(t.recent)
	values, times := make([]time.Duration, 0, len(t.values)+64), make([]uint32, 0, len(t.values)+64)
	put := func(d time.Duration, n uint32) {
		if last := len(values) - 1; last >= 0 && values[last] == d {
			times[last] += n
			return
		}
		values, times = append(values, d), append(times, n)
	}
	rest := t.recent
	for i, d := range t.values {
		for len(rest) > 0 && rest[0] < d {
			put(rest[0], 1)
			rest = rest[1:]
		}
		put(d, t.times[i])
	}
	for _, d := range rest {
		put(d, 1)
	}
	t.values, t.times, t.recent = values, times, t.recent[:0]
}

func (t *tally) quantiles() Quantiles {
	t.settle()
	if t.count == 0 {
		return Quantiles{}
	}
	mean, n := 0.0, 0
	at := func(percent int) time.Duration { return t.at((t.count*percent+99)/100 - 1) }
	for k, x := range t.values {
		for range t.times[k] {
			n++
			mean += (float64(x) - mean) / float64(n)
		}
	}
	return Quantiles{Mean: time.Duration(mean), Min: t.values[0], P10: at(10), P50: at(50), P90: at(90), P99: at(99), Max: t.values[len(t.values)-1]}
}

func (t *tally) at(rank int) time.Duration {
	for k, n := range t.times {
		if rank -= int(n); rank < 0 {
			return t.values[k]
		}
	}
	return 0
}
