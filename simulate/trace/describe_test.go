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
	d, err := Describe(seqOf(all...), nil)
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
submitted    2h11m to 26h after the trace begins
jobs         3, 0.1 per hour, 1 in the busiest hour, 1 cancelled
from         1 user, 2 queues
GPU types    t4 1
    GPUs      jobs    GPU-hours
       4         2       1991.5 ########################################
       8         1       2096.1 ####################
load         unknown for 1 job: the model of the application decides how long they run
load         4087.6 GPU-hours, 171.7 GPUs on average
running time mean 15d19h, min 10d22h, p10 10d22h, p50 10d22h, p90 20d17h, p99 20d17h, max 20d17h
adaptivity   rigid    2
             adaptive 1
application  bert 1
    from      jobs    GPU-hours
      0s         1       2096.1 ########################################
      3h         1       1991.5 ########################################
      6h         0          0.0
      9h         0          0.0
     12h         0          0.0
     15h         0          0.0
     18h         0          0.0
     21h         0          0.0
     24h         1          0.0 ########################################
`

func TestDescribeError(t *testing.T) {
	broken := errors.New("bad row")
	_, err := Describe(func(yield func(workload.Arrival, error) bool) { yield(workload.Arrival{}, broken) }, nil)
	if !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

func TestDescribeWide(t *testing.T) {
	var all []workload.Arrival
	for i := range 100 {
		all = append(all, workload.Arrival{At: time.Duration(i) * 31 * 24 * time.Hour, Spec: job.Spec{ID: numbered(i), GPUs: i + 1}})
	}
	d, err := Describe(seqOf(all...), nil)
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
	jobs := 0
	for _, s := range mergedSizes(d.Sizes) {
		jobs += s.Jobs
	}
	if jobs != len(all) {
		t.Errorf("%d jobs in the table of sizes, want %d", jobs, len(all))
	}
}

// TestDescribe_waits: waits are those of the history, and logs with a calendar have dates.
func TestDescribe_waits(t *testing.T) {
	dated := map[string]string{
		"helios": "2020-04-01 00:00 to 2020-04-01 00:10 UTC, 10m", "slurm": " UTC", "philly": "", "kubernetes": "2026-01-02 00:00 to 2026-01-02 00:00 UTC, 10s",
		"swf": "2004-10-01 00:00 to 2004-10-01 00:00 UTC, 10s", "alibaba-pai": "0s to 5d17h after the trace begins",
	}
	for _, s := range samples {
		format := strings.Replace(s.format, swfFormat, swfGPUs, 1)
		h, err := ReadHistory(strings.NewReader(s.text), format, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var waits Waits
		var summary parse.Summary
		seq, err := Open(strings.NewReader(s.text), format, parse.Options{Wait: waits.Add, Summary: &summary})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(seq, &waits)
		if err != nil {
			t.Fatal(err)
		}
		known, longest := 0, time.Duration(0)
		if h != nil {
			for i := range h.Jobs {
				if o := &h.Jobs[i]; !o.Started.IsZero() {
					known++
					longest = max(longest, o.Started.Sub(o.Submitted))
				}
			}
		}
		if d.Started != known || d.Waits.Max != longest {
			t.Errorf("%s/%s: %d waits up to %v, want %d up to %v", s.format, s.name, d.Started, d.Waits.Max, known, longest)
		}
		if d.Summary = &summary; !strings.Contains(d.String(), dated[s.format]) {
			t.Errorf("%s/%s: want submissions %s in\n%s", s.format, s.name, dated[s.format], d)
		}
	}
}
