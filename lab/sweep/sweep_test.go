package sweep_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/lab/sweep"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/report/tabular"
	"github.com/oxgang/oxgang/simulate/run"
)

const small = `axes:
  cluster: ["v100:4x4", "t4:4x4"]
  policy: [fifo, srtf]
  seed: 1..2
set:
  generate: {jobs: 4, span: 10m}
`

func valid(c *config.Config) error { return c.Validate() }

func read(t *testing.T, text string) *sweep.Sweep {
	t.Helper()
	s, err := sweep.Read(strings.NewReader(text), "sweep.yaml", valid)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func options(dir string) *sweep.Options {
	return &sweep.Options{Out: dir, Program: "test", Workers: 2, Files: run.Files{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Dir:  os.DirFS,
	}}
}

// played runs a sweep and returns its status and its summary.
func played(t *testing.T, s *sweep.Sweep, o *sweep.Options) (*sweep.Status, string) {
	t.Helper()
	st, err := s.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Play(t.Context(), st, o); err != nil {
		t.Fatal(err)
	}
	for r, err := range st.Failed {
		t.Fatalf("%s: %v", r.Name(s), err)
	}
	return st, summary(t, s, st)
}

func summary(t *testing.T, s *sweep.Sweep, st *sweep.Status) string {
	t.Helper()
	var out bytes.Buffer
	for _, write := range []func(io.Writer, tabular.Format, *sweep.Status) error{s.WriteSummary, s.WriteRuns} {
		if err := write(&out, tabular.CSV, st); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// Every error names the file, the line and the field.
func TestRead_errors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "sweep.yaml: the file is empty, want axes",
		"axes: [":                            "sweep.yaml: yaml: line 1",
		"- a":                                "sweep.yaml:1: want a mapping with axes",
		"set: {seed: 1}":                     "sweep.yaml: no axes",
		"axes:\n  seed: 1\nx: 1":             "sweep.yaml:3: x: unknown field, want axes, set, baseline or measures",
		"axes:\n  seed: 1\naxes:\n  seed: 2": "sweep.yaml:3: axes is listed twice, first in line 1",
		"axes:\n  seed: 1\n  seed: 2":        "sweep.yaml:3: axes.seed is listed twice",
		"axes:\n  sed: 1":                    `sweep.yaml:2: axes.unknown key "sed"`,
		"axes:\n  seed:\n    - 1\n    - two": `sweep.yaml:4: axes.seed: got "two", want a whole number`,
		"axes:\n  seed: [1, 1]":              `sweep.yaml:2: axes.seed: "1" is listed twice`,
		"axes:\n  seed: 5..1":                `sweep.yaml:2: axes.seed: "5..1", want a range`,
		"axes:\n  seed: []":                  "sweep.yaml:2: axes.seed: no value",
		"axes:\n  policy: [\"fifo,easy\"]":   `sweep.yaml:2: axes.policy: "fifo,easy", want the name of one policy`,
		"axes:\n  seed: 1..2\nset:\n  generate:\n    jobs: many":                  `sweep.yaml:5: generate.jobs: got "many"`,
		"axes:\n  seed: 1..2\nset:\n  seed: 3":                                    "sweep.yaml:3: set.seed is an axis too",
		"axes:\n  policy: [fifo]\nbaseline: sia":                                  `sweep.yaml:3: baseline: policy "sia" is not in axes.policy`,
		"axes:\n  policy: [fifo]\nbaseline: [sia]":                                "sweep.yaml:3: baseline: want one value",
		"axes:\n  policy: [fifo]\nmeasures:\n  - jobs\n  - jct_mean":              `sweep.yaml:5: measures: unknown measure "jct_mean", want some of jobs, `,
		"axes:\n  cluster:\n    - v100:1x4\n    - v100:0x4\n  policy: [fifo]":     "sweep.yaml:4: axes.cluster: ",
		"axes:\n  policy: [fifo]\nset:\n  sim.noise: -1":                          "sweep.yaml:3: ",
		"axes:\n  seed: 0..99999\n  scale: 1..2\n  policy: [fifo]":                "sweep.yaml:1: axes: more than 100000 runs",
		"axes:\n  profiles.table: [\"\", x]\n  profiles: [\"\"]\n  policy: [sia]": `sweep.yaml:2: axes.profiles.table: profiles.table "x" without profiles`,
	} {
		_, err := sweep.Read(strings.NewReader(text), "sweep.yaml", valid)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestRead(t *testing.T) {
	s := read(t, "axes:\n  seed: 3..4\n  policy: [fifo, srtf]\n  generate.jobs: [5, 6]\n  gpu-like: [[h100=a100x2, h200=a100x3], \"\"]\n")
	runs := s.Runs()
	if len(runs) != 16 {
		t.Fatalf("%d runs, want 16", len(runs))
	}
	if got, want := runs[0].Name(s), "generate.jobs=5 gpu-like=h100=a100x2,h200=a100x3 policy=fifo seed=3"; got != want {
		t.Errorf("first run: %s, want %s", got, want)
	}
	if got, want := runs[15].Name(s), "generate.jobs=6 gpu-like= policy=srtf seed=4"; got != want {
		t.Errorf("last run: %s, want %s", got, want)
	}
	if s.Baseline != "fifo" || runs[0].Config.Get("policy") != "fifo,srtf" || runs[3].Config.Sim.Seed != 4 {
		t.Errorf("baseline %s, policies %s, seed %d", s.Baseline, runs[0].Config.Get("policy"), runs[3].Config.Sim.Seed)
	}
}

// A sweep that was stopped in the middle of a run goes on with what is not done, and comes to the same tables. What is done is
// known by its settings: it is not run again where the grid grows.
func TestPlay_resumes(t *testing.T) {
	s, whole, dir := read(t, small), t.TempDir(), t.TempDir()
	_, want := played(t, s, options(whole))

	o := options(dir)
	o.Workers = 1
	st, err := s.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	begun := 0
	o.Observers = func() []scheduler.Observer {
		if begun++; begun == 4 {
			return []scheduler.Observer{stopper(stop)}
		}
		return nil
	}
	if err := s.Play(ctx, st, o); err == nil {
		t.Error("the sweep was stopped, and says nothing")
	}
	o.Observers = nil
	st, got := played(t, s, o)
	if st.Before != 3 || st.Ran != 5 {
		t.Errorf("%d runs were found and %d run, want 3 and 5", st.Before, st.Ran)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	more := read(t, strings.Replace(small, "1..2", "1..3", 1))
	if st, _ := played(t, more, o); st.Before != 8 || st.Ran != 4 {
		t.Errorf("one more seed: %d runs were found and %d run, want 8 and 4", st.Before, st.Ran)
	}
}

// A stopper ends a context in the first round of a run.
type stopper func()

func (stopper) Event(time.Time, scheduler.Event) {}

func (s stopper) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) { s() }

// Whatever decides a run changes its key: a setting, the version of the program, a file.
func TestOpen_keys(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "w.csv")
	write := func(seconds string) {
		text := "name,time,application,num_replicas,batch_size\na," + seconds + ",cifar10,1,128\n"
		if err := os.WriteFile(trace, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("0")
	text := "axes:\n  policy: [fifo]\nset:\n  trace: " + trace + "\n  cluster: v100:1x4\n"
	o := options(dir)
	ran := func(what, text string, want int) {
		t.Helper()
		if st, _ := played(t, read(t, text), o); st.Ran != want {
			t.Errorf("%s: %d runs, want %d", what, st.Ran, want)
		}
	}
	ran("first", text, 1)
	ran("again", text, 0)
	ran("another order of the file", "set:\n  cluster: v100:1x4\n  trace: "+trace+"\naxes:\n  policy: [fifo]\n", 0)
	ran("another setting", text+"  sim.noise: 0.2\n", 1)
	write("5")
	ran("another text of the trace", text, 1)
	o.Program = "newer"
	ran("another version", text, 1)
}

// Parts have all runs, each once, and as many as the next one. Put together they make the same tables.
func TestPlay_shards(t *testing.T) {
	s := read(t, small)
	_, want := played(t, s, options(t.TempDir()))
	ran := 0
	o := options(t.TempDir())
	for i := range 3 {
		part := options(t.TempDir())
		part.Shard = sweep.Shard{Index: i, Of: 3}
		st, _ := played(t, s, part)
		if ran += st.Ran; st.Ran < 2 || st.Ran > 3 {
			t.Errorf("part %d ran %d of 8 runs", i, st.Ran)
		}
		o.From = append(o.From, part.Out)
	}
	st, err := s.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if ran != 8 || st.Missing() != 0 {
		t.Errorf("%d runs were run in parts and %d are missing, want 8 and 0", ran, st.Missing())
	}
	if diff := cmp.Diff(want, summary(t, s, st)); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]sweep.Shard{"": {}, "0/1": {Index: 0, Of: 1}, "7/8": {Index: 7, Of: 8}} {
		if got, err := sweep.ParseShard(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"8/8", "-1/2", "1", "a/2", "1/0", "1/2/3"} {
		if _, err := sweep.ParseShard(text); err == nil {
			t.Errorf("%q is taken for a part", text)
		}
	}
}

// Where one policy is better by the same on every seed, its difference is known exactly, however much
// seeds differ; and a seed that only one of them ended is in no difference.
func TestSummary_common_random_numbers(t *testing.T) {
	s := read(t, "axes:\n  policy: [fifo, srtf]\n  seed: 1..4\nmeasures: [jct_mean_h]\n")
	st := &sweep.Status{}
	for i, r := range s.Runs() {
		jct := []float64{1, 10, 100, 1000, 0.5, 9.5, 99.5, 7}[i]
		rec := &sweep.Record{Measures: map[string]float64{"jct_mean_h": jct}}
		if r.Policy == "fifo" && r.Config.Sim.Seed == 4 {
			rec = nil
		}
		st.Records = append(st.Records, rec)
	}
	rows := s.Summary(st)
	if len(rows) != 2 || rows[0].Value.N != 3 || rows[1].Value.N != 4 {
		t.Fatalf("rows %+v, want 3 and 4 seeds", rows)
	}
	got := rows[1].Against
	if got.N != 3 || got.Mean != -0.5 || math.Abs(got.High+0.5) > 1e-9 || math.Abs(got.Low+0.5) > 1e-9 || rows[1].Verdict() != "less" {
		t.Errorf("difference %+v, verdict %q; want -0.5 on 3 seeds", got, rows[1].Verdict())
	}
	if percent, known := rows[1].Percent(); !known || math.Abs(percent+100*0.5/37) > 1e-9 {
		t.Errorf("%v %%, want that of the baseline's mean on those seeds", percent)
	}
	if v := rows[1].Value; v.High-v.Low < 10 {
		t.Errorf("the interval of the mean is %+v, want that of values that differ much", v)
	}
	if rows[0].Verdict() != "" {
		t.Errorf("the baseline differs from itself: %q", rows[0].Verdict())
	}
}

// Policies of a cell get the same jobs, those that any of them cannot run left out of all.
func TestPlay_same_jobs(t *testing.T) {
	s := read(t, "axes:\n  policy: [sia, fifo]\n  seed: 1..2\nset:\n  cluster: v100:2x4\n  on-bad-row: skip\n  generate.jobs: 12\nmeasures: [jobs]\n")
	st, _ := played(t, s, options(t.TempDir()))
	var jobs []float64
	for _, r := range st.Records {
		jobs = append(jobs, r.Measures["jobs"])
	}
	if !slices.Equal(jobs[:2], jobs[2:]) || jobs[0] == 12 {
		t.Errorf("jobs by run: %v, want as many for both policies, and some skipped", jobs)
	}
}

// A record that is damaged is an error that names its file, not a run that is missing.
func TestOpen_damaged(t *testing.T) {
	s, o := read(t, small), options(t.TempDir())
	played(t, s, o)
	files, err := filepath.Glob(filepath.Join(o.Out, "runs", "*.json"))
	if err != nil || len(files) != 8 {
		t.Fatalf("%v, %v, want 8 records and nothing else", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(o); err == nil || !strings.HasPrefix(err.Error(), files[0]+": ") {
		t.Errorf("got %v, want an error about %s", err, files[0])
	}
}
