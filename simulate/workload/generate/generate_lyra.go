package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A lyraFamily describes a trace with Lyra's published figures; others are from the shared traces (README).
// Source: Lyra §2, §7.1, Table 5.
type lyraFamily struct {
	lengths []knot // of running time
	rigid   []template
	elastic []template

	elasticShare float64
	from         float64 // quantile of running time above which jobs are elastic
	days         bool    // rates follow days and weeks, and some jobs run already at time 0
}

type knot struct{ share, seconds float64 }

var lyraProduction = &lyraFamily{
	lengths: []knot{
		{0, 30},
		{0.5, 740},
		{0.74, 3000},
		{0.75, 27_300},
		{0.94, 30_000},
		{0.95, 74_600},
		{0.985, 80_000},
		{0.99, 362_000},
		{1, 380_000},
	},
	rigid: []template{
		{gpus: 1, count: 540},
		{gpus: 2, count: 120},
		{gpus: 4, count: 120},
		{gpus: 8, count: 175},
		{gpus: 16, count: 30},
		{gpus: 32, count: 12},
		{gpus: 64, count: 3},
	},
	elastic:      []template{{gpus: 4, count: 30}, {gpus: 8, count: 45}, {gpus: 16, count: 20}, {gpus: 32, count: 5}},
	elasticShare: 0.05, from: 0.75, days: true,
}

// lyraTestbed: "180 training jobs (10 elastic ones", of at most 16 GPUs; "training time varies from 2
// minutes to 2 hours". Source: Lyra §7.5, "Workload".
var lyraTestbed = &lyraFamily{
	lengths:      []knot{{0, 120}, {1, 7200}},
	rigid:        []template{{gpus: 1, count: 35}, {gpus: 2, count: 15}, {gpus: 4, count: 20}, {gpus: 8, count: 25}, {gpus: 16, count: 5}},
	elastic:      []template{{gpus: 4, count: 40}, {gpus: 8, count: 60}},
	elasticShare: 10.0 / 180,
}

const (
	lyraWorker        = 8    // GPUs; each worker of a larger job fills a server
	lyraElasticWorker = 2    // GPUs
	lyraRange         = 2    // factor from base demand to most workers of an elastic job
	lyraFungible      = 0.21 // share of jobs, and of GPU time, that may run on loaned servers
	lyraMixed         = 10   // one in so many jobs may run on GPUs of two types at once
	lyraRare          = 0.99 // quantile of running time above which elastic jobs are rarer
	lyraRarer         = 0.85 // factor
)

// generateLyra returns the jobs of a family, and those that run already. Running times and GPUs are spread evenly,
// so that every seed has about the paper's load.
func generateLyra(o Options, f *lyraFamily) []workload.Arrival {
	at := f.times(o)
	r := rng.Stream(o.Seed, "workload/lyra/jobs")
	elastic := f.newChooser(o.Jobs)
	sizes := [2]evenly{{f.rigid, r.Float64()}, {f.elastic, r.Float64()}}
	all := make([]workload.Arrival, o.Jobs)
	for rank, i := range r.Perm(o.Jobs) {
		u := (float64(rank) + r.Float64()) / float64(o.Jobs)
		all[i] = workload.Arrival{
			At: at[i], Duration: time.Duration(math.Round(f.seconds(u))) * time.Second, Bound: true,
			Spec: job.Spec{ID: job.ID(fmt.Sprintf("job-%d", i)), Adaptivity: job.Rigid, NoCheckpoint: true},
		}
		if s := &all[i].Spec; elastic.next(u) {
			stretch(s, sizes[1].next())
		} else {
			s.GPUs = sizes[0].next()
			s.WorkerGPUs = min(s.GPUs, lyraWorker)
		}
	}
	loosen(all, o.Seed)
	mixTypes(all, o.Seed)
	if !f.days {
		return all
	}
	return append(warm(all, o), all...)
}

func (f *lyraFamily) seconds(u float64) float64 {
	i := 1 + sort.Search(len(f.lengths)-2, func(i int) bool { return u < f.lengths[i+1].share })
	a, b := f.lengths[i-1], f.lengths[i]
	w := (u - a.share) / (b.share - a.share)
	return a.seconds * math.Pow(b.seconds/a.seconds, w)
}

func stretch(s *job.Spec, gpus int) {
	s.GPUs, s.WorkerGPUs, s.MinGPUs, s.MaxGPUs = gpus, lyraElasticWorker, gpus, lyraRange*gpus
	s.Adaptivity, s.Resizes = job.StrongScaling, true
}

type chooser struct {
	from, rate float64 // of elastic jobs above a quantile
	credit     float64
}

func (f *lyraFamily) newChooser(jobs int) *chooser {
	weight := lyraRare - f.from + (1-lyraRare)*lyraRarer
	chosen := math.Round(f.elasticShare * float64(jobs))
	return &chooser{from: f.from, rate: chosen / (weight * float64(max(1, jobs))), credit: 0.5}
}

func (c *chooser) next(u float64) bool {
	switch {
	case u < c.from:
		return false
	case u > lyraRare:
		c.credit += lyraRarer * c.rate
	default:
		c.credit += c.rate
	}
	if c.credit < 1 {
		return false
	}
	c.credit--
	return true
}

// evenly draws GPUs in nearly exact proportions, by steps of the golden ratio from a random start.
type evenly struct {
	of []template
	at float64 // 0 to 1
}

func (e *evenly) next() int {
	_, e.at = math.Modf(e.at + math.Phi)
	total := 0
	for _, t := range e.of {
		total += t.count
	}
	left := e.at * float64(total)
	for _, t := range e.of {
		if left -= float64(t.count); left < 0 {
			return t.gpus
		}
	}
	return e.of[len(e.of)-1].gpus
}

// stratum is the number of jobs with similar GPU time in each group with a fixed fungible part.
const stratum = 100

// loosen makes a part of the jobs fungible. Source: Lyra §7.1, "21% of total training load".
func loosen(all []workload.Arrival, seed uint64) {
	r := rng.Stream(seed, "workload/lyra/fungible")
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gpuSeconds(&all[a]), gpuSeconds(&all[b])) })
	for jobs := range slices.Chunk(order, stratum) {
		for _, k := range r.Perm(len(jobs))[:int(math.Round(lyraFungible*float64(len(jobs))))] {
			all[jobs[k]].Bound = false
		}
	}
}

func gpuSeconds(a *workload.Arrival) float64 { return a.Duration.Seconds() * float64(a.Spec.GPUs) }

// mixTypes lets some jobs run on GPUs of two types at once. Source: Lyra §7.1, "10% of jobs",
// "distributed evenly across 15 days".
func mixTypes(all []workload.Arrival, seed uint64) {
	r := rng.Stream(seed, "workload/lyra/heterogeneous")
	for i := 0; i < len(all); i += lyraMixed {
		if k := i + r.IntN(lyraMixed); k < len(all) {
			all[k].Heterogeneous = true
		}
	}
}

// warm returns the mean number of jobs that run without waiting, at most as many as arrive, each with the
// rest of a running time, longer ones more likely. They are bound and rigid.
func warm(all []workload.Arrival, o Options) []workload.Arrival {
	r := rng.Stream(o.Seed, "workload/lyra/warm")
	ends, sum := make([]float64, len(all)), 0.0
	for i := range all {
		sum += all[i].Duration.Seconds()
		ends[i] = sum
	}
	most := float64(len(all)) // a span shorter than its jobs would have more
	running := make([]workload.Arrival, int(min(math.Round(sum/o.Span.Seconds()), most)))
	for i := range running {
		met := &all[min(sort.SearchFloat64s(ends, sum*r.Float64()), len(all)-1)]
		rest := math.Ceil(met.Duration.Seconds() * r.Float64())
		running[i] = workload.Arrival{Duration: max(time.Second, time.Duration(rest)*time.Second), Bound: true, Spec: job.Spec{
			ID: job.ID(fmt.Sprintf("warm-%d", i)), Queue: workload.Warm, GPUs: met.Spec.GPUs, WorkerGPUs: met.Spec.WorkerGPUs,
			Adaptivity: job.Rigid, NoCheckpoint: true,
		}}
	}
	return running
}

// lyraHours is the relative number of jobs by hour, from the five shared traces of the full cluster.
var lyraHours = [24]float64{
	0.64, 0.52, 0.39, 0.35, 0.36, 0.35, 0.43, 0.58, 0.96, 1.42, 1.90, 1.87,
	1.51, 1.63, 1.93, 2.00, 1.94, 1.86, 1.63, 1.55, 1.49, 1.31, 1.07, 0.84,
}

// Deviations of the shared traces from these rates.
const (
	lyraWeekend = 0.6  // factor on the rate of working days
	lyraKeep    = 0.8  // factor on the logarithm of a deviation per hour
	lyraVaries  = 0.45 // its standard deviation
)

func (f *lyraFamily) times(o Options) []time.Duration {
	p := pace{step: time.Hour, rates: []float64{1}}
	if f.days {
		p.rates = lyraRates(o)
	}
	at := p.times(rng.Stream(o.Seed, "workload/lyra/times"), o.Jobs, o.Span)
	for i := range at {
		at[i] = at[i].Truncate(time.Second)
	}
	return at
}

func lyraRates(o Options) []float64 {
	r := rng.Stream(o.Seed, "workload/lyra/rates")
	rates := make([]float64, int(math.Ceil(o.Span.Hours())))
	deviation := lyraVaries * r.NormFloat64()
	for h := range rates {
		rates[h] = lyraHours[h%24] * math.Exp(deviation)
		if weekday := h / 24 % 7; weekday >= 5 {
			rates[h] *= lyraWeekend
		}
		deviation = lyraKeep*deviation + lyraVaries*math.Sqrt(1-lyraKeep*lyraKeep)*r.NormFloat64()
	}
	return rates
}
