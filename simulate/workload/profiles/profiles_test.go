package profiles

import (
	"maps"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// smallProfile is one application on one GPU type, with its rows out of order.
var smallProfile = map[string]string{
	"toy/placements-aws.csv":   "placement,local_bsz,step_time,sync_time\n1,8,0.2,0\n1,4,0.1,0\n12,4,0.4,0.2\n12,8,0.6,0.2\n2,4,0.15,0.05\n2,8,0.3,0.1\n",
	"toy/scalability-aws.csv":  "num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,8,4,0.8,0.6\n4,8,4,1,0.8\n",
	"toy/validation-16.csv":    "progress,iteration,metric,grad_sqr,grad_var\n10,5,0.1,2,4\n19,10,0.2,1,8\n",
	"toy/validation-8.csv":     "progress,iteration,metric,grad_sqr,grad_var\n9,9,0.1,2,2\n20,20,0.2,1,4\n",
	"toy/README.md":            "not a profile",
	"toy/placements-dgx.csv":   "skipped",
	"notes/plan.txt":           "not an application",
	"offtable_wholenode.csv":   "application,gpu_type,num_nodes,num_replicas,local_bsz,step_time,sync_time\ntoy,aws,5,20,4,2,1\n",
	"derived/ignored-here.csv": "",
}

func mapFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestReadProfiles(t *testing.T) {
	c, err := ReadProfiles(mapFS(smallProfile), nil)
	if err != nil {
		t.Fatal(err)
	}
	app := c["toy"]
	if app == nil || len(c) != 1 {
		t.Fatalf("got applications %v, want toy", c.Names())
	}
	wantLimits := job.BatchLimits{Init: 8, Max: 16, LocalMin: 4, LocalMax: map[cluster.GPUType]int{"t4": 8}}
	if d := cmp.Diff(wantLimits, app.Batch); d != "" {
		t.Errorf("batch limits (-want +got):\n%s", d)
	}
	wantCurve := &workload.Curve{
		Ends:    []float64{9 * 8, 19 * 8}, // the least of both runs, in samples
		Batches: []float64{8, 16},
		Sqr:     [][]float64{{2, 1}, {2, 1}},
		Var:     [][]float64{{2, 4}, {4, 8}},
	}
	if d := cmp.Diff(wantCurve, app.Curve); d != "" {
		t.Errorf("curve (-want +got):\n%s", d)
	}
	if app.RestartDelay != workload.DefaultRestartDelay || app.Slowdown != 1 || app.MicroBatches != 0 {
		t.Errorf("got %v, %g, %d, want the constants of an unknown application", app.RestartDelay, app.Slowdown, app.MicroBatches)
	}
	for _, c := range []struct {
		name       string
		shape      []int
		local      int
		step, sync float64
		ok         bool
	}{
		{"measured", []int{1}, 4, 0.1, 0, true},
		{"between batch sizes", []int{1, 0}, 6, 0.15, 0, true},
		{"rotated", []int{2, 1}, 4, 0.4, 0.2, true},
		{"off the table", []int{4, 4, 4, 4, 4}, 4, 2, 1, true},
		{"mean of a scalability file", []int{2, 2, 2, 2}, 4, 0.9, 0.7, true},
		{"batch too small", []int{1}, 3, 0, 0, false},
		{"batch too large", []int{1}, 9, 0, 0, false},
		{"no GPUs", nil, 4, 0, 0, false},
	} {
		step, sync, ok := app.Speed.Step("t4", c.shape, c.local)
		if math.Abs(step-c.step) > 1e-12 || math.Abs(sync-c.sync) > 1e-12 || ok != c.ok {
			t.Errorf("%s: got %g, %g, %v, want %g, %g, %v", c.name, step, sync, ok, c.step, c.sync, c.ok)
		}
	}
	if _, _, ok := app.Speed.Step("a100", []int{1}, 4); ok {
		t.Error("runs on a GPU type that was not profiled")
	}
}

func TestReadProfilesOffTableReader(t *testing.T) {
	rows := "application,gpu_type,num_nodes,num_replicas,local_bsz,step_time,sync_time\ntoy,aws,5,20,4,3,1\nother,aws,5,20,4,9,9\n"
	c, err := ReadProfiles(mapFS(smallProfile), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	if step, _, _ := c["toy"].Speed.Step("t4", []int{4, 4, 4, 4, 4}, 4); step != 3 {
		t.Errorf("got step time %g, want 3 of the reader", step)
	}
}

// TestReadProfilesErrors: every complaint names where, what was found and what
// is wanted.
func TestReadProfilesErrors(t *testing.T) {
	const place, scale, run = "toy/placements-aws.csv", "toy/scalability-aws.csv", "toy/validation-8.csv"
	for _, c := range []struct{ name, file, text, want string }{
		{"NaN", place, "placement,local_bsz,step_time,sync_time\n1,4,NaN,0\n", `toy/placements-aws.csv:2: column step_time: got "NaN", want a finite number above 0`},
		{"negative", place, "placement,local_bsz,step_time,sync_time\n1,4,0.1,-1\n", `toy/placements-aws.csv:2: column sync_time: got "-1", want a finite number of at least 0`},
		{"longer than the step", place, "placement,local_bsz,step_time,sync_time\n1,4,0.1,0.2\n", `column sync_time: got "0.2", want at most step_time, 0.1`},
		{"batch size", place, "placement,local_bsz,step_time,sync_time\n1,4.5,0.1,0\n", `toy/placements-aws.csv:2: column local_bsz: got "4.5", want a whole number in 1..`},
		{"placement", place, "placement,local_bsz,step_time,sync_time\n10,4,0.1,0\n", `column placement: got "10", want 1 to 16 digits 1-9`},
		{"repeated", place, "placement,local_bsz,step_time,sync_time\n1,4,0.1,0\n1,4,0.2,0\n", `toy/placements-aws.csv:3: placement 1, local_bsz 4: measured before with other times, want one row`},
		{"rotated", place, "placement,local_bsz,step_time,sync_time\n12,4,0.1,0\n21,4,0.1,0\n", `toy/placements-aws.csv:3: placement 21: a rotation of it was measured before`},
		{"hole", place, "placement,local_bsz,step_time,sync_time\n1,4,0.1,0\n1,6,0.1,0\n1,8,0.1,0\n2,4,0.1,0\n2,8,0.1,0\n", `toy/placements-aws.csv: placement 2 (from line 5): no row of local_bsz 6 between others`},
		{"least missing", place, "placement,local_bsz,step_time,sync_time\n1,4,0.1,0\n1,6,0.1,0\n2,6,0.1,0\n", `placement 2 (from line 4): no row of local_bsz 4`},
		{"column", place, "placement,local_bsz,step_time\n1,4,0.1\n", `toy/placements-aws.csv:1: column sync_time is missing, want placement,local_bsz,step_time,sync_time`},
		{"no rows", place, "placement,local_bsz,step_time,sync_time\n", `toy/placements-aws.csv: no rows below the header`},
		{"empty", place, "", `toy/placements-aws.csv: header: EOF`},
		{"fields", place, "placement,local_bsz,step_time,sync_time\n1,4\n", `toy/placements-aws.csv: record on line 2: wrong number of fields`},
		{"no placements", place, "-", `toy: no placements-*.csv`},
		{"no scalability", scale, "-", `toy: no scalability-aws.csv, want one beside placements-aws.csv`},
		{"fewer GPUs than nodes", scale, "num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,3,4,1,0\n", `column num_replicas: got "3", want at least num_nodes, 4`},
		{"progress", run, "progress,grad_sqr,grad_var\n9,1,1\n8,1,1\n", `toy/validation-8.csv:3: column progress: got "8", want more than in the row before, 9`},
		{"gradient", run, "progress,grad_sqr,grad_var\n9,0,0\n10,1,1\n", `column grad_var: got "0", want more than 0 where grad_sqr is 0`},
		{"epochs", run, "progress,grad_sqr,grad_var\n9,1,1\n", `toy/validation-16.csv: 2 epochs, want 1 as in toy/validation-8.csv`},
		{"run name", "toy/validation-many.csv", "progress,grad_sqr,grad_var\n9,1,1\n", `toy/validation-many.csv: batch size "many", want a whole number`},
		{"off-table share", "offtable_wholenode.csv", "application,gpu_type,num_nodes,num_replicas,local_bsz,step_time,sync_time\ntoy,aws,5,21,4,2,1\n", `offtable_wholenode.csv:2: column num_replicas: got "21", want an equal share`},
		{"off-table repeated", "offtable_wholenode.csv", "application,gpu_type,num_nodes,num_replicas,local_bsz,step_time,sync_time\ntoy,aws,5,20,4,2,1\ntoy,aws,5,20,4,3,1\n", `local_bsz 4: two rows with different times, want one`},
		{"GPU types differ", "toy/placements-rtx.csv", "placement,local_bsz,step_time,sync_time\n1,5,0.1,0\n", `toy: no scalability-rtx.csv`},
	} {
		files := maps.Clone(smallProfile)
		files[c.file] = c.text
		if c.text == "-" {
			delete(files, c.file)
		}
		_, err := ReadProfiles(mapFS(files), nil)
		if err == nil || !strings.HasPrefix(err.Error(), "profiles: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", c.name, err, c.want)
		}
	}
}

func TestReadProfilesGPUTypesDiffer(t *testing.T) {
	files := maps.Clone(smallProfile)
	files["toy/placements-rtx.csv"] = "placement,local_bsz,step_time,sync_time\n1,5,0.1,0\n"
	files["toy/scalability-rtx.csv"] = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n1,1,5,0.1,0\n"
	const want = "profiles: toy: GPU type t4: least local_bsz is 4, want 5 as on rtx"
	if _, err := ReadProfiles(mapFS(files), nil); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestReadProfilesNothing(t *testing.T) {
	if _, err := ReadProfiles(fstest.MapFS{}, nil); err == nil {
		t.Error("an empty folder is accepted")
	}
}

// TestSharedLimits: section 1.3 of the notes on the public simulator.
func TestSharedLimits(t *testing.T) {
	c := measured(t)
	for _, w := range []struct {
		name               string
		init, most, epochs int
		iterations         float64 // at the initial batch size
		low, t4, rtx, a100 int
		delay, stated      float64 // seconds
		slowdown           float64
	}{
		{"cifar10", 128, 4096, 100, 39063, 32, 1024, 1024, 4096, 50, 30, 1.8},
		{"bert", 12, 384, 2, 14774, 4, 12, 12, 48, 120, 120, 1.2},
		{"deepspeech2", 20, 640, 80, 28536, 10, 80, 57, 320, 25, 25, 1.2},
		{"yolov3", 8, 512, 50, 103444, 4, 16, 8, 32, 80, 45, 1.2},
		{"imagenet", 200, 12800, 90, 576526, 20, 200, 200, 800, 250, 250, 1.2},
		{"ncf", 256, 32768, 10, 194174, 32, 32768, 32768, 32768, 15, 30, 1.5},
	} {
		a, published := c[w.name], AsPublished(c)[w.name]
		b := a.Batch
		got := []int{b.Init, b.Max, len(a.Curve.Ends), b.LocalMin, b.LocalMax["t4"], b.LocalMax["rtx"], b.LocalMax["a100"]}
		if d := cmp.Diff([]int{w.init, w.most, w.epochs, w.low, w.t4, w.rtx, w.a100}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", w.name, d)
		}
		if iterations := a.Curve.Target() / float64(b.Init); math.Abs(iterations-w.iterations) > 0.5 {
			t.Errorf("%s: target of %g iterations, want %g", w.name, iterations, w.iterations)
		}
		if a.RestartDelay.Seconds() != w.delay || a.StatedDelay != a.RestartDelay || a.Slowdown != 1 {
			t.Errorf("%s: got %v, %v, %g", w.name, a.RestartDelay, a.StatedDelay, a.Slowdown)
		}
		if published.StatedDelay.Seconds() != w.stated || published.Slowdown != w.slowdown {
			t.Errorf("%s as published: got %v, %g", w.name, published.StatedDelay, published.Slowdown)
		}
	}
}

// TestSharedPipeline: Sia §3.5.3, and one pass written out.
func TestSharedPipeline(t *testing.T) {
	a := measured(t)["gpt_pmp"]
	if a.MicroBatches != 48 || a.Batch.Init != 48 || a.Batch.Max != 384 {
		t.Errorf("got %d micro-batches, batch %d to %d, want 48, 48 to 384", a.MicroBatches, a.Batch.Init, a.Batch.Max)
	}
	if d := cmp.Diff(map[cluster.GPUType]int{"rtx": 8, "a100": 2}, a.GPUsPerReplica); d != "" {
		t.Errorf("GPUs per replica (-want +got):\n%s", d)
	}
	for _, c := range []struct {
		gpu        cluster.GPUType
		shape      []int
		step, sync float64
	}{
		{"rtx", []int{8}, (48+8-1)*3*0.099 + 0.3275, 0.3275},
		{"rtx", []int{8, 8}, (48+8-1)*3*0.099 + 0.435, 0.435},
		{"a100", []int{2}, (48+2-1)*3*0.144 + 0.01617, 0.01617},
		{"a100", []int{8, 8}, (48+2-1)*3*0.144 + 0.28003, 0.28003},
	} {
		step, sync, ok := a.Speed.Step(c.gpu, c.shape, 48)
		if !ok || math.Abs(step-c.step) > 1e-9 || math.Abs(sync-c.sync) > 1e-9 {
			t.Errorf("%s %v: got %g, %g, %v, want %g, %g", c.gpu, c.shape, step, sync, ok, c.step, c.sync)
		}
	}
	for _, shape := range [][]int{{4}, {4, 4}, {8, 4}} {
		if _, most := a.Speed.LocalRange("rtx", shape); most != 0 {
			t.Errorf("runs on rtx %v, where no pipeline of 8 GPUs fits a node", shape)
		}
	}
	// Referred to batches of 48 instead of 12, progress takes as long: at the
	// rate of batches of 12 it is bert's.
	bert := measured(t)["bert"].Curve
	for e := range bert.Ends {
		phi := 48 * a.Curve.Var[2][e] / a.Curve.Sqr[2][e] // at batch size 48
		if want := 12 * bert.Var[2][e] / bert.Sqr[2][e]; math.Abs(phi-want) > 1e-9*want {
			t.Errorf("epoch %d: noise scale %g, want bert's %g", e, phi, want)
		}
		before, beforeBert := 0.0, 0.0
		if e > 0 {
			before, beforeBert = a.Curve.Ends[e-1], bert.Ends[e-1]
		}
		want := (bert.Ends[e] - beforeBert) * (phi + 48) / (phi + 12)
		if got := a.Curve.Ends[e] - before; math.Abs(got-want) > 1e-9*want {
			t.Errorf("epoch %d: %g samples, want %g", e, got, want)
		}
	}
}

func FuzzReadProfiles(f *testing.F) {
	f.Add(smallProfile["toy/placements-aws.csv"], smallProfile["toy/scalability-aws.csv"], smallProfile["toy/validation-8.csv"], smallProfile["offtable_wholenode.csv"])
	f.Add("placement,local_bsz,step_time,sync_time\n9999999999999999,1,1e308,1e308\n", "num_nodes,num_replicas,local_bsz,step_time,sync_time\n1073741824,1073741824,1,1,1\n", "progress,grad_sqr,grad_var\n1e308,1e-320,1e308\n", "")
	f.Fuzz(func(t *testing.T, places, scales, run, off string) {
		for _, name := range []string{"toy", "gpt_pmp"} {
			files := map[string]string{name + "/placements-rtx.csv": places, name + "/scalability-rtx.csv": scales, name + "/validation-8.csv": run, "offtable_wholenode.csv": off}
			if off == "" {
				delete(files, "offtable_wholenode.csv")
			}
			c, err := ReadProfiles(mapFS(files), nil)
			if err != nil {
				continue
			}
			for _, shape := range [][]int{{8}, {8, 8, 8}, {1, 2}, {99}} {
				least, most := c[name].Speed.LocalRange("rtx", shape)
				for _, local := range []int{least, (least + most) / 2, most} {
					step, sync, ok := c[name].Speed.Step("rtx", shape, local)
					if most > 0 && (!ok || !(step >= 0) || !(sync >= 0)) {
						t.Fatalf("%s %v, local %d of %d..%d: got %g, %g, %v", name, shape, local, least, most, step, sync, ok)
					}
				}
			}
		}
	})
}
