package trace

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// near reports whether two sums differ by rounding only.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

func TestDescribe(t *testing.T) {
	s := new(parse.Summary)
	all, err := parse.Collect(phillyTable.Read(strings.NewReader(phillyText), parse.Options{Summary: s}))
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, workload.Arrival{
		At: 26 * time.Hour, Application: "bert", CancelAfter: time.Hour,
		Spec: job.Spec{ID: "x", User: "amy", GPUs: 4, GPUTypes: []cluster.GPUType{"t4"}, Adaptivity: job.Adaptive},
	})
	d, err := Describe(seqOf(all...))
	if err != nil {
		t.Fatal(err)
	}
	work1, work2 := 8*943226.0/3600, 4*1792395.0/3600
	want := &Description{
		Jobs: 3, First: 7889 * time.Second, Last: 26 * time.Hour, Users: 1, Queues: 2, Cancelled: 1,
		Hours: []Load{{2, 1, work1}, {5, 1, work2}, {26, 1, 0}},
		Sizes: []SizeCount{{4, 2, work2}, {8, 1, work1}},
		Demand: Demand{
			GPUHours: work1 + work2, Known: 2,
			Durations: Quantiles{Mean: 1367810500 * time.Millisecond, Min: 943226 * time.Second, P10: 943226 * time.Second, P50: 943226 * time.Second, P90: 1792395 * time.Second, P99: 1792395 * time.Second, Max: 1792395 * time.Second},
		},
		Asked: Asked{
			Applications: []NameCount{{"bert", 1}},
			GPUTypes:     []NameCount{{"t4", 1}},
			Adaptivity:   []NameCount{{"rigid", 2}, {"adaptive", 1}},
		},
	}
	if diff := cmp.Diff(want, d, cmp.Comparer(near)); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
	d.Summary = s
	if diff := cmp.Diff(described, d.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

const described = `format philly: 4 rows, 2 jobs
  jobs with 0 GPUs dropped: 1
  jobs with no running time dropped: 1
jobs         3
submitted    2h11m to 26h
rate         0.1 jobs/h, 1 in the busiest hour
from         1 users, 2 queues
cancelled    1
demand       of 1 jobs follows from their application
demand       4087.6 GPU-hours, 171.7 GPUs on average
running time mean 15d19h, min 10d22h, p10 10d22h, p50 10d22h, p90 20d17h, p99 20d17h, max 20d17h
adaptivity   rigid    2
             adaptive 1
GPU types    t4 1
application  bert 1
    GPUs      jobs    GPU-hours
       4         2       1991.5 ########################################
       8         1       2096.1 ####################
    from      jobs    GPU-hours
      0s         0          0.0
      2h         1       2096.1 ########################################
      4h         1       1991.5 ########################################
      6h         0          0.0
      8h         0          0.0
     10h         0          0.0
     12h         0          0.0
     14h         0          0.0
     16h         0          0.0
     18h         0          0.0
     20h         0          0.0
     22h         0          0.0
     24h         0          0.0
     26h         1          0.0 ########################################
`

func TestDescribeError(t *testing.T) {
	broken := errors.New("bad row")
	_, err := Describe(func(yield func(workload.Arrival, error) bool) { yield(workload.Arrival{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

func TestDescribeWide(t *testing.T) {
	var all []workload.Arrival
	for i := range 100 {
		all = append(all, workload.Arrival{At: time.Duration(i) * 31 * 24 * time.Hour, Spec: job.Spec{ID: numbered(i), GPUs: i + 1}})
	}
	d, err := Describe(seqOf(all...))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, c := range d.String() {
		if c == '\n' {
			lines++
		}
	}
	if most := 2*maxRows + 10; lines > most {
		t.Errorf("%d lines, want at most %d:\n%s", lines, most, d)
	}
}
