package run

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// testbed returns the configuration of a small run of Lyra's testbed, changed by key=value.
func testbed(t *testing.T, changes ...string) *config.Config {
	t.Helper()
	c := config.Default()
	for _, change := range append([]string{
		"cluster=lyra-testbed", "generate.kind=lyra-testbed", "policy=lyra", "scheduler.profile=false", "jobs.free-start=true", "jobs.restart=63s",
	}, changes...) {
		key, value, _ := strings.Cut(change, "=")
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// onLoan runs a policy and returns the journal too.
func onLoan(t *testing.T, c *config.Config, in *Inputs, name string) (*Run, string) {
	t.Helper()
	var out bytes.Buffer
	w := journal.NewWriter(&out, Header(c, in, name, "test"))
	run, err := Simulate(t.Context(), c, in, name, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if s := &run.Result.Summary; len(run.Refused) > 0 || s.Loans == nil || s.Done != s.Jobs {
		t.Fatalf("%s: %d of %d jobs done, loans %+v, plans refused: %q", name, s.Done, s.Jobs, s.Loans, run.Refused)
	}
	return run, out.String()
}

// Lyra borrows and gains by it; who does not borrow has the same without loans, and all that
// is said of the owner's cluster.
func TestLender_end_to_end(t *testing.T) {
	c := testbed(t, "set=lyra.foresee=false")
	in, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	borrows, text := onLoan(t, c, in, "lyra")
	if l := borrows.Result.Summary.Loans; l.LentHours <= 0 || l.OnLoan <= 0 || l.Reclaims == 0 {
		t.Errorf("lyra: %+v, want nodes on loan, used and wanted back", l)
	}
	if _, again := onLoan(t, c, in, "lyra"); again != text {
		t.Errorf("two runs differ:\n%s", cmp.Diff(text, again))
	}
	recorded, err := Recorded(reader(t, []byte(text)), c, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(borrows.Result, recorded.Result); diff != "" {
		t.Errorf("the recording tells otherwise (-run +recording):\n%s", diff)
	}
	alone, _ := onLoan(t, c, in, "fifo")
	if l := alone.Result.Summary.Loans; l.LentHours != 0 || l.Overall < 0.42 || l.Overall > 0.95 {
		t.Errorf("fifo: %+v, want nothing on loan, and the owner's own load", l)
	}
	if a, b := borrows.Result.Summary.MeanQueued, alone.Result.Summary.MeanQueued; a >= b {
		t.Errorf("jobs wait %.0f s with lyra and %.0f s with fifo", a, b)
	}
}

// The same on a trace and a load curve of the shared ones.
func TestLender_on_shared_data(t *testing.T) {
	dir := testdata.Path(t, "traces/lyra_synth")
	load := filepath.Join(dir, "infer_testbed_seed21.csv")
	c := testbed(t, "trace="+filepath.Join(dir, "train_testbed_seed21.csv"), "lender.load="+load, "set=lyra.foresee=false")
	in, err := Load(c, Files{Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Arrivals) != 180 || len(in.busy.Busy) != 288 {
		t.Fatalf("%d jobs, %d intervals, want 180 and 288", len(in.Arrivals), len(in.busy.Busy))
	}
	run, _ := onLoan(t, c, in, "lyra")
	if l := run.Result.Summary.Loans; l.LentHours <= 0 || l.OnLoan <= 0 {
		t.Errorf("%+v, want nodes on loan that are used", l)
	}
}

const threeShares = "t_s,busy_frac\n0,0.2\n300,0.4\n600,0.3\n"

func TestLoad_reads_the_load(t *testing.T) {
	files := textFiles(map[string]string{"w.csv": threeShares, "bad.csv": "t_s,busy_frac\n0,0.2\n300,1.4\n"})
	for _, test := range []struct {
		name    string
		changes []string
		want    []float64
	}{
		{"a file", []string{"lender.load=w.csv"}, []float64{0.2, 0.4, 0.3}},
		{"moved", []string{"lender.load=w.csv", "lender.between=0.4-0.8"}, []float64{0.4, 0.8, 0.6}},
		{"no nodes on loan", []string{"cluster=v100:4x8", "lender.between=0.4-0.8"}, nil},
		{"made up", []string{"seed=7"}, workload.Diurnal(7, 15).Busy},
		{"as long as the trace", []string{"seed=7", "generate.span=400h"}, workload.Diurnal(7, 17).Busy},
	} {
		in, err := Load(testbed(t, test.changes...), files)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []float64
		if in.busy != nil {
			got = in.busy.Busy
		}
		if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	for _, test := range []struct {
		changes []string
		want    string
	}{
		{[]string{"lender.load=bad.csv"}, `bad.csv:3:2: busy_frac "1.4", want a share from 0 to 1`},
		{[]string{"lender.load=none.csv"}, "open none.csv: "},
		{[]string{"lender.load=w.csv", "cluster=v100:4x8"}, "lender.load w.csv: no nodes on loan in the cluster, want some that end in /loan"},
	} {
		if _, err := Load(testbed(t, test.changes...), files); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got error %v, want %s", test.changes, err, test.want)
		}
	}
}

// The owner is told its curve, and looks ahead as it is told to: a model that has seen a day
// of a curve expects the next one.
func TestLender_looks_ahead(t *testing.T) {
	for name, want := range map[string]string{
		config.Seasonal: "*forecast.Seasonal", config.LastValue: "*forecast.Last", config.DayBefore: "*forecast.SeasonalNaive", config.NoForecast: "",
	} {
		c := testbed(t, "lender.forecast="+name, "lender.interval=10m")
		in, err := Load(c, Files{})
		if err != nil {
			t.Fatal(err)
		}
		o := sim.DefaultLender()
		o.Interval = c.Sim.Lender.Interval
		if in.lender(c, &o); o.Busy(5*time.Hour) != in.busy.Busy[60] {
			t.Errorf("busy %v at 5 h, want %v", o.Busy(5*time.Hour), in.busy.Busy[60])
		}
		if want == "" {
			if o.Forecast != nil {
				t.Errorf("%s: there is a forecaster", name)
			}
			continue
		}
		f, ok := o.Forecast().(forecaster)
		if got := fmt.Sprintf("%T", f.Model); !ok || got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		for i := range 2 * 144 { // days
			f.Observe(float64(i%144) / 144)
		}
		mean, sd := f.Predict(72)
		if ahead := mean[71]; len(sd) != 72 || name != config.LastValue && math.Abs(ahead-71.0/144) > 0.05 {
			t.Errorf("%s: %.3f half a day ahead, want 0.493", name, ahead)
		}
	}
}

// Nodes on loan are not for rent, and no policy that does not borrow starts with them alone.
func TestLender_and_those_who_cannot_borrow(t *testing.T) {
	c := testbed(t, "cluster=t4:4x8/loan", "jobs.fungible=1")
	in, err := Load(testbed(t), Files{})
	if err != nil {
		t.Fatal(err)
	}
	if in.Cluster, err = c.BuildCluster(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fifo", "boa"} {
		if _, err := Simulate(t.Context(), c, in, name); err == nil || !strings.Contains(err.Error(), "the cluster has no others; add nodes without /rent, /spot or /loan") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	c, in = rentedInputs(t, "t4:2x4,t4:4x4/rent,rtx:2x8/loan@1")
	for name, want := range map[string]int{"fifo": 2*4 + 2*8, "lyra": 2*4 + 2*8, "boa": 2*4 + 4*4} {
		if got := Header(c, in, name, "test").Cluster.GPUs(); got != want {
			t.Errorf("%s: %d GPUs, want %d", name, got, want)
		}
	}
}
