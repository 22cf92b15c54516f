package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// This file makes runs that look like real ones: a small cluster, arrivals, a
// greedy policy that starts, grows and shrinks jobs at random.

var kinds = []struct {
	class job.Class
	hours float64 // GPU-hours on a t4
	share float64
	delay float64 // seconds of a restore
}{
	{"cifar10", 0.7, 0.7, 25}, {"deepspeech2", 5, 0.1, 25}, {"bert", 5, 0.1, 90}, {"yolov3", 45, 0.06, 80}, {"imagenet", 130, 0.04, 250},
}

var speed = map[cluster.GPUType]float64{"t4": 1, "rtx": 2, "a100": 5}

// A fakeRun is the state of a made-up run.
type fakeRun struct {
	rand   *rand.Rand
	rec    *metrics.Recorder
	free   map[cluster.GPUType]int
	types  []cluster.TypeInfo
	active []*toy
	thrift float64 // how often a job is left as it is
}

type toy struct {
	spec    *job.Spec
	left    float64 // GPU-seconds on a t4
	delay   float64
	restore float64
	alloc   cluster.Configuration
}

// synthetic returns a run of n jobs over about 6 hours of arrivals.
func synthetic(t testing.TB, name string, n int, seed uint64) Run {
	t.Helper()
	c, err := cluster.New([]cluster.Node{
		{ID: "t", GPUType: "t4", Capacity: cluster.Resources{GPUs: 24}, Power: 70, Price: 0.4},
		{ID: "a", GPUType: "a100", Capacity: cluster.Resources{GPUs: 16}, Power: 350, Price: 2.4},
		{ID: "r", GPUType: "rtx", Capacity: cluster.Resources{GPUs: 24}, Power: 220, Price: 0.9},
	})
	if err != nil {
		t.Fatal(err)
	}
	opts := metrics.DefaultOptions()
	opts.Isolated = func(s *job.Spec, typ cluster.GPUType, gpus float64) time.Duration {
		return time.Duration(s.Target / speed[typ] / math.Min(8, gpus) * 1.6 * float64(time.Second))
	}
	rec, err := metrics.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeRun{rand: rand.New(rand.NewPCG(seed, 1)), rec: rec, free: map[cluster.GPUType]int{}, types: c.Types(), thrift: 0.95 + 0.012*float64(seed)}
	for _, info := range c.Types() {
		w.free[info.Type] = info.GPUs
	}
	arrivals := w.arrivals(n, rand.New(rand.NewPCG(7, 7)))
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var times []time.Duration
	for round := 0; (len(w.active) > 0 || len(arrivals) > 0) && round < 6000; round++ {
		now := start.Add(time.Duration(round) * time.Minute)
		for len(arrivals) > 0 && arrivals[0].at <= float64(round)*60 {
			at := start.Add(time.Duration(arrivals[0].at * float64(time.Second)))
			rec.Event(at, scheduler.Submitted{Spec: arrivals[0].toy.spec})
			w.active = append(w.active, arrivals[0].toy)
			arrivals = arrivals[1:]
		}
		acts := w.plan()
		rec.Round(&policy.Snapshot{Now: now, Length: time.Minute, Cluster: c, Jobs: make([]*policy.Job, len(w.active))}, nil, acts)
		times = append(times, time.Duration(2e5*float64(seed)*math.Exp(w.rand.NormFloat64()*0.7)*(1+0.1*float64(len(w.active)))))
		w.pass(now)
	}
	return Run{Name: name, Result: rec.Result(), PolicyTimes: times}
}

type arrival struct {
	at  float64
	toy *toy
}

func (w *fakeRun) arrivals(n int, r *rand.Rand) []arrival {
	var all []arrival
	at := 0.0
	for i := range n {
		at += r.ExpFloat64() * 6 * 3600 / float64(n)
		pick, k := r.Float64(), 0
		for k < len(kinds)-1 && pick > kinds[k].share {
			pick -= kinds[k].share
			k++
		}
		work := kinds[k].hours * 3600 * math.Exp(r.NormFloat64()*0.3)
		spec := &job.Spec{ID: job.ID(fmt.Sprintf("%s-%d", kinds[k].class, i)), Class: kinds[k].class, Target: work}
		all = append(all, arrival{at, &toy{spec: spec, left: work, delay: kinds[k].delay}})
	}
	return all
}

// plan shrinks, starts and grows jobs.
func (w *fakeRun) plan() []scheduler.Action {
	var acts []scheduler.Action
	for _, j := range w.active {
		if j.alloc.GPUs > 0 && (w.rand.Float64() < w.thrift || j.restore > 0) {
			continue
		}
		w.free[j.alloc.GPUType] += j.alloc.GPUs
		held := j.alloc
		j.alloc = w.offer(j.left/3600 > 20)
		w.free[j.alloc.GPUType] -= j.alloc.GPUs
		switch {
		case j.alloc == held:
		case j.alloc.GPUs == 0:
			acts = append(acts, scheduler.Preempt{Job: j.spec.ID})
		default:
			j.restore = j.delay
			acts = append(acts, scheduler.Run{Job: j.spec.ID, Allocation: cluster.Allocation{Configuration: j.alloc}})
		}
	}
	return acts
}

// offer returns free GPUs of a type, more of them to a large job.
func (w *fakeRun) offer(large bool) cluster.Configuration {
	best := w.types[w.rand.IntN(len(w.types))].Type
	for _, t := range w.types {
		if w.free[t.Type] > 2*w.free[best] {
			best = t.Type
		}
	}
	n := min(w.free[best], 1<<w.rand.IntN(3))
	if large {
		n = min(w.free[best], 4<<w.rand.IntN(3))
	}
	if n <= 0 {
		return cluster.Configuration{}
	}
	return cluster.Configuration{Nodes: 1, GPUs: n, GPUType: best}
}

// pass lets a minute go by.
func (w *fakeRun) pass(now time.Time) {
	var left []*toy
	for _, j := range w.active {
		if j.alloc.GPUs == 0 {
			left = append(left, j)
			continue
		}
		wait := min(j.restore, 60)
		if j.restore -= wait; j.restore <= 0 && wait < 60 {
			w.rec.Event(now.Add(time.Duration(wait*1e9)), scheduler.Reported{Report: job.Report{Job: j.spec.ID}})
		}
		rate := float64(j.alloc.GPUs) * speed[j.alloc.GPUType]
		done := rate * (60 - wait)
		if done < j.left {
			j.left -= done
			left = append(left, j)
			continue
		}
		at := now.Add(time.Duration((wait + j.left/rate) * 1e9))
		w.rec.Event(at, scheduler.Exited{Job: j.spec.ID, Outcome: scheduler.Done})
		w.free[j.alloc.GPUType] += j.alloc.GPUs
	}
	w.active = left
}
