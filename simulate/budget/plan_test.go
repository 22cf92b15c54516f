package budget

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

func openData(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// threeModels returns the complete jobs of a trace that the paper has: filterTrace.
func threeModels(t *testing.T, name string, c workload.Catalog) []workload.Arrival {
	t.Helper()
	seq, err := trace.Open(openData(t, name), "", parse.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse.Sorted(seq)
	if err != nil {
		t.Fatal(err)
	}
	var kept []workload.Arrival
	for _, a := range all {
		if !slices.Contains([]string{"cifar10", "deepspeech2", "bert"}, a.Application) {
			continue
		}
		if err := c.Complete(&a); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, a)
	}
	return kept
}

// measured returns a trace's planner with measured goodputs and sizes, by GPUs.
func measured(t *testing.T, traceFile, goodputs string, sizes io.Reader, l *PriceList) *Planner {
	t.Helper()
	c := profiles.Default()
	w, err := NewWorkload(threeModels(t, traceFile, c), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := ReadGoodputs(openData(t, goodputs), sizes, goodputs, "sizes")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Measured(g); err != nil {
		t.Fatal(err)
	}
	return planner(t, w, l)
}

func planner(t *testing.T, w *Workload, l *PriceList) *Planner {
	t.Helper()
	p, err := NewPlanner(w, l, 64)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// awsSizes are the epoch sizes and restart times of the experiments on AWS: columns
// dataset_size_samples and rescale_s_aws_final of applications.csv.
const awsSizes = "application,dataset_size_samples,rescale_s\nbert,97077,300\ncifar10,50000,120\ndeepspeech2,4074,150\n"

func aws(t *testing.T, l *PriceList) *Planner {
	return measured(t, "boa/workload-1-cbd.csv", "boa/goodput_aws_measured.csv", strings.NewReader(awsSizes), l)
}

func simulated(t *testing.T, l *PriceList) *Planner {
	return measured(t, "sia/traces/newtrace/workload-1.csv", "boa/goodput_sim_true.csv.gz", openData(t, "boa/sim_epoch_progress.csv"), l)
}

func plan(t *testing.T, p *Planner, budget float64) *Plan {
	t.Helper()
	plan, err := p.Plan(budget)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func gpus(t *testing.T, text string) *PriceList {
	t.Helper()
	l, err := Unpriced(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// isNear reports whether two numbers are equal but for a part of them.
func isNear(got, want, within float64) bool {
	return math.Abs(got-want) <= within*math.Max(math.Abs(want), 1e-9)
}

// The streams of jobs of the paper, read off trace and tables, have the golden values of
// ../shared/data/boa/golden_boa.json, which are another solver's. The goodputs of the
// simulator have the 6 digits that the published table keeps.
func TestPlan_golden(t *testing.T) {
	text, err := io.ReadAll(openData(t, "boa/golden_boa.json"))
	if err != nil {
		t.Fatal(err)
	}
	type stream struct {
		Results []struct {
			Budget  float64
			MeanJCT float64 `json:"with_rescale_two_policy_mixture_s"`
		}
	}
	var golden struct {
		AWS stream `json:"aws_85_jobs"`
		Sim stream `json:"sim_filterTrace_918_jobs"`
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	check := func(p *Planner, s *stream, within float64) {
		compared := 0
		for _, want := range s.Results {
			if want.MeanJCT == 0 {
				continue // infeasible with restarts
			}
			compared++
			if got := plan(t, p, want.Budget).MeanJCT; !isNear(got, want.MeanJCT, within) {
				t.Errorf("%d jobs, budget %g: got %g s, want %g", p.Workload.Jobs, want.Budget, got, want.MeanJCT)
			}
		}
		if compared < 6 {
			t.Errorf("%d jobs: compared %d budgets, want at least 6", p.Workload.Jobs, compared)
		}
	}
	check(aws(t, gpus(t, "t4:4")), &golden.AWS, 1e-9)
	check(simulated(t, gpus(t, "t4:4")), &golden.Sim, 1e-5)
}

// filterTrace from the truth of the profiles is 4 to 33 % faster than with the goodputs
// of the simulator, which chooses batch sizes by a fitted model. What the page says of
// both is what comes out.
func TestPlan_of_the_profiles(t *testing.T) {
	c, err := profiles.ReadProfiles(os.DirFS(testdata.Path(t, "sia/profiles")), nil)
	if err != nil {
		t.Fatal(err)
	}
	c = profiles.AsPublished(c)
	w, err := NewWorkload(threeModels(t, "sia/traces/newtrace/workload-1.csv", c), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	truth, fitted := planner(t, w, gpus(t, "t4:4")), simulated(t, gpus(t, "t4:4"))
	said := map[string][]string{}
	for _, row := range tableRows(t, "docs/experiments/boa.md") {
		said[row[0]] = row[1:]
	}
	for i, budget := range []float64{68, 75, 90, 112, 140, 180, 240} {
		a, b := plan(t, truth, budget).MeanJCT, plan(t, fitted, budget).MeanJCT
		if a > 0.965*b || a < 0.665*b {
			t.Errorf("budget %g: got %g s, want 4 to 33 %% less than %g", budget, a, b)
		}
		for name, got := range map[string]float64{"truth of the profiles": a, "published goodputs, from the trace": b, "budget": budget} {
			if on := said[name]; i >= len(on) || strings.TrimSuffix(on[i], ".0") != strings.TrimSuffix(strconv.FormatFloat(got, 'f', 1, 64), ".0") {
				t.Errorf("budget %g, %s: got %.1f, and the page has %q", budget, name, got, on)
			}
		}
	}
}

func tableRows(t *testing.T, page string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		if inside, ok := strings.CutPrefix(strings.TrimRight(line, " |\n"), "| "); ok {
			rows = append(rows, strings.Split(inside, " | "))
		}
	}
	return rows
}

// What a plan says of classes and GPUs adds up to what it says of all.
func TestPlan_adds_up(t *testing.T) {
	p := aws(t, gpus(t, "t4:4"))
	for _, budget := range []float64{23, 25, 30, 40, 70, 101} {
		plan := plan(t, p, budget)
		rate, jct, used, ofClasses := 0.0, 0.0, 0.0, 0.0
		for _, c := range plan.Classes {
			rate += c.Jobs
			jct += c.Jobs * c.MeanJCT
			ofClasses += c.GPUs
			share := 0.0
			for _, table := range c.Tables {
				share += table.Share
				for k, r := range table.Runs {
					if r.GPUs < 1 || r.Last < r.First || k > 0 && r.First != table.Runs[k-1].Last+1 {
						t.Errorf("budget %g, class %s: run %d is %+v", budget, c.Name, k, r)
					}
				}
			}
			if !isNear(share, 1, 1e-12) {
				t.Errorf("budget %g, class %s: shares add up to %g", budget, c.Name, share)
			}
		}
		for _, u := range plan.Use {
			used += u.GPUs
		}
		if !isNear(jct/rate, plan.MeanJCT, 1e-9) || !isNear(used, plan.Spend, 1e-9) || !isNear(ofClasses, plan.Spend, 1e-9) {
			t.Errorf("budget %g: classes take %g s and %g GPUs, offers %g GPUs; want %g and %g", budget, jct/rate, ofClasses, used, plan.MeanJCT, plan.Spend)
		}
	}
}

// P10: with one price, budgets are that many times as large, and nothing else is another.
func TestPlan_price_scales_budgets(t *testing.T) {
	const price = 0.75
	priced := gpus(t, "t4:4")
	priced.Currency, priced.Offers[0].Price = "$", price
	free, paid := aws(t, gpus(t, "t4:4")), aws(t, priced)
	for _, budget := range []float64{25, 30, 55} {
		a, b := plan(t, free, budget), plan(t, paid, price*budget)
		if !isNear(b.MeanJCT, a.MeanJCT, 1e-9) || !isNear(b.Spend, price*a.Spend, 1e-9) || !isNear(b.Multiplier, a.Multiplier/price, 1e-9) || !isNear(b.Use[0].GPUs, a.Use[0].GPUs, 1e-9) {
			t.Errorf("budget %g: got %g s for %g, want %g for %g", budget, b.MeanJCT, b.Spend, a.MeanJCT, price*a.Spend)
		}
	}
}

// Two GPU types: some jobs on 4 T4s at 0.5, the others on 2 A100s at 4, as in the hand-made
// instance of golden_boa.json, "two types with prices". Source: BOA App. E, Eq. 7.
func TestPlan_two_types(t *testing.T) {
	speeds := map[cluster.GPUType]map[int]float64{"t4": {1: 1, 2: 1.8, 4: 3}, "a100": {1: 4.5, 2: 8, 4: 13}}
	w := &Workload{Jobs: 1, Span: time.Second, Classes: []*perf.ClassStats{{
		Class: "a", Rate: 2, Sizes: []float64{1}, Speeds: perf.EpochSpeed(func(_ int, c cluster.Configuration) float64 { return speeds[c.GPUType][c.GPUs] }),
	}}}
	p := planner(t, w, &PriceList{Name: "two", Currency: "$", Offers: []Offer{
		{Name: "cheap", Type: "t4", GPUs: 4, Price: 0.5, Most: 10}, {Name: "dear", Type: "a100", GPUs: 8, Price: 4, Most: 10},
	}})
	got := plan(t, p, 1.8)
	tables := got.Classes[0].Tables
	if !isNear(2*got.MeanJCT, 0.375, 1e-12) || !isNear(got.Least, 1, 1e-12) || len(tables) != 2 || !isNear(tables[1].Share, 0.7, 1e-12) {
		t.Fatalf("got %g s, feasible from %g, with %+v; want 0.1875, 1, and a share of 0.7", got.MeanJCT, got.Least, tables)
	}
	if a, b := tables[0].Runs[0], tables[1].Runs[0]; a.GPUs != 4 || a.Offer != "cheap" || b.GPUs != 2 || b.GPUType != "a100" {
		t.Errorf("got %+v and %+v, want 4 cheap and 2 dear GPUs", a, b)
	}
	if used := 0.5*got.Use[0].GPUs + 4*got.Use[1].GPUs; !isNear(used, 1.8, 1e-12) {
		t.Errorf("%+v cost %g an hour, want 1.8", got.Use, used)
	}
}

func TestPlan_too_small(t *testing.T) {
	_, err := aws(t, gpus(t, "t4:4")).Plan(21)
	if !errors.Is(err, ErrTooSmall) || !strings.Contains(err.Error(), "the smallest feasible budget is 22.27 GPUs") {
		t.Errorf("got %v, want one that names 22.27 GPUs (golden)", err)
	}
}

// Spot nodes of the price of others are never better, and their jobs take longer.
func TestPlan_interruptions_cost(t *testing.T) {
	l := gpus(t, "t4:4")
	l.Offers[0].Interruptions = 0.5
	calm, spot := plan(t, aws(t, gpus(t, "t4:4")), 40), plan(t, aws(t, l), 40)
	if spot.MeanJCT <= calm.MeanJCT || spot.Least <= calm.Least {
		t.Errorf("spot takes %g s, feasible from %g; want more than %g and %g", spot.MeanJCT, spot.Least, calm.MeanJCT, calm.Least)
	}
}

// The frontier has what plans have, between points too.
func TestFrontier_is_of_plans(t *testing.T) {
	p := simulated(t, gpus(t, "t4:4"))
	f, err := p.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Points) != 114 { // docs/experiments/boa.md
		t.Errorf("%d points, want 114", len(f.Points))
	}
	for i, b := range f.Points[:len(f.Points)-1] {
		next := f.Points[i+1]
		got := plan(t, p, (b.Budget+next.Budget)/2).MeanJCT
		if want := (b.MeanJCT + next.MeanJCT) / 2; !isNear(got, want, 1e-9) {
			t.Errorf("between %g and %g: a plan takes %g s, want %g", b.Budget, next.Budget, got, want)
		}
	}
	k := f.Points[f.Knee]
	before := f.Points[f.Knee-1]
	if k.Multiplier*k.Budget >= k.MeanJCT || before.Multiplier*before.Budget < before.MeanJCT {
		t.Errorf("the knee is at %+v, after %+v", k, before)
	}
	if n := len(f.Shown); n < 30 || n > 60 || !slices.ContainsFunc(f.Shown, func(s shown) bool { return s.Knee }) {
		t.Errorf("%d points in a chart, want 30 to 60, the knee among them", n)
	}
	if rows := f.rows(); len(rows) < 10 || len(rows) > 16 || rows[0].Budget != f.least().Budget || rows[len(rows)-1].Budget != f.most().Budget {
		t.Errorf("%d rows in a table, want 10 to 16 from the least to the most", len(rows))
	}
}

func TestNewWorkload_groups_what_is_alike(t *testing.T) {
	c := profiles.Default()
	job := func(app string, at, gpus int, a job.Adaptivity, change func(*workload.Arrival)) workload.Arrival {
		arrival := workload.Arrival{At: time.Duration(at) * time.Second, Application: app, Spec: job.Spec{ID: job.ID(fmt.Sprint(at)), GPUs: gpus, Adaptivity: a}}
		if change != nil {
			change(&arrival)
		}
		if err := c.Complete(&arrival); err != nil {
			t.Fatal(err)
		}
		return arrival
	}
	lasting := func(d time.Duration) func(*workload.Arrival) {
		return func(a *workload.Arrival) { a.Duration = d }
	}
	w, err := NewWorkload([]workload.Arrival{
		job("cifar10", 0, 1, jobAdaptive, nil),
		job("cifar10", 10, 4, jobAdaptive, nil),
		job("cifar10", 20, 4, jobRigid, nil),
		job("", 30, 2, jobRigid, lasting(100*time.Second)),
		job("", 100, 2, jobRigid, lasting(300*time.Second)),
	}, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, s := range w.Classes {
		got[string(s.Class)] = s.Rate
	}
	for name, want := range map[string]float64{"cifar10": 0.02, "cifar10, 4 GPUs, batch size 128": 0.01, "jobs known by duration, 2 GPUs": 0.02} {
		if got[name] != want {
			t.Errorf("class %q comes %g times a second, want %g; got %v", name, got[name], want, got)
		}
	}
	last := w.Classes[len(w.Classes)-1]
	if at := (cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "any"}); last.Sizes[0]/last.Speed(0, at) != 200 || last.Guessed == "" {
		t.Errorf("jobs of 100 and 300 s take %g s, guessed %q", last.Sizes[0]/last.Speed(0, at), last.Guessed)
	}
}

const jobAdaptive, jobRigid = job.Adaptive, job.Rigid

// Jobs with schedules of batch sizes of their own take, as a class, their mean time.
func TestNewWorkload_of_schedules(t *testing.T) {
	c, name := profiles.Default(), "ResNet-18 (batch size 128)"
	alone, at := 0.0, cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}
	var jobs []workload.Arrival
	for i, mode := range []job.ScheduleMode{job.Static, job.Accordion, job.GNS} {
		a := workload.Arrival{At: time.Duration(i) * time.Hour, Application: name, Spec: job.Spec{GPUs: 1, Adaptivity: job.Rigid, Target: float64(i+1) * 5e6}}
		a.Spec.Schedule.Mode = mode
		if err := c.Complete(&a); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, a)
		alone += c[name].Alone(&a.Spec, cluster.Allocation{Configuration: at}) / 3
	}
	w, err := NewWorkload(jobs, c, nil)
	if err != nil || len(w.Classes) != 1 {
		t.Fatalf("got %d classes, %v; want 1", len(w.Classes), err)
	}
	if got := w.Classes[0].Sizes[0] / w.Classes[0].Speed(0, at); !isNear(got, alone, 1e-12) || !(alone > 0) {
		t.Errorf("they take %g s, want %g", got, alone)
	}
	at.GPUs = 2
	if got := w.Classes[0].Speed(0, at); got != 0 {
		t.Errorf("on 2 GPUs their speed is %g, want 0: they have 1", got)
	}
}

func TestNewWorkload_needs_time(t *testing.T) {
	if _, err := NewWorkload([]workload.Arrival{{Application: "cifar10"}}, profiles.Default(), nil); err == nil || !strings.Contains(err.Error(), "arrive at once") {
		t.Errorf("got %v, want an error: no rate follows from one moment", err)
	}
}

func TestNewPlanner_names_types_that_nothing_runs_on(t *testing.T) {
	c := profiles.Default()
	a := workload.Arrival{At: time.Hour, Application: "cifar10", Spec: job.Spec{ID: "a", Adaptivity: job.Adaptive}}
	if err := c.Complete(&a); err != nil {
		t.Fatal(err)
	}
	w, err := NewWorkload([]workload.Arrival{a}, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlanner(w, gpus(t, "t4:4,tpu:8"), 64); err == nil || !strings.Contains(err.Error(), `offer tpu: no class of the workload has a speed on GPU type "tpu"`) {
		t.Errorf("got %v, want one that names the offer and the type", err)
	}
}

func TestReadGoodputs_errors(t *testing.T) {
	const head, sizes = "application,epoch,gpus,goodput\n", "application,size\na,10\n"
	for _, tt := range []struct{ goodputs, sizes, want string }{
		{"", sizes, "g: no header"},
		{"application,epoch,gpus\na,0,1\n", sizes, "g:2: no column goodput"},
		{head + "a,0,1,fast\n", sizes, `g:2: goodput "fast", want a number from 0 to 1e+15`},
		{head + "a,0,1,-1\n", sizes, `g:2: goodput "-1"`},
		{head + "a,0,1,NaN\n", sizes, `g:2: goodput "NaN"`},
		{head + "a,0.5,1,1\n", sizes, "g:2: epoch 0.5, want a whole number"},
		{head + "a,0,0,1\n", sizes, `g:2: gpus "0", want a number from 1 to 1e+06`},
		{head + "a,0,1,1\na,0,1,2\n", sizes, "g:3: a, epoch 0, 1 GPUs: listed twice"},
		{head + "a,0,1.5,1\n", sizes, "g:2: gpus 1.5, want a whole number"},
		{head + "a,1000000,1,1\n", sizes, `g:2: epoch "1000000", want`},
		{head + "a,0,1,1e300\n", sizes, `g:2: goodput "1e300", want`},
		{head + "a,0,1,1\n", "application,size\na,1\na,2\n", "s:3: a: listed twice"},
		{head + "a,0,1,1\n", "application,epoch,size\na,0,1\na,0,2\n", "s:3: a, epoch 0: listed twice"},
		{head + "a,0,1,1\n", "application,epoch,size,restart_s\na,0,1,5\na,1,2,6\n", "s:3: a: restarts take 6s, but 5s in an earlier row"},
		{head + "a,0,1,1\n", "application,size,restart_s\na,1,1e300\n", `s:2: restart_s "1e300", want`},
		{head + ",0,1,1\n", sizes, "g:2: application is empty"},
		{head + "a,0,1\n", sizes, "g: record on line 2: wrong number of fields"},
		{head + "a,0,1,1\n", "application,size\na,0\n", `s:2: size "0"`},
	} {
		if _, err := ReadGoodputs(strings.NewReader(tt.goodputs), strings.NewReader(tt.sizes), "g", "s"); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q, %q:\n got %v\nwant %s", tt.goodputs, tt.sizes, err, tt.want)
		}
	}
}

// FuzzReadGoodputs: what is read has finite speeds, of at least 0.
func FuzzReadGoodputs(f *testing.F) {
	f.Add("application,epoch,gpus,goodput\na,0,1,1\n", "application,size\na,10\n")
	f.Add("application,epoch,gpus,goodput,gpu_type\na,0,1,1,t4\n", "application,epoch,size,restart_s\na,0,10,1\n")
	f.Fuzz(func(t *testing.T, goodputs, sizes string) {
		g, err := ReadGoodputs(strings.NewReader(goodputs), strings.NewReader(sizes), "g", "s")
		if err != nil {
			return
		}
		for k, v := range g.speed {
			if !(v >= 0) || math.IsInf(v, 1) || k.gpus < 1 || k.epoch < 0 || k.class == "" {
				t.Errorf("%+v: %g", k, v)
			}
		}
	})
}

// What was measured of too little is named; no class gets a width of 0.
func TestMeasured_names_what_is_missing(t *testing.T) {
	const head = "application,epoch,gpus,goodput\n"
	for _, tt := range []struct{ goodputs, sizes, want string }{
		{head + "b,0,1,1\n", "application,size\na,10\n", `g: no measurement of class "a"`},
		{head + "a,0,1,1\n", "application,size\nb,10\n", "g: class a, epoch 0: its size is missing"},
		{head + "a,0,1,1\na,2,1,1\n", "application,size\na,10\n", "class a: epoch 1: runs on no node that can be rented"},
		{head + "a,0,1,1\na,1,1,0\n", "application,size\na,10\n", "class a: epoch 1: runs on no node that can be rented"},
		{head + "a,0,128,1\n", "application,size\na,10\n", `no class of the workload has a speed on GPU type "t4"`},
	} {
		g, err := ReadGoodputs(strings.NewReader(tt.goodputs), strings.NewReader(tt.sizes), "g", "s")
		if err != nil {
			t.Fatal(err)
		}
		w := &Workload{Classes: []*perf.ClassStats{{Class: "a", Rate: 1}}}
		if err = w.Measured(g); err == nil {
			_, err = NewPlanner(w, gpus(t, "t4:4"), 64)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q:\n got %v\nwant %s", tt.goodputs, err, tt.want)
		}
	}
}

// What only later epochs were measured on is of use too.
func TestNewPlanner_of_a_type_for_later_epochs(t *testing.T) {
	g, err := ReadGoodputs(strings.NewReader("application,epoch,gpus,goodput,gpu_type\na,0,1,1,t4\na,1,1,1,t4\na,1,1,5,a100\n"), strings.NewReader("application,size\na,10\n"), "g", "s")
	if err != nil {
		t.Fatal(err)
	}
	w := &Workload{Classes: []*perf.ClassStats{{Class: "a", Rate: 1}}}
	if err := w.Measured(g); err != nil {
		t.Fatal(err)
	}
	runs := plan(t, planner(t, w, gpus(t, "t4:4,a100:8")), 100).Classes[0].Tables[0].Runs
	if len(runs) != 2 || runs[0].GPUType != "t4" || runs[1].GPUType != "a100" {
		t.Errorf("got %+v, want epoch 0 on t4 and epoch 1 on a100", runs)
	}
}

// Tables may be as spreadsheets write them: with a byte order mark, and blanks.
func TestReadGoodputs_of_spreadsheets(t *testing.T) {
	g, err := ReadGoodputs(strings.NewReader("\ufeffapplication, epoch, gpus, goodput\r\na , 0, 1, 2.5\r\n"), strings.NewReader("\ufeffapplication, size\r\na, 10\r\n"), "g", "s")
	if err != nil || g.speed[goodputKey{class: "a", gpus: 1}] != 2.5 || g.epochSize["a"] != 10 {
		t.Errorf("got %+v, %v; want 2.5 on 1 GPU, of size 10", g, err)
	}
}

// Goodputs may differ by GPU type.
func TestMeasured_by_type(t *testing.T) {
	g, err := ReadGoodputs(strings.NewReader("application,epoch,gpus,goodput,gpu_type\na,0,1,1,t4\na,0,1,5,a100\n"), strings.NewReader("application,epoch,size,restart_s\na,0,10,7\n"), "g", "s")
	if err != nil {
		t.Fatal(err)
	}
	w := &Workload{Classes: []*perf.ClassStats{{Class: "a", Rate: 1}}}
	if err := w.Measured(g); err != nil {
		t.Fatal(err)
	}
	c := w.Classes[0]
	at := func(typ cluster.GPUType) float64 {
		return c.Speed(0, cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: typ})
	}
	if at("t4") != 1 || at("a100") != 5 || at("rtx") != 0 || c.Restart != 7*time.Second || c.Sizes[0] != 10 {
		t.Errorf("got %g, %g, %g, restart %v, size %g", at("t4"), at("a100"), at("rtx"), c.Restart, c.Sizes[0])
	}
}

// Every format has all that it is to have, and CSV a row for each run or point.
func TestWrite(t *testing.T) {
	p := aws(t, gpus(t, "t4:4"))
	f, err := p.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats {
		var a, b bytes.Buffer
		if err := errors.Join(plan(t, p, 30).Write(&a, format), WriteFrontiers(&b, []*Frontier{f}, format)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(a.String(), "deepspeech2") || !strings.Contains(b.String(), "GPUs") {
			t.Errorf("%s: got %s%s", format, &a, &b)
		}
		if n := strings.Count(b.String(), "\n"); format == "csv" && (n != len(f.Points)+1 || strings.Count(a.String(), "\n") != 7) {
			t.Errorf("CSV has %d lines of %d points, and:\n%s", n, len(f.Points), &a)
		}
	}
}

// More to spend makes jobs no slower, by as much as two plans differ.
func TestPlan_one_more(t *testing.T) {
	p := aws(t, gpus(t, "t4:4"))
	for _, budget := range []float64{25, 30, 40} {
		now, more := plan(t, p, budget), plan(t, p, budget+1)
		if gain := now.MeanJCT - more.MeanJCT; !(gain > 0) || math.Abs(now.OneMore-gain) > 1e-6*gain {
			t.Errorf("budget %g: one more unit makes jobs %g s faster, want %g, more than 0", budget, now.OneMore, gain)
		}
	}
}
