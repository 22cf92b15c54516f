package multifactor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure a Policy. Start from DefaultOptions.
type Options struct {
	Weights
	Backfill
	// Depth is the number of jobs that the main scheduler tests in one pass. Source: slurm.conf(5),
	// default_queue_depth.
	Depth int
}

// Weights are factors that increase a job's priority beyond the submitted priority. Source: slurm.conf(5).
type Weights struct {
	// Age is added in full after a wait of MaxAge, and in proportion before (PriorityWeightAge, PriorityMaxAge).
	Age    float64
	MaxAge time.Duration
	// Calculated is the time between updates of ages: PriorityCalcPeriod. 0: always up to date.
	Calculated time.Duration
	// JobSize is multiplied by the job's share of the cluster's GPUs: PriorityWeightJobSize,
	// without PriorityFavorSmall.
	JobSize float64
	// FairShare is added in full to jobs of a user without usage, and half to jobs of a user with an equal part of
	// all usage (PriorityWeightFairshare). Usage halves after each HalfLife (PriorityDecayHalfLife).
	FairShare float64
	HalfLife  time.Duration
}

// Backfill configures the backfill scheduler. Source: slurm.conf(5), SchedulerParameters.
type Backfill struct {
	Interval time.Duration // time between passes (bf_interval)
	Horizon  time.Duration // how far ahead reservations reach (bf_window)
	Tests    int           // jobs tested per pass (bf_max_job_test)
}

// DefaultOptions returns Slurm's defaults, except that the age of a job has a weight, which is 0 in Slurm.
func DefaultOptions() Options {
	return Options{
		Weights:  Weights{Age: 1000, MaxAge: 7 * 24 * time.Hour, Calculated: 5 * time.Minute, HalfLife: 7 * 24 * time.Hour},
		Backfill: Backfill{Interval: 30 * time.Second, Horizon: 24 * time.Hour, Tests: 500},
		Depth:    100,
	}
}

func (o *Options) validate() error {
	var errs []error
	for name, w := range map[string]float64{"age": o.Age, "job-size": o.JobSize, "fair-share": o.FairShare} {
		if !(w >= 0 && w <= 1<<32) {
			errs = append(errs, fmt.Errorf("%s %v, want 0 to 2^32", name, w))
		}
	}
	if o.MaxAge <= 0 || o.HalfLife <= 0 || o.Calculated < 0 {
		errs = append(errs, fmt.Errorf("max-age %v, half-life %v, calculated %v, want more than 0", o.MaxAge, o.HalfLife, o.Calculated))
	}
	if o.Interval < 0 || o.Horizon < 0 {
		errs = append(errs, fmt.Errorf("interval %v, horizon %v, want at least 0", o.Interval, o.Horizon))
	}
	if o.Tests < 0 || o.Depth < 1 {
		errs = append(errs, fmt.Errorf("tests %d, depth %d, want at least 0 and at least 1", o.Tests, o.Depth))
	}
	return errors.Join(errs...)
}

type want struct {
	t     int
	info  *cluster.TypeInfo
	job   *policy.Job
	size  int // GPUs in total
	nodes int
	each  cluster.Resources // the largest share; some nodes have one GPU less if the division has a remainder
}

func wantOf(j *policy.Job, t int, info *cluster.TypeInfo) (w want, ok bool) {
	if !grant.Usable(j, info) {
		return w, false
	}
	w = want{t: t, info: info, job: j, size: grant.Size(j, info.Type)}
	w.nodes = (w.size + info.PerNode - 1) / info.PerNode
	if n := j.WorkerGPUs; n > 0 && w.size%n == 0 && n <= info.PerNode && w.size/n <= info.Nodes {
		w.nodes = w.size / n
	}
	w.each = w.with((w.size + w.nodes - 1) / w.nodes)
	return w, true
}

func (w *want) with(gpus int) cluster.Resources {
	what := cluster.Resources{GPUs: gpus}
	if !w.info.Counts() {
		return what
	}
	share := w.info.Proportional(cluster.Configuration{GPUs: gpus})
	what.CPUs, what.Memory = w.job.CPUs/float64(w.nodes), w.job.Memory/int64(w.nodes)
	if what.CPUs == 0 {
		what.CPUs = share.CPUs
	}
	if what.Memory == 0 {
		what.Memory = share.Memory
	}
	return what
}

func (w *want) allocation() cluster.Allocation {
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: w.nodes, GPUs: w.size, GPUType: w.info.Type}}
	for k := range w.nodes {
		share := w.share(k)
		a.CPUs, a.Memory = a.CPUs+share.CPUs, a.Memory+share.Memory
	}
	return a
}

func (w *want) share(k int) cluster.Resources {
	gpus := w.size / w.nodes
	if k < w.size%w.nodes {
		gpus++
	}
	return w.with(gpus)
}

func byPriority(a, b place) int { return cmp.Compare(b.priority, a.priority) }

// priority returns a job's priority now, rounded down as in Slurm, so that jobs of nearly equal age
// go by submission.
func (p *Policy) priority(s *policy.Snapshot, j *policy.Job) float64 {
	now := s.Now
	if p.o.Calculated > 0 {
		now = now.Truncate(p.o.Calculated)
	}
	sum := j.Priority + p.o.Age*math.Min(1, math.Max(0, float64(j.Age(now))/float64(p.o.MaxAge)))
	if p.o.JobSize > 0 {
		sum += p.o.JobSize * float64(grant.Requested(j)) / float64(max(1, s.Cluster.GPUs()))
	}
	if p.o.FairShare > 0 {
		sum += p.o.FairShare * p.used.factor(j.User)
	}
	return math.Floor(sum)
}

func limit(j *policy.Job) time.Duration {
	const endless = 365 * 24 * time.Hour
	if !j.Timed || !(j.Target > 0) || j.Target > endless.Seconds() {
		return endless
	}
	return time.Duration(j.Target * float64(time.Second))
}

type usage struct {
	of    map[string]float64
	total float64
	at    time.Time
}

func (u *usage) advance(s *policy.Snapshot, halfLife time.Duration) {
	since := s.Now.Sub(u.at)
	if u.of == nil {
		u.of, since = make(map[string]float64), 0
	}
	u.at = s.Now
	keep := math.Exp2(-float64(since) / float64(halfLife))
	u.total *= keep
	for user := range u.of {
		u.of[user] *= keep
	}
	for _, j := range s.Jobs {
		more := float64(j.Allocation.GPUs) * min(since, s.Now.Sub(j.Since)).Seconds()
		u.of[j.User] += more // users without usage count too
		u.total += more
	}
}

func (u *usage) factor(user string) float64 {
	if u.total == 0 {
		return 1
	}
	return math.Exp2(-u.of[user] / u.total * float64(len(u.of)))
}
