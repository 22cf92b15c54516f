package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"runtime/pprof"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/placement/bestfit"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/builtin"
	"github.com/oxgang/oxgang/policy/lyra"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/lyra/reclaim"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/sim"
	"github.com/oxgang/oxgang/workload"
)

func rows(name string) (head map[string]int, out [][]string) {
	f, err := os.Open(name)
	chk(err)
	var r = csv.NewReader(f)
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(f)
		chk(err)
		r = csv.NewReader(z)
	}
	all, err := r.ReadAll()
	chk(err)
	head = map[string]int{}
	for i, c := range all[0] {
		head[c] = i
	}
	return head, all[1:]
}
func chk(err error) {
	if err != nil {
		panic(err)
	}
}
func num(s string) float64 { x, err := strconv.ParseFloat(s, 64); chk(err); return x }

type obs struct {
	sub, first, end map[job.ID]time.Time
	warm            map[job.ID]bool
	held            map[job.ID]time.Duration
	since           map[job.ID]time.Time
	preempt, lost   int
	resized         int
	returned        int
	refused         int
	whys            map[string]int
}

func (o *obs) Event(now time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		o.sub[ev.Spec.ID] = now
	case scheduler.Exited:
		if t, ok := o.since[ev.Job]; ok {
			o.held[ev.Job] += now.Sub(t)
			delete(o.since, ev.Job)
		}
		if ev.Outcome == scheduler.Lost {
			o.lost++
		} else {
			o.end[ev.Job] = now
		}
	}
}
func (o *obs) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	o.returned += len(p.Return)
	if p.Refused != "" {
		if o.refused++; o.refused < 5 {
			fmt.Println(p.Refused)
		}
	}
	for _, d := range p.Jobs {
		if d.Allocation.IsZero() {
			o.whys[d.Why.Kind.String()]++
		}
	}
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Preempt:
			o.preempt++
			if t, ok := o.since[a.Job]; ok {
				o.held[a.Job] += s.Now.Sub(t)
				delete(o.since, a.Job)
			}
		case scheduler.Run:
			if a.Resized {
				o.resized++
			}
			if _, ok := o.since[a.Job]; !ok {
				o.since[a.Job] = s.Now
			}
		}
	}
}

func main() {
	train := flag.String("train", "", "")
	infer := flag.String("infer", "", "")
	cl := flag.String("cluster", "lyra8", "")
	pol := flag.String("policy", "lyra", "")
	order := flag.String("order", "sjf", "")
	growth := flag.String("growth", "knapsack", "")
	loan := flag.String("loan", "loan", "")
	rule := flag.String("rule", "exact", "")
	scale := flag.Bool("scale", true, "")
	group := flag.Bool("group", true, "")
	foresee := flag.Bool("foresee", true, "")
	oracle := flag.Bool("oracle", false, "")
	patience := flag.Duration("patience", 4*time.Hour, "")
	pause := flag.Duration("pause", 63*time.Second, "")
	prof := flag.String("prof", "", "")
	flag.Parse()
	c := config.Default()
	c.Cluster = *cl
	clus, err := c.BuildCluster()
	chk(err)
	h, all := rows(*train)
	var arr []workload.Arrival
	eq := map[cluster.GPUType]int{"t4": 3}
	warm := map[job.ID]bool{}
	for _, r := range all {
		f := func(n string) string { return r[h[n]] }
		a := workload.Arrival{At: time.Duration(num(f("submit_s")) * 1e9), Duration: time.Duration(num(f("run_s")) * 1e9)}
		a.Spec = job.Spec{ID: job.ID(f("job_id")), GPUs: int(num(f("gpus"))), Adaptivity: job.Rigid, WorkerGPUs: int(num(f("gpus_per_worker"))), NoCheckpoint: true, Equivalents: eq}
		if f("fungible") == "0" {
			a.Spec.GPUTypes = []cluster.GPUType{"v100"}
		}
		if f("warm") == "1" {
			warm[a.Spec.ID] = true
		}
		if f("elastic") == "1" {
			g := int(num(f("gpus_per_worker")))
			a.Spec.MinGPUs, a.Spec.MaxGPUs, a.Spec.Adaptivity, a.Spec.Resizes = int(num(f("w_min")))*g, int(num(f("w_max")))*g, job.StrongScaling, true
		}
		chk(workload.Catalog{}.Complete(&a))
		arr = append(arr, a)
	}
	so := sim.DefaultOptions()
	so.FreeStart = true
	d := 63 * time.Second
	so.Restart = &d
	if *infer != "" {
		hi, ai := rows(*infer)
		var busy []float64
		for _, r := range ai {
			busy = append(busy, num(r[hi["busy_frac"]]))
		}
		so.Lender.Busy = func(at time.Duration) float64 {
			i := int(at / (5 * time.Minute))
			if i >= len(busy) {
				i = len(busy) - 288 + i%288
			}
			return busy[i]
		}
		if *oracle {
			so.Lender.Forecast = func() sim.Forecaster { return &orc{busy: so.Lender.Busy} }
		}
	}
	w, err := sim.New(clus, workload.Catalog{}, arr, so)
	chk(err)
	var p policy.Policy
	var pl placement.Placer = bestfit.New()
	if *pol == "lyra" {
		o := lyra.DefaultOptions()
		o.Patience=*patience; o.Allocate = allocate.Options{Order: allocate.Order(*order), Growth: allocate.Growth(*growth), Pause: *pause}
		o.Reclaim.Rule = reclaim.Rule(*rule)
		o.Loan, o.Group, o.Foresee = lyra.Loan(*loan), *group, *foresee; if !*scale {o.Allocate.Growth="none"}
		p, err = lyra.New(o)
	} else {
		p, err = builtin.New(*pol, nil)
	}
	chk(err)
	sc := scheduler.DefaultOptions()
	sc.Profile = false
	s, err := scheduler.New(p, pl, clus, sc)
	chk(err)
	o := &obs{map[job.ID]time.Time{}, nil, map[job.ID]time.Time{}, warm, map[job.ID]time.Duration{}, map[job.ID]time.Time{}, 0, 0, 0, 0, 0, map[string]int{}}
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	t0 := time.Now()
	chk(s.Run(context.Background(), w, o))
	var q, jct []float64
	for id, e := range o.end {
		if warm[id] {
			continue
		}
		j := e.Sub(o.sub[id])
		jct = append(jct, j.Seconds())
		q = append(q, (j - o.held[id]).Seconds())
	}
	fmt.Printf("%d jobs  queue %s  jct %s  preempt %d (%.2f %%) lost %d resized %d returned %d refused %d  %.1fs\n", len(jct), stat(q), stat(jct), o.preempt, 100*float64(o.preempt)/float64(len(jct)), o.lost, o.resized, o.returned, o.refused, time.Since(t0).Seconds())
	fmt.Println(o.whys)
}

func stat(x []float64) string {
	slices.Sort(x)
	s := 0.0
	for _, v := range x {
		s += v
	}
	at := func(q float64) float64 { return x[min(len(x)-1, int(q*float64(len(x))))] }
	return fmt.Sprintf("[mean %.0f p50 %.0f p75 %.0f p95 %.0f p99 %.0f max %.0f]", s/float64(len(x)), at(.5), at(.75), at(.95), at(.99), x[len(x)-1])
}

type orc struct {
	busy func(time.Duration) float64
	n    int
}

func (o *orc) Observe(float64) { o.n++ }
func (o *orc) Predict(ahead int) (mean, sd []float64) {
	for k := range ahead {
		mean = append(mean, o.busy(time.Duration(o.n+k)*5*time.Minute))
		sd = append(sd, 0)
	}
	return
}
