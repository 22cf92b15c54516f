package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

const loadText = "t_s,busy_frac\n0,0.8594\n300,0.86\n600,1\n900,0\n"

// genaiText begins as Alibaba's file does.
const genaiText = `t_s,samples,pods,busy_frac,mean_duty_pct,api_qps_sum,gen_qps_sum
0,658,114,0.0061,0.1343,0.0,0.0
300,547,112,0.0219,0.4222,0.18,0.0
`

func TestReadLoad(t *testing.T) {
	four := &workload.Load{Step: 5 * time.Minute, Busy: []float64{0.8594, 0.86, 1, 0}}
	two := &workload.Load{Step: 5 * time.Minute, Busy: []float64{0.0061, 0.0219}}
	for _, tc := range []struct {
		name, text string
		want       *workload.Load
	}{
		{"plain", loadText, four},
		{"packed", packed(loadText), four},
		{"byte order mark, CRLF, blank lines", "\uFEFF" + strings.ReplaceAll(loadText, "\n", "\r\n\r\n"), four},
		{"no end of the last line", strings.TrimSuffix(loadText, "\n"), four},
		{"more columns", genaiText, two},
		{"columns in another order", "busy_frac,x,t_s\n0.0061,,0\n0.0219,,300.0\n", two},
		{"capitals and spaces", "T_s , BUSY_FRAC\n0, 0.0061\n300, 2.19e-2\n", two},
		{"parts of a second", "t_s,busy_frac\n0,-0\n1.5,1\n3,0\n", &workload.Load{Step: 1500 * time.Millisecond, Busy: []float64{0, 1, 0}}},
	} {
		got, err := parse.ReadLoad(strings.NewReader(tc.text), "")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || math.Signbit(got.Busy[0]) {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestBadLoads(t *testing.T) {
	const head = "t_s,busy_frac\n"
	const begin = head + "0,0.5\n300,0.5\n"
	const notSeconds = `, want seconds since the start of the trace, at least 0 and at most 9e9, no calendar time`
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", `w.csv: empty file, want a header and at least two rows`},
		{"header only", head, `w.csv:2: the file ends after 0 rows, want at least 2`},
		{"one row", head + "0,0.5\n", `w.csv:3: the file ends after 1 rows, want at least 2`},
		{"no header", "0,0.5\n300,0.5\n", `w.csv:1: no column t_s in header "0,0.5"`},
		{"another file", "hour,gpu_instances,created,deleted\n0,3123,0,0\n", `w.csv:1: no column t_s in header "hour,gpu_instances,created,deleted"`},
		{"column twice", "t_s,busy_frac,t_s\n", `w.csv:1:3: second column "t_s", want each once`},
		{"row missing", begin + "900,0.5\n", `w.csv:4:1: t_s "900", want 600: 1 row is missing`},
		{"rows missing", begin + "600,0.5\n1800,0.5\n", `w.csv:5:1: t_s "1800", want 900: 3 rows are missing`},
		{"repeated time", begin + "300,0.6\n", `w.csv:4:1: t_s "300", want 600: the time of the previous row is repeated`},
		{"first time repeated", head + "0,0.5\n0,0.5\n", `w.csv:3:1: t_s "0", want 1 to 86400 s from the first row to the second`},
		{"time goes back", begin + "600,0.5\n0,0.5\n", `w.csv:5:1: t_s "0", want 900: times go back`},
		{"uneven step", begin + "700,0.5\n", `w.csv:4:1: t_s "700", want 600: a row each 300 s, as between the first two`},
		{"uneven step, shorter", begin + "599.5,0.5\n", `w.csv:4:1: t_s "599.5", want 600: a row each 300 s, as between the first two`},
		{"milliseconds", head + "0,0.5\n300000,0.5\n", `w.csv:3:1: t_s "300000", want 1 to 86400 s from the first row to the second`},
		{"does not start at 0", head + "300,0.5\n600,0.5\n", `w.csv:2:1: t_s "300", want 0 in the first row: seconds since the start of the trace`},
		{"seconds since 1970", head + "1601510400,0.5\n", `w.csv:2:1: t_s "1601510400", want 0 in the first row: seconds since the start of the trace`},
		{"calendar time with an offset", head + "2020-10-01T00:00:00+08:00,0.5\n", `w.csv:2:1: t_s "2020-10-01T00:00:00+08:00"` + notSeconds},
		{"calendar time", begin + "2020-10-01 00:10:00,0.5\n", `w.csv:4:1: t_s "2020-10-01 00:10:00"` + notSeconds},
		{"before the start", head + "-300,0.5\n", `w.csv:2:1: t_s "-300"` + notSeconds},
		{"no number of a time", head + "NaN,0.5\n", `w.csv:2:1: t_s "NaN"` + notSeconds},
		{"more than all GPUs", begin + "600,1.0001\n", `w.csv:4:2: busy_frac "1.0001", want a share from 0 to 1`},
		{"percent", head + "0,85.9\n", `w.csv:2:2: busy_frac "85.9", want a share from 0 to 1`},
		{"negative", head + "0,-0.1\n", `w.csv:2:2: busy_frac "-0.1", want a share from 0 to 1`},
		{"text", head + "0,half\n", `w.csv:2:2: busy_frac "half", want a share from 0 to 1`},
		{"nothing", head + "0,\n", `w.csv:2:2: busy_frac "", want a share from 0 to 1`},
		{"not a number", head + "0,NaN\n", `w.csv:2:2: busy_frac "NaN", want a share from 0 to 1`},
		{"infinite", head + "0,Inf\n", `w.csv:2:2: busy_frac "Inf", want a share from 0 to 1`},
		{"field missing", begin + "600\n", `w.csv:4: 1 fields, want 2`},
		{"field too many", begin + "600,0,5\n", `w.csv:4: 3 fields, want 2`},
		{"open quote", begin + "600,\"0.5\n", `w.csv:4:2: open quote, want it closed on the same line`},
		{"not text", begin + "600,\xff\n", `w.csv:4: text that is not UTF-8`},
		{"gzip cut", packed(loadText)[:20], `w.csv:`},
		{"no gzip", "\x1f\x8bx", `w.csv:`},
		{"long line", begin + strings.Repeat("6", parse.DefaultMaxLine+3), `w.csv:4: line too long`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := parse.ReadLoad(strings.NewReader(tc.text), "w.csv")
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Fatalf("got %v, error  %v\nwant error %s", l, err, tc.want)
			}
			if _, ok := errors.AsType[*parse.Error](err); !ok {
				t.Errorf("error is a %T, want *Error", err)
			}
		})
	}
}

// endless is a load curve without end.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	e.n++
	if e.n == 1 {
		return copy(p, "t_s,busy_frac\n0,1\n"), nil
	}
	return copy(p, parse.FormatSeconds(time.Duration(e.n-1)*time.Second)+",1\n"), nil
}

func TestReadLoad_ends(t *testing.T) {
	_, err := parse.ReadLoad(&endless{}, "w.csv")
	if want := "w.csv:1000002: more rows, want at most 1000000"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	broken := errors.New("disk on fire")
	if _, err := parse.ReadLoad(io.MultiReader(strings.NewReader(loadText), failing{broken}), ""); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

// FuzzReadLoad feeds the reader anything: it must end in an error that says
// where, or in a valid curve that reads again as it was.
func FuzzReadLoad(f *testing.F) {
	for _, s := range []string{loadText, genaiText, packed(loadText), "\uFEFF" + loadText[:30], "\r\n\t|,\"'{}[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parse.ReadLoad(io.LimitReader(bytes.NewReader(data), 1<<20), "")
		if err != nil {
			if _, ok := errors.AsType[*parse.Error](err); !ok {
				t.Errorf("error is a %T, want *Error", err)
			}
			return
		}
		if err := l.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := parse.ReadLoad(strings.NewReader(written(l)), "")
		if diff := cmp.Diff(l, again); err != nil || diff != "" {
			t.Errorf("after a round trip: %v %s", err, diff)
		}
	})
}

// written is a curve as a file.
func written(l *workload.Load) string {
	var b strings.Builder
	b.WriteString("t_s,busy_frac\n")
	for i, busy := range l.Busy {
		fmt.Fprintf(&b, "%s,%v\n", parse.FormatSeconds(time.Duration(i)*l.Step), busy)
	}
	return b.String()
}

// The shared curves are as their README says.
func TestSharedLoads(t *testing.T) {
	root := testdata.Path(t, "traces")
	for _, tc := range []struct {
		glob             string
		files, intervals int
		low, high, mean  float64
	}{
		{"lyra_synth/infer_full_*.csv.gz", 5, 4320, 0.40, 0.97, 0.65},
		{"lyra_synth/infer_eighth_*.csv.gz", 5, 4320, 0.40, 0.97, 0.65},
		{"lyra_synth/infer_testbed_*.csv", 5, 288, 0.40, 0.97, 0.655},
		{"alibaba_genai2026/gpu_busy_5min.csv", 1, 274, 0, 0.91, 0.33},
	} {
		files, err := filepath.Glob(filepath.Join(root, tc.glob))
		if err != nil || len(files) != tc.files {
			t.Fatalf("%s: %d files, %v, want %d", tc.glob, len(files), err, tc.files)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			l, err := parse.ReadLoad(bytes.NewReader(data), filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, b := range l.Busy {
				if sum += b; b < tc.low || b > tc.high {
					t.Errorf("%s: %g, want %g to %g", path, b, tc.low, tc.high)
				}
			}
			if mean := sum / float64(len(l.Busy)); len(l.Busy) != tc.intervals || l.Step != 5*time.Minute || math.Abs(mean-tc.mean) > 0.03 {
				t.Errorf("%s: %d intervals of %v, mean %.3f, want %d of 5 minutes, mean %g", path, len(l.Busy), l.Step, mean, tc.intervals, tc.mean)
			}
		}
	}
}
