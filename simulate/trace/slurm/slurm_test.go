package slurm

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// sample returns a file that a real Slurm 22.05.8 wrote.
func sample(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// read returns the jobs of a text by ID, and what was noted.
func read(text string, o parse.Options) (map[job.ID]workload.Arrival, *parse.Summary, error) {
	o.File, o.Summary = "w", new(parse.Summary)
	jobs := map[job.ID]workload.Arrival{}
	for a, err := range Read(strings.NewReader(text), o) {
		if err != nil {
			return nil, o.Summary, err
		}
		jobs[a.Spec.ID] = a
	}
	return jobs, o.Summary, nil
}

func mustRead(t testing.TB, text string, o parse.Options) (map[job.ID]workload.Arrival, *parse.Summary) {
	t.Helper()
	jobs, s, err := read(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return jobs, s
}

// noted returns how many rows a note counts whose text contains a word.
func noted(s *parse.Summary, word string) int {
	n := 0
	for _, note := range s.Notes {
		if strings.Contains(note.Text, word) {
			n += note.Count
		}
	}
	return n
}

// A real history reads alike in all shapes that it was exported in.
func TestShapesOfOneHistory(t *testing.T) {
	want, _ := mustRead(t, sample(t, "epoch.txt"), parse.Options{})
	if len(want) != 13 {
		t.Fatalf("%d jobs, want 13", len(want))
	}
	wide := want["7"]
	if wide.Spec.GPUs != 16 || wide.Duration != 15*time.Second || wide.Spec.Name != "wide" || wide.Spec.Queue != "batch" || wide.Spec.User != "amy" {
		t.Errorf("job 7: %+v, want 16 GPUs for 15 s", wide)
	}
	for _, name := range []string{"tab.txt", "parsable.txt", "parsable2.txt"} {
		got, _ := mustRead(t, sample(t, name), parse.Options{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-epoch +got):\n%s", name, diff)
		}
	}
	got, _ := mustRead(t, sample(t, "startend.txt"), parse.Options{}) // has no names, users, partitions and time limits,
	for id, early := range map[job.ID]time.Duration{"6_3": 24 * time.Second, "8": 121 * time.Second} {
		a := got[id] // and does not say when a job could start
		a.At += early
		got[id] = a
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(job.Spec{}, "Name", "User", "Queue", "Target")); diff != "" {
		t.Errorf("startend.txt (-epoch +got):\n%s", diff)
	}
	offset := regexp.MustCompile("T12:([0-9:]+)").ReplaceAllString(sample(t, "tab.txt"), "T14:$1+0200")
	got, s := mustRead(t, offset, parse.Options{Start: time.Date(2026, 11, 23, 12, 10, 55, 0, time.UTC)})
	if diff := cmp.Diff(want, got); diff != "" || noted(s, "without a zone") != 0 {
		t.Errorf("+0200 (-epoch +got), %v:\n%s", s.Notes, diff)
	}
}

// JSON has the same jobs as --duplicates: the job that was requeued is one, submitted when it
// first was, and runs as long as its last run.
func TestRequeued(t *testing.T) {
	table, s := mustRead(t, sample(t, "duplicates.txt"), parse.Options{})
	if j := table["8"]; j.At != 0 || j.Duration != 20*time.Second || noted(s, "requeue") != 1 {
		t.Errorf("job 8 at %v for %v, notes %v, want 0s, 20s and a run before the requeue", j.At, j.Duration, s.Notes)
	}
	same, _ := mustRead(t, sample(t, "full.json"), parse.Options{})
	if diff := cmp.Diff(table, same, cmpopts.IgnoreFields(job.Spec{}, "Name", "Priority")); diff != "" { // sacct wrote ? for ü in the table, which has no priorities
		t.Errorf("JSON (-table +got):\n%s", diff)
	}
	const head = "JobID|Submit|Start|ElapsedRaw|State|ReqTRES\n"
	runs := []string{
		"7|2024-01-01T00:00:00|2024-01-01T00:01:00|60|PREEMPTED|gres/gpu=1\n",
		"7|2024-01-01T00:02:00|2024-01-01T00:05:00|100|COMPLETED|gres/gpu=1\n",
		"7|2024-01-01T00:09:00|Unknown|0|CANCELLED by 3|gres/gpu=1\n",
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		text := head
		for _, i := range order {
			text += runs[i]
		}
		for _, bad := range []parse.BadRow{parse.Fail, parse.Skip} {
			jobs, s := mustRead(t, text, parse.Options{OnBadRow: bad})
			if j := jobs["7"]; j.At != 0 || j.Duration != 100*time.Second || s.Bad != 0 || s.Jobs != 1 {
				t.Errorf("order %v, %v: job 7 at %v for %v, %+v", order, bad, j.At, j.Duration, s)
			}
		}
	}
	if _, s := mustRead(t, head+runs[1]+runs[1], parse.Options{}); noted(s, "repeat") != 1 {
		t.Errorf("notes %v, want a row that repeats another", s.Notes)
	}
}

// Later schemas write numbers as objects, and states as lists.
func TestNewerJSON(t *testing.T) {
	const text = `{"jobs": [
{"job_id": 9, "array": {"job_id": 0, "task_id": {"set": false, "infinite": false, "number": 0}}, "name": "a", "user": "amy", "partition": "p",
 "time": {"submission": 1795435855, "start": {"set": true, "infinite": false, "number": 1795435900}, "elapsed": 30}, "state": {"current": ["COMPLETED"]},
 "tres": {"requested": [{"type": "gres", "name": "gpu", "id": 1, "count": 2}, {"type": "mem", "name": "", "count": 1024}],
          "allocated": [{"type": "gres", "name": "gpu:a100", "id": 2, "count": 2}]}},
{"job_id": 11, "array": {"job_id": 10, "task_id": {"set": true, "infinite": false, "number": 0}}, "user": "amy",
 "time": {"submission": 1795435865, "eligible": {"set": false, "infinite": false, "number": 1795435870}, "elapsed": 5}, "state": {"current": ["TIMEOUT"]}, "tres": {"requested": [{"type": "gres", "name": "gpu", "count": 1}], "allocated": []}},
{"job_id": 13, "het": {"job_id": 12, "job_offset": {"set": true, "infinite": false, "number": 1}},
 "time": {"submission": 1795435865, "elapsed": 5}, "state": {"current": "FAILED"}, "tres": {"requested": [{"type": "gres", "name": "gpu", "count": 1}]}}
], "meta": {}}`
	got, s := mustRead(t, text, parse.Options{})
	want := map[job.ID]workload.Arrival{
		"9":    {Duration: 30 * time.Second, Spec: job.Spec{ID: "9", Name: "a", User: "amy", Queue: "p", GPUs: 2, Memory: 1 << 30, GPUTypes: []cluster.GPUType{"a100"}, Adaptivity: job.Rigid}},
		"10_0": {At: 10 * time.Second, Duration: 5 * time.Second, Spec: job.Spec{ID: "10_0", User: "amy", GPUs: 1, Adaptivity: job.Rigid}},
		"12+1": {At: 10 * time.Second, Duration: 5 * time.Second, Spec: job.Spec{ID: "12+1", GPUs: 1, Adaptivity: job.Rigid}},
	}
	if diff := cmp.Diff(want, got); diff != "" || noted(s, "TIMEOUT") != 1 || noted(s, "could not start") != 0 {
		t.Errorf("jobs (-want +got), %v:\n%s", s.Notes, diff)
	}
}

// Rows in the shapes that the real samples do not have.
func TestRows(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const head = "JobID|JobName|User|Submit|ElapsedRaw|State|"
	epoch := parse.Options{Start: time.Unix(1704067200, 0)} // 2024-01-01 in UTC
	for _, tc := range []struct {
		name, text string
		o          parse.Options
		at         time.Duration
		spec       job.Spec
	}{
		{"zone", head + "ReqTRES\n7|x|amy|2024-01-01T01:00:00|60|COMPLETED|gres/gpu=2\n", parse.Options{Start: epoch.Start, Zone: berlin}, 0, job.Spec{Name: "x", GPUs: 2}},
		{"offset with a colon", head + "ReqTRES\n7|x|amy|2024-01-01T02:00:00+02:00|60|COMPLETED|gres/gpu=2\n", epoch, 0, job.Spec{Name: "x", GPUs: 2}},
		{"seconds since 1970", head + "ReqTRES\n7|x|amy|1704067260|60|COMPLETED|gres/gpu=2\n", epoch, time.Minute, job.Spec{Name: "x", GPUs: 2}},
		{"Latin-1", head + "ReqTRES\n7|M\xfcller|amy|1704067200|60|COMPLETED|gres/gpu=2\n", epoch, 0, job.Spec{Name: "Müller", GPUs: 2}},
		{"separator in the name", head + "ReqTRES\n7|a|b|c|amy|1704067200|60|COMPLETED|gres/gpu=2\n", epoch, 0, job.Spec{Name: "a|b|c", GPUs: 2}},
		{"separator in one of two names", "JobID|JobName|User|State|Comment|Submit|ElapsedRaw|ReqTRES\n7|a|b|amy|COMPLETED|c|1704067200|60|gres/gpu=2\n", epoch, 0, job.Spec{Name: "a|b", GPUs: 2}},
		{"quote in the name", head + "ReqTRES\n7|\"a|amy|1704067200|60|COMPLETED|gres/gpu=2\n", epoch, 0, job.Spec{Name: `"a`, GPUs: 2}},
		{"quoted CSV", "JobID,JobName,User,Submit,ElapsedRaw,ReqTRES\n7,x,amy,1704067200,60,\"cpu=4,gres/gpu=2\"\n", epoch, 0, job.Spec{Name: "x", GPUs: 2, CPUs: 4}},
		{"ReqGRES of each node", head + "NNodes|ReqGRES\n7|x|amy|1704067200|60|COMPLETED|3|gpu:a100:2\n", epoch, 0, job.Spec{Name: "x", GPUs: 6, GPUTypes: []cluster.GPUType{"a100"}}},
		{"AllocGRES", head + "AllocGRES\n7|x|amy|1704067200|60|COMPLETED|gpu:v100:2(S:0-1),lic:1\n", epoch, 0, job.Spec{Name: "x", GPUs: 2, GPUTypes: []cluster.GPUType{"v100"}}},
		{"type from AllocTRES", head + "ReqTRES|AllocTRES\n7|x|amy|1704067200|60|COMPLETED|gres/gpu=2|gres/gpu=2,gres/gpu:h100=2\n", epoch, 0, job.Spec{Name: "x", GPUs: 2, GPUTypes: []cluster.GPUType{"h100"}}},
		{"type from ReqTRES first", head + "ReqTRES|AllocTRES\n7|x|amy|1704067200|60|COMPLETED|gres/gpu:a100=2,gres/gpu=2|gres/gpu:h100=8\n", epoch, 0, job.Spec{Name: "x", GPUs: 2, GPUTypes: []cluster.GPUType{"a100"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			jobs, _ := mustRead(t, tc.text, tc.o)
			tc.spec.ID, tc.spec.User, tc.spec.Adaptivity = "7", "amy", job.Rigid
			want := workload.Arrival{At: tc.at, Duration: time.Minute, Spec: tc.spec}
			if diff := cmp.Diff(want, jobs["7"]); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}

// What a replay cannot show is counted: in the real history, a node given whole, a task of an array
// with a limit, and a job that was requeued, whose last submission sacct shows. A job that never ran is
// dropped and does not set time zero.
func TestCounted(t *testing.T) {
	_, s := mustRead(t, sample(t, "epoch.txt"), parse.Options{})
	for word, want := range map[string]int{"whole nodes": 1, "could not start": 2, "never ran (CANCELLED)": 1, "0 GPUs": 1, "FAILED": 1, "ended as CANCELLED": 1} {
		if got := noted(s, word); got != want {
			t.Errorf("%q noted %d times, want %d", word, got, want)
		}
	}
	const text = "JobID|Submit|ElapsedRaw|ReqTRES\n1|1704067200|0|gres/gpu=1\n2|1704067260|60|gres/gpu=1\n"
	if jobs, _ := mustRead(t, text, parse.Options{}); len(jobs) != 1 || jobs["2"].At != 0 {
		t.Errorf("jobs %+v, want job 2 at time zero", jobs)
	}
}

// Local times without a zone are taken as UTC, and that is said; with a zone nothing is.
func TestZoneSaid(t *testing.T) {
	const text = "JobID|Submit|ElapsedRaw|ReqTRES\n7|2024-01-01T01:00:00|60|gres/gpu=2\n"
	if _, s := mustRead(t, text, parse.Options{}); noted(s, "without a zone") != 1 {
		t.Errorf("notes %v, want one of times without a zone", s.Notes)
	}
	if _, s := mustRead(t, text, parse.Options{Zone: time.UTC}); noted(s, "without a zone") != 0 {
		t.Errorf("notes %v, want none of times without a zone", s.Notes)
	}
}

// What cannot be read is refused in one line, with the command that exports it.
func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"human", sample(t, "human.txt"), "w:1: a table with truncated columns"},
		{"no header", sample(t, "noheader.txt"), "w:1: rows without a header"},
		{"commas", sample(t, "comma.txt"), "w:2: 25 fields, want 15 (commas inside ReqTRES and AllocTRES are not quoted)"},
		{"columns", "JobID|Submit|ReqTRES\n7|1704067200|gres/gpu=1\n", "w:1: no column elapsedraw or elapsed or start"},
		{"two names", "JobID|JobName|Comment|Submit|ElapsedRaw|ReqTRES\n7|a|b|c|1704067200|60|gres/gpu=1\n", "w:2: 7 fields, want 6: a name has the separator in it"},
	} {
		_, _, err := read(tc.text, parse.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || !strings.HasSuffix(err.Error(), Export) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s ... %s", tc.name, err, tc.want, Export)
		}
		if !Sniff([]byte(tc.text)) {
			t.Errorf("%s: not recognised", tc.name)
		}
	}
}

// Errors have their place, and JSON that is cut off or of wrong types is one.
func TestJSONErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"{\"jobs\": [\n{\"job_id\": 0}]}", `w:2: job_id 0, want a number of a job`},
		{"{\"jobs\": [\n{\"job_id\": 1}]}", `w:2: time.submission 0, want seconds since 1970`},
		{"{\"jobs\": [\n{\"job_id\": 1, \"name\": 3}]}", `w:2: name is a JSON number`},
		{"{\"jobs\": [\n{\"job_id\": 1", `w:2: truncated`},
		{"{\"meta\": {}, \"jobs\": 3}", `w:1: 3, want [`},
		{"{\"meta\": {}}", `w:1: the file ends, want at least one job`},
	} {
		if _, _, err := read(tc.text, parse.Options{}); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %s", tc.text, err, tc.want)
		}
	}
}
