package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// read returns the arrivals and the summary of a text, its format unnamed.
func read(t *testing.T, text string, o parse.Options) ([]workload.Arrival, *parse.Summary) {
	t.Helper()
	o.Summary = new(parse.Summary)
	seq, err := Open(strings.NewReader(text), "", o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse.Collect(seq)
	if err != nil && strings.Contains(err.Error(), swfGPUs) {
		seq, err = Open(strings.NewReader(text), swfGPUs, o)
		if err != nil {
			t.Fatal(err)
		}
		all, err = parse.Collect(seq)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all, o.Summary
}

// arrivals is what each sample holds.
var arrivals = map[string][]workload.Arrival{
	"sia/columns in any order": {
		{At: 107 * time.Second, Application: "cifar10", Spec: job.Spec{ID: "cifar10-0", GPUs: 6, BatchSize: 2048, Adaptivity: job.Adaptive}},
		{At: 110661836 * time.Microsecond, Application: "deepspeech2", Spec: job.Spec{ID: "deepspeech2-1", GPUs: 8, BatchSize: 320, Adaptivity: job.Adaptive}},
	},
	"sia/category": {
		{At: 0, Application: "cifar10", Spec: job.Spec{ID: "a", GPUs: 2, BatchSize: 128, Adaptivity: job.Adaptive}},
		{At: 1 * time.Second, Application: "bert", Spec: job.Spec{ID: "b", GPUs: 4, BatchSize: 48, Adaptivity: job.StrongScaling}},
		{At: 2 * time.Second, Application: "bert", Spec: job.Spec{ID: "c", GPUs: 4, BatchSize: 48, Adaptivity: job.Rigid}},
		{At: 3 * time.Second, Application: "bert", Spec: job.Spec{ID: "d", GPUs: 4, BatchSize: 48, Adaptivity: job.Adaptive}},
	},
	"philly/csv": {
		{At: 7889 * time.Second, Duration: 943226 * time.Second, Spec: job.Spec{ID: "job-0", Queue: "14", GPUs: 8, Adaptivity: job.Rigid}},
		{At: 21328 * time.Second, Duration: 1792395 * time.Second, Spec: job.Spec{ID: "job-1", Queue: "1", GPUs: 4, Adaptivity: job.Rigid}},
	},
	"philly/lyra": {
		{At: 8 * time.Second, Duration: 202 * time.Second, Bound: true, Spec: job.Spec{ID: "0", GPUs: 16, WorkerGPUs: 8, NoCheckpoint: true, Adaptivity: job.Rigid}},
		{At: 207 * time.Second, Duration: 6745 * time.Second, Heterogeneous: true, Spec: job.Spec{ID: "1", GPUs: 8, MinGPUs: 8, MaxGPUs: 16, WorkerGPUs: 2, Resizes: true, Adaptivity: job.StrongScaling}},
		{At: 0, Duration: 24304 * time.Second, Bound: true, Spec: job.Spec{ID: "50390", Queue: "warm", GPUs: 4, WorkerGPUs: 2, NoCheckpoint: true, Adaptivity: job.Rigid}},
	},
	"philly/json": {
		{At: 532 * time.Second, Duration: time.Hour, Spec: job.Spec{ID: "application_1", User: "u1", Queue: "ee9e8c", GPUs: 3, Adaptivity: job.Rigid}},
		{At: 0, Duration: 90 * time.Second, Spec: job.Spec{ID: "application_2", User: `u"2]`, Queue: "6214e9", GPUs: 2, Adaptivity: job.Rigid}},
	},
	"helios/log": {
		{At: 10 * time.Minute, Duration: time.Hour, Spec: job.Spec{ID: "100", User: "u1", Queue: "vc7", GPUs: 8, CPUs: 32, Adaptivity: job.Rigid}},
		{At: 0, Duration: 30 * time.Second, Spec: job.Spec{ID: "101", User: "u2", Queue: "vc7", GPUs: 1, CPUs: 4, Adaptivity: job.Rigid}},
	},
	"alibaba/pods": {
		{At: 9437497 * time.Second, Duration: 1332357 * time.Second, Spec: job.Spec{ID: "openb-pod-0017", Queue: "Burstable", GPUs: 8, CPUs: 88, Memory: 320 << 30, Adaptivity: job.Rigid}},
		{At: 9679175 * time.Second, Duration: 294651 * time.Second, Spec: job.Spec{ID: "openb-pod-0022", Queue: "BE", GPUs: 1, CPUs: 4, Memory: 15258 << 20, GPUTypes: []cluster.GPUType{"V100M16", "V100M32"}, Adaptivity: job.Rigid}},
	},
	"alibaba-v2026/jobs": {
		{At: 0, Duration: time.Minute, Spec: job.Spec{ID: "1", User: "o1", Queue: "HP", GPUs: 1, CPUs: 20, GPUTypes: []cluster.GPUType{"A10"}, Adaptivity: job.Rigid, NonPreemptive: true}},
		{At: time.Minute, Duration: 30 * time.Second, Spec: job.Spec{ID: "2", User: "o2", Queue: "Spot", GPUs: 16, WorkerGPUs: 8, CPUs: 30, GPUTypes: []cluster.GPUType{"A100"}, Adaptivity: job.Rigid}},
	},
	"gavel/7 columns": {
		{At: 0, Application: "Transformer (batch size 128)", Spec: job.Spec{ID: "job-0", GPUs: 1, BatchSize: 128, Target: 95121 * 128, Weight: 1, Adaptivity: job.Rigid}},
		{At: 343918 * time.Second, Application: "A3C", Spec: job.Spec{ID: "job-1", GPUs: 4, BatchSize: 4, Target: 1934260, Weight: 1, Adaptivity: job.Rigid}},
	},
	"gavel/10 columns": {
		{At: 7 * time.Second, Application: "ResNet-18 (batch size 32)", Spec: job.Spec{ID: "job-0", GPUs: 2, BatchSize: 64, Target: 347387 * 32, Weight: 5, Adaptivity: job.Rigid}},
	},
	"gavel/csv": {
		{At: 0, Application: "ResNet-18 (batch size 128)", Spec: job.Spec{ID: "job-0", GPUs: 4, BatchSize: 512, Target: 925982 * 128, Weight: 1, Adaptivity: job.Rigid}},
	},
	"shockwave/12 columns": {
		{At: 12 * time.Second, Application: "LM (batch size 10)", Duration: 1418 * time.Second, Spec: job.Spec{ID: "job-0", Class: "LM (batch size 10)/gns", GPUs: 2, BatchSize: 20, Target: 1345830, Weight: 1, Schedule: job.BatchSchedule{Mode: job.GNS}, Adaptivity: job.Rigid}},
	},
	"shockwave/csv": {
		{At: 0, Application: "LM (batch size 10)", Duration: 1418 * time.Second, Spec: job.Spec{ID: "0", Class: "LM (batch size 10)/gns", GPUs: 1, BatchSize: 10, Target: 1345830, Weight: 1, Schedule: job.BatchSchedule{Mode: job.GNS}, Adaptivity: job.Rigid}},
		{At: 3 * time.Second, Application: "LM (batch size 5)", Duration: 14 * time.Second, Spec: job.Spec{ID: "1", Class: "LM (batch size 5)/static", GPUs: 1, BatchSize: 5, Target: 50, Weight: 1, Schedule: job.BatchSchedule{Mode: job.Static}, Adaptivity: job.Rigid}},
	},
	"synergy/csv": {
		{At: time.Millisecond, Application: "alexnet", Spec: job.Spec{ID: "0", GPUs: 1, Target: 3349, Adaptivity: job.Rigid}},
		{At: 126 * time.Second, Application: "gnmt", Spec: job.Spec{ID: "1", GPUs: 4, Target: 26435 * 4, Adaptivity: job.Rigid}},
	},
	"slurm/tres": {
		{At: 245 * time.Second, Duration: time.Hour, Spec: job.Spec{ID: "7_1", Name: "train", User: "amy", Queue: "gpu", GPUs: 4, CPUs: 16, Memory: 64 << 30, GPUTypes: []cluster.GPUType{"a100"}, Adaptivity: job.Rigid}},
		{At: 0, Duration: time.Minute, Spec: job.Spec{ID: "8", Name: "eval", User: "bob", Queue: "gpu", GPUs: 2, CPUs: 1, Memory: 512 << 20, GPUTypes: []cluster.GPUType{"h100"}, Adaptivity: job.Rigid}},
	},
	"slurm/elapsed": {
		{At: 0, Duration: 26*time.Hour + 3*time.Minute + 4*time.Second, Spec: job.Spec{ID: "9", GPUs: 1, Adaptivity: job.Rigid}},
		{At: 0, Duration: 150 * time.Second, Spec: job.Spec{ID: "10", GPUs: 1, Adaptivity: job.Rigid}},
	},
	"slurm/json": {
		{At: 5 * time.Second, Duration: time.Hour, Spec: job.Spec{ID: "7", Name: "train", User: "amy", Queue: "gpu", GPUs: 4, GPUTypes: []cluster.GPUType{"a100"}, Adaptivity: job.Rigid}},
		{At: 0, Duration: time.Minute, Spec: job.Spec{ID: "8", GPUs: 2, Adaptivity: job.Rigid}},
	},
	"kubernetes/lists": {
		{At: 10 * time.Second, Duration: time.Minute, Spec: job.Spec{ID: "u1", Name: "nlp/bert", User: "nlp", Queue: "q", GPUs: 8, WorkerGPUs: 4, CPUs: 3, Memory: 4 << 30, GPUTypes: []cluster.GPUType{"nvidia-h200"}, Adaptivity: job.Rigid}},
		{At: 0, Duration: time.Minute, Spec: job.Spec{ID: "u3", Name: "cv/vit", User: "cv", GPUs: 12, WorkerGPUs: 2, Adaptivity: job.Rigid}},
	},
	"slurm/supercloud": {
		{At: 0, Duration: time.Hour, Spec: job.Spec{ID: "4074251073298", User: "93371910", Queue: "gaia", GPUs: 2, CPUs: 40, Memory: 170000 << 20, Target: 365 * 24 * 3600, GPUTypes: []cluster.GPUType{"volta"}, Adaptivity: job.Rigid}},
	},
	"alibaba-pai/tasks": {
		{At: 493449 * time.Second, Duration: 100 * time.Second, Spec: job.Spec{ID: "j1", GPUs: 2, WorkerGPUs: 1, CPUs: 12, Memory: 2 * 31457280000, GPUTypes: []cluster.GPUType{"V100"}, Adaptivity: job.Rigid}},
		{At: 0, Duration: 60 * time.Second, Spec: job.Spec{ID: "j2", GPUs: 1, CPUs: 1, Memory: 8 << 30, GPUTypes: []cluster.GPUType{"MISC"}, Adaptivity: job.Rigid}},
	},
	"swf/log": {
		{At: 10 * time.Second, Duration: 100 * time.Second, Spec: job.Spec{ID: "1", User: "7", Queue: "2", GPUs: 8, Target: 3600, Adaptivity: job.Rigid}},
		{At: 20 * time.Second, Duration: 60 * time.Second, Spec: job.Spec{ID: "2", GPUs: 2, Adaptivity: job.Rigid}},
	},
	"jsonl/lines": {
		{At: 1500 * time.Millisecond, Duration: 10 * time.Second, Spec: job.Spec{ID: "a", GPUs: 2, Adaptivity: job.AnyGPUType}},
		{Application: "bert", Spec: job.Spec{ID: "b", GPUs: 1, Batch: job.BatchLimits{Init: 12, Max: 384, LocalMax: map[cluster.GPUType]int{"t4": 12}}, Goal: job.BatchInference}},
	},
}

func TestReaders(t *testing.T) {
	for _, s := range samples {
		t.Run(s.format+"/"+s.name, func(t *testing.T) {
			got, summary := read(t, s.text, parse.Options{})
			if diff := cmp.Diff(arrivals[s.format+"/"+s.name], got); diff != "" {
				t.Errorf("arrivals (-want +got):\n%s", diff)
			}
			if summary.Format != s.format || summary.Jobs != len(got) || summary.Bad != 0 {
				t.Errorf("summary %+v, want format %s and %d jobs", summary, s.format, len(got))
			}
		})
	}
}

// The same trace in another file form reads the same.
func TestFileForms(t *testing.T) {
	forms := []struct {
		name   string
		change func(string) string
	}{
		{"byte order mark", func(s string) string { return "\uFEFF" + s }},
		{"CRLF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		{"no end of the last line", func(s string) string { return strings.TrimSuffix(s, "\n") }},
		{"blank lines at the end", func(s string) string { return s + "\n\r\n" }},
		{"gzip", packed},
	}
	for _, s := range samples {
		for _, f := range forms {
			t.Run(s.format+"/"+s.name+"/"+f.name, func(t *testing.T) {
				got, _ := read(t, f.change(s.text), parse.Options{})
				if diff := cmp.Diff(arrivals[s.format+"/"+s.name], got); diff != "" {
					t.Errorf("arrivals (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		text string
		want []parse.Note
	}{
		{phillyText, []parse.Note{{Text: parse.DropNoGPUs, Count: 1}, {Text: parse.DropNoTime, Count: 1}}},
		{lyraText, []parse.Note{{Text: "jobs already running at time 0, put into queue warm", Count: 1}}},
		{phillyJSONText, []parse.Note{{Text: "jobs with several attempts, simulated with their total running time", Count: 1}, {Text: parse.DropNoGPUs, Count: 1}, {Text: "attempts without start or end in the log, ignored", Count: 1}, {Text: parse.DropNoTime, Count: 1}}},
		{heliosText, []parse.Note{{Text: "jobs that ended as CANCELLED, simulated with their observed running time", Count: 1}, {Text: parse.DropNoGPUs, Count: 1}}},
		{alibabaText, []parse.Note{{Text: "pods with part of a GPU, counted as a whole GPU", Count: 1}, {Text: parse.DropNoGPUs, Count: 1}, {Text: "pods never scheduled dropped", Count: 1}}},
		{kubernetesText, []parse.Note{
			{Text: "jobs with pods missing from the dump, treated as starting with the other pods", Count: 1},
			{Text: parse.DropNoGPUs, Count: 1},
			{Text: "jobs without pods in the dump, treated as starting when Kueue admitted them", Count: 1},
			{Text: "failed jobs, simulated with their observed running time", Count: 1},
			{Text: "jobs of unknown GPU type, may run on any type", Count: 1},
		}},
		{paiText, []parse.Note{
			{Text: "workers with part of a GPU, counted as whole GPUs", Count: 1},
			{Text: noteNoSubmission, Count: 2},
			{Text: "jobs with a task that never started or never ended (Running) dropped", Count: 1},
		}},
		{swfText, []parse.Note{
			{Text: "jobs that were cancelled, simulated with their observed running time", Count: 1},
			{Text: "jobs that were submitted after another job, replayed at their time of submission", Count: 1},
			{Text: noteNoStart, Count: 1},
			{Text: "jobs that failed, simulated with their observed running time", Count: 1},
			{Text: parse.DropNoTime, Count: 1},
			{Text: "rows of parts of jobs (status 2, 3 or 4) left out: another row has the whole job", Count: 1},
		}},
		{alibabaSpotText, []parse.Note{{Text: parse.DropParts, Count: 1}}},
		{gavel7Text, []parse.Note{{Text: "jobs without a batch size in their type, counted as 1", Count: 1}}},
		{slurmText, []parse.Note{{Text: "rows with times without a zone, read as UTC (set it with --zone)", Count: 2}, {Text: "job steps dropped", Count: 1}, {Text: "jobs that ended as CANCELLED, simulated with their observed running time", Count: 1}}},
	}
	for _, tc := range tests {
		_, summary := read(t, tc.text, parse.Options{})
		t.Run(summary.Format, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, summary.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStart(t *testing.T) {
	start := time.Date(2020, 4, 1, 0, 5, 0, 0, time.UTC)
	got, summary := read(t, heliosText, parse.Options{Start: start})
	if len(got) != 1 || got[0].At != 5*time.Minute {
		t.Errorf("arrivals %+v, want the one at 00:10, 5 minutes after the start", got)
	}
	if want := []parse.Note{{Text: parse.DropEarlier, Count: 2}}; !cmp.Equal(want, summary.Notes) {
		t.Errorf("notes %v, want %v", summary.Notes, want)
	}
}

func TestLimit(t *testing.T) {
	for _, s := range samples {
		got, _ := read(t, s.text, parse.Options{Limit: 1})
		if len(got) != 1 {
			t.Errorf("%s/%s: %d arrivals, want 1", s.format, s.name, len(got))
		}
	}
}

// Permuting the rows of a trace that names its jobs changes nothing.
func TestSortedPermuted(t *testing.T) {
	for _, text := range []string{siaText, siaCategoryText, lyraText, heliosText, alibabaText, shockwaveCSVText, synergyText, slurmText, slurmElapsedText} {
		rows := strings.Split(strings.TrimSpace(text), "\n")
		permuted := []string{rows[0]}
		for i := len(rows) - 1; i > 0; i-- {
			permuted = append(permuted, rows[i])
		}
		sort := func(rows []string) []workload.Arrival {
			seq, err := Open(strings.NewReader(strings.Join(rows, "\n")), "", parse.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := parse.Sorted(seq)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		if diff := cmp.Diff(sort(rows), sort(permuted)); diff != "" {
			t.Errorf("arrivals of %q, permuted (-want +got):\n%s", rows[0], diff)
		}
	}
}
