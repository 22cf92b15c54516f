package queue

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Unfairness is the Order by finish-time fairness, the worst treated job first. The key is minus this
// ratio: the job's age plus its remaining time, divided by its running time on a fair share of the
// cluster's GPUs. Source: Synergy §2.2 (FTF), after Themis §3.2.
//
// Deviation: a fair share divides the GPUs by the jobs present now, because a snapshot does not contain the
// number of earlier jobs.
func Unfairness(s *policy.Snapshot, j *policy.Job) float64 {
	gpus := s.Cluster.GPUs()
	turns := math.Max(1, float64(grant.Requested(j))/perf.FairShare(gpus, float64(len(s.Jobs))))
	time, from := RemainingTime(s, j)
	left, done := time.Seconds(), j.Done(s.Now)
	alone := left + j.AttainedService(s.Now).Seconds()
	if from == perf.FromStated {
		if done >= j.Target {
			return math.Inf(-1) // it is about to end
		}
		alone = left * j.Target / (j.Target - done)
	}
	if alone == 0 {
		return -1 / turns // it is new, and its length is unknown
	}
	return -(j.Age(s.Now).Seconds() + left) / (turns * alone)
}

// volume returns the Order by demand times duration, smallest first. The key is the sum of the job's shares
// of the cluster's GPUs, CPUs and memory, times its remaining time. Make one Order for each policy, because
// it stores demands. Source: Tetris §3.3.
//
// Deviation: Tetris adds how well a demand aligns with the free resources of a machine. That term is
// missing here, because jobs are chosen before machines.
func volume() Order {
	var known demands
	return func(s *policy.Snapshot, j *policy.Job) float64 {
		gpus, cpus, memory := fractions(total(s.Cluster), known.of(s, j))
		left, _ := RemainingTime(s, j)
		return (gpus + cpus + memory) * left.Seconds()
	}
}

// DominantShare returns the Order of dominant resource fairness. The key of a job is the largest of the
// shares of the cluster's GPUs, CPUs and memory that its user would have after its start. The shares
// include the job, the user's earlier jobs, and the user's non-preemptive jobs. A job without a user counts
// as a separate user.
//
// The Order keeps sums over a snapshot, so make one for each policy. Source: DRF §4.1 (progressive
// filling), used as in Synergy §5.7.
func DominantShare() Order {
	var known demands
	var of *policy.Snapshot
	var all cluster.Resources
	users := map[string]cluster.Resources{}
	return func(s *policy.Snapshot, j *policy.Job) float64 {
		if s != of {
			of, all = s, total(s.Cluster)
			clear(users)
			for _, other := range s.Jobs { // they are not in the queue
				if other.User != "" && (other.NonPreemptive && other.Holding() || !other.Reservation.IsZero()) {
					users[other.User] = plus(users[other.User], known.of(s, other))
				}
			}
		}
		has := known.of(s, j)
		if j.User != "" {
			has = plus(users[j.User], has)
			users[j.User] = has
		}
		gpus, cpus, memory := fractions(all, has)
		return max(gpus, cpus, memory)
	}
}

func plus(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: a.GPUs + b.GPUs, CPUs: a.CPUs + b.CPUs, Memory: a.Memory + b.Memory}
}

type demands struct {
	cluster *cluster.Cluster
	known   map[*job.Spec]demand
}

type demand struct {
	perf        perf.Model
	sensitivity *perf.Sensitivity
	limits      *job.BatchLimits
	held        cluster.GPUType
	is          cluster.Resources
}

func (d *demands) of(s *policy.Snapshot, j *policy.Job) cluster.Resources {
	if d.cluster != s.Cluster || len(d.known) > 2*len(s.Jobs)+64 { // mostly jobs that have left
		d.cluster, d.known = s.Cluster, make(map[*job.Spec]demand)
	}
	now := demand{perf: j.Perf, sensitivity: j.Sensitivity, limits: j.Limits, held: j.Allocation.GPUType}
	last, ok := d.known[j.Spec]
	if now.is = last.is; !ok || last != now {
		now.is = Demand(s, j)
		d.known[j.Spec] = now
	}
	return now.is
}

func total(c *cluster.Cluster) (all cluster.Resources) {
	for _, t := range c.Types() {
		all.GPUs, all.CPUs, all.Memory = all.GPUs+t.GPUs, all.CPUs+t.CPUs, all.Memory+t.Memory
	}
	return all
}

func fractions(all, r cluster.Resources) (gpus, cpus, memory float64) {
	share := func(part, whole float64) float64 {
		if whole <= 0 {
			return 0
		}
		return part / whole
	}
	return share(float64(r.GPUs), float64(all.GPUs)), share(r.CPUs, all.CPUs), share(float64(r.Memory), float64(all.Memory))
}

// TiresiasOptions configure the policy Tiresias-L, which does not use the lengths of jobs.
type TiresiasOptions struct {
	// Threshold is the GPU time after which a job moves to the second queue. Default 16 h (two queues as in
	// Pollux's public code; Tiresias §3.2.3 allows any number of queues).
	Threshold time.Duration
	// Promote, if not 0, returns a job to the first queue after it has waited this many times as
	// long as it ran. Default 0 (Tiresias §3.2.3: PROMOTEKNOB, off by default).
	Promote float64
}

func defaultTiresias() TiresiasOptions { return TiresiasOptions{Threshold: 16 * time.Hour} }

func (o *TiresiasOptions) validate() error {
	var errs []error
	if o.Threshold <= 0 {
		errs = append(errs, fmt.Errorf("threshold %v, want above 0s", o.Threshold))
	}
	if !(o.Promote >= 0) || math.IsInf(o.Promote, 0) {
		errs = append(errs, fmt.Errorf("promote %v, want at least 0", o.Promote))
	}
	return errors.Join(errs...)
}

// Tiresias returns the options of the policy Tiresias-L: two queues by GPU time received so far, with
// preemption and backfilling. Call it once for each policy, because the Options store promotions. Source:
// Tiresias §3.2.3 (discretised 2D-LAS).
//
// Deviation: jobs of a queue are ordered by submission, where Tiresias orders them by first start, because
// the earlier job here also started first, unless it did not fit.
func Tiresias(o TiresiasOptions) (Options, error) {
	if err := o.validate(); err != nil {
		return Options{}, err
	}
	queues := &twoQueues{o: o, promoted: map[job.ID]promotion{}}
	return Options{Order: queues.of, Memory: queues, Preempt: true, Backfill: true}, nil
}

type twoQueues struct {
	o        TiresiasOptions
	promoted map[job.ID]promotion
}

type promotion struct{ service, gpuService time.Duration }

func (q *twoQueues) Remember(m *memory.Codec) {
	memory.Map(m, &q.promoted, func(p *promotion, m *memory.Codec) { m.Fields(&p.service, &p.gpuService) })
}

func (q *twoQueues) of(s *policy.Snapshot, j *policy.Job) float64 {
	before := q.promoted[j.ID]
	if j.AttainedGPUService(s.Now)-before.gpuService < q.o.Threshold {
		return 0
	}
	ran := j.AttainedService(s.Now) - before.service
	if q.o.Promote == 0 || j.Holding() || s.Now.Sub(j.Since).Seconds() < q.o.Promote*ran.Seconds() {
		return 1
	}
	q.promoted = policy.Forget(s, q.promoted)
	q.promoted[j.ID] = promotion{j.AttainedService(s.Now), j.AttainedGPUService(s.Now)}
	return 0
}
