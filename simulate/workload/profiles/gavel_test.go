package profiles

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

const stepsHead = "file,worker_type,job_type,batch_size,scale_factor,steps_per_s\n"

// stepsText is a small file of two tables.
const stepsText = stepsHead + `one,v100,LM (batch size 5),5,1,100
one,v100,LM (batch size 10),10,1,80
one,v100,LM (batch size 10),10,2,120
one,v100,LM (batch size 20),20,2,90
one,v100_unconsolidated,LM (batch size 10),10,2,60
one,k80,LM (batch size 5),5,1,0
one,v100,A3C,,1,7
one,v100,CycleGAN,,1,0.0
two,v100,LM (batch size 5),5,1,50
`

func readSteps(t *testing.T, table string) workload.Catalog {
	t.Helper()
	c, err := ReadSteps(strings.NewReader(stepsText), "s.csv", table)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadSteps(t *testing.T) {
	c := readSteps(t, "one")
	if diff := cmp.Diff([]string{"A3C", "LM (batch size 10)", "LM (batch size 20)", "LM (batch size 5)"}, c.Names()); diff != "" {
		t.Errorf("applications (-want +got):\n%s", diff)
	}
	for _, tc := range []struct {
		name, app   string
		gpuType     cluster.GPUType
		nodes, gpus int
		local       int
		want        float64 // samples per second
	}{
		{"one GPU", "LM (batch size 5)", "v100", 1, 1, 5, 500},
		{"another batch size of the model", "LM (batch size 5)", "v100", 1, 1, 10, 800},
		{"steps are of all GPUs", "LM (batch size 10)", "v100", 1, 2, 10, 1200},
		{"GPUs of two nodes", "LM (batch size 10)", "v100", 2, 2, 10, 600},
		{"GPUs of two nodes, with a batch not measured so", "LM (batch size 10)", "v100", 2, 2, 20, 0},
		{"a batch size between", "LM (batch size 5)", "v100", 1, 1, 7, 0},
		{"GPUs not measured", "LM (batch size 10)", "v100", 1, 4, 10, 0},
		{"measured not to run", "LM (batch size 5)", "k80", 1, 1, 5, 0},
		{"no batch size: a sample is a step", "A3C", "v100", 1, 1, 1, 7},
	} {
		got := c[tc.app].Throughput(cluster.Configuration{Nodes: tc.nodes, GPUs: tc.gpus, GPUType: tc.gpuType}, job.BatchSize{Local: tc.local})
		if math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%s: %g samples/s, want %g", tc.name, got, tc.want)
		}
	}
	want := job.BatchLimits{Init: 10, Max: 20, LocalMin: 5, LocalMax: map[cluster.GPUType]int{"v100": 20}}
	if diff := cmp.Diff(want, c["LM (batch size 10)"].Batch); diff != "" {
		t.Errorf("batch sizes (-want +got):\n%s", diff)
	}
	if x := readSteps(t, "two")["LM (batch size 5)"].Throughput(cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, job.BatchSize{Local: 5}); x != 250 {
		t.Errorf("table two: %g samples/s, want 250", x)
	}
}

func TestReadStepsErrors(t *testing.T) {
	line := func(text string) string { return stepsHead + "one,v100,LM (batch size 5),5,1,100\n" + text + "\n" }
	for _, tc := range []struct{ name, text, table, want string }{
		{"no table named", stepsText, "", "profiles: s.csv: several tables and none named, want one of one, two"},
		{"no such table", stepsText, "three", `profiles: s.csv: table "three" is not in it, want one of one, two`},
		{"no column", "file,worker_type\n", "", "profiles: s.csv:1: column job_type is missing, want file,worker_type,job_type,batch_size,scale_factor,steps_per_s"},
		{"no rows", stepsHead, "", "profiles: s.csv: no rows below the header, want at least 1"},
		{"rate", line("one,v100,A3C,,1,fast"), "", `profiles: s.csv:3: column steps_per_s: got "fast", want a finite number of at least 0`},
		{"negative rate", line("one,v100,A3C,,1,-1"), "", `profiles: s.csv:3: column steps_per_s: got "-1", want a finite number of at least 0`},
		{"GPUs", line("one,v100,A3C,,0,1"), "", `profiles: s.csv:3: column scale_factor: got "0", want a whole number in 1..1073741824`},
		{"batch size", line("one,v100,LM (batch size 5),x,1,1"), "", `profiles: s.csv:3: column batch_size: got "x", want a whole number in 1..1073741824`},
		{"batch size of another", line("one,v100,LM (batch size 5),10,1,1"), "", `profiles: s.csv:3: column batch_size: got "10", want the batch size of job type "LM (batch size 5)"`},
		{"batch size of none", line("one,v100,A3C,4,1,1"), "", `profiles: s.csv:3: column batch_size: got "4", want no value, because the job type has none`},
		{"no model", line("one,v100,,,1,1"), "", `profiles: s.csv:3: column job_type: got "", want a model, or one as ResNet-18 (batch size 32)`},
		{"no GPU type", line("one,_unconsolidated,A3C,,1,1"), "", `profiles: s.csv:3: column worker_type: got "_unconsolidated", want a GPU type`},
		{"twice", line("one,v100,LM (batch size 5),5,1,0"), "", `profiles: s.csv:3: column scale_factor: got "1", want each job type on so many GPUs of a type once`},
	} {
		if _, err := ReadSteps(strings.NewReader(tc.text), "s.csv", tc.table); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got error %v\nwant %s", tc.name, err, tc.want)
		}
	}
}

// FuzzReadSteps: whatever is read is an error or a catalog of which every batch
// size that it names runs somewhere.
func FuzzReadSteps(f *testing.F) {
	f.Add(stepsText, "one")
	f.Add(stepsHead+"a,b,c (batch size 1),1,1,1\n", "")
	f.Fuzz(func(t *testing.T, text, table string) {
		c, err := ReadSteps(strings.NewReader(text), "s.csv", table)
		if (err == nil) == (c == nil) {
			t.Fatalf("catalog %v, error %v", c, err)
		}
		for name, app := range c {
			if app.Name != name || app.Batch.Init < 1 || app.Batch.LocalMin < 1 || app.Batch.Max < app.Batch.LocalMin || len(app.Batch.LocalMax) == 0 {
				t.Errorf("application %q: %+v", name, app.Batch)
			}
		}
	})
}

// The embedded models have the applications of the measured table, and run them
// about as fast on one GPU.
func TestEmbeddedModelsOfGavel(t *testing.T) {
	embedded, measured := Default(), sharedSteps(t, "gavel/throughputs_isolated.csv", "simulation")
	if len(measured) != 26 {
		t.Errorf("%d job types, want 26 as Gavel's traces have", len(measured))
	}
	for name, want := range measured {
		app := embedded[name]
		if app == nil || app.Model != want.Model || app.Epoch != want.Epoch {
			t.Errorf("%s: got %v, want an application of model %s", name, app, want.Model)
			continue
		}
		c := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}
		b := job.BatchSize{Local: want.Batch.Init}
		if ratio := app.Throughput(c, b) / want.Throughput(c, b); ratio < 0.6 || ratio > 1.6 {
			t.Errorf("%s: %.2f of the measured speed", name, ratio)
		}
	}
}
