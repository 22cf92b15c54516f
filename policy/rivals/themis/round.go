package themis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type round struct {
	s          *policy.Snapshot
	plan       *grant.Round
	free       []int
	jobs       []bidder // worst treated first
	contention float64  // requested over all GPUs, at least 1
}

type bidder struct {
	*policy.Job
	index  int
	rho    float64
	alone  float64 // remaining seconds on its request
	offers []offer
	won    int // its offer; -1: none
}

type offer struct {
	t, gpus int
	asked   bool    // within the request
	left    float64 // remaining seconds
	value   float64 // logarithm of 1/ρ
}

func letThrough(part float64, n int) int { return min(n, int(math.Ceil(part*float64(n)-1e-9))) }

func newRound(s *policy.Snapshot) *round {
	plan := grant.NewRound(s)
	plan.KeepUnsaved()
	return &round{s: s, plan: plan, free: plan.FreeByType()}
}

func (r *round) meet() {
	asked := 0
	for i, j := range r.s.Jobs {
		if r.plan.Decided(i) {
			continue
		}
		b := bidder{Job: j, index: i, won: -1}
		if r.offers(&b); len(b.offers) == 0 {
			r.plan.Refuse(i)
			continue
		}
		asked += max(1, j.GPUs)
		r.jobs = append(r.jobs, b)
	}
	r.contention = math.Max(1, float64(asked)/math.Max(1, float64(r.s.Cluster.GPUs())))
	for i := range r.jobs {
		r.judge(&r.jobs[i])
	}
	slices.SortStableFunc(r.jobs, func(a, b bidder) int { return cmp.Compare(b.rho, a.rho) })
}

func (r *round) offers(b *bidder) {
	fastest := 0.0
	for pass := 0; pass < 2 && len(b.offers) == 0; pass++ {
		for t := range r.s.Cluster.Types() {
			least, most, step := r.plan.Range(b.index, t)
			want := min(most, max(least, b.GPUs))
			for n := least; n > 0 && n <= most; n += step {
				speed, _ := b.Job.Speed(r.plan.Amount(b.index, t, n))
				if pass > 0 {
					speed = float64(n) / float64(want)
				}
				if speed <= 0 || math.IsInf(speed, 0) {
					continue
				}
				if n <= want {
					fastest = math.Max(fastest, speed)
				}
				b.offers = append(b.offers, offer{t: t, gpus: n, asked: n <= want, left: r.missing(b.Job) / speed})
			}
		}
	}
	b.alone = r.missing(b.Job) / fastest
}

func (r *round) missing(j *policy.Job) float64 {
	left, from := r.s.Work(j)
	if j.Perf == nil || from == perf.FromAttained {
		return r.s.Length.Seconds()
	}
	return left
}

// judge computes ρ, now and with each offer. Source: Themis §3.2, as Shockwave's Eq. 9.
func (r *round) judge(b *bidder) {
	attained := b.AttainedService(r.s.Now)
	waited := max(0, b.Age(r.s.Now)-attained)
	total := seconds(b.alone) + attained
	if left := b.Target - b.Done(r.s.Now); b.Perf != nil && b.Target > 0 && left > 0 {
		total = seconds(b.alone * b.Target / left)
	}
	life := perf.Life{Attained: attained, Waited: waited, Remaining: seconds(b.alone), Total: max(total, time.Second)}
	b.rho = life.Estimate(r.contention)
	for k := range b.offers {
		o := &b.offers[k]
		life.Remaining = seconds(o.left)
		o.value = -math.Log(math.Max(life.Estimate(r.contention), 1e-9))
	}
}

func seconds(x float64) time.Duration {
	return time.Duration(math.Min(x, 100*365*24*3600) * float64(time.Second))
}
