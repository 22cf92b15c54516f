package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// seenOf returns what a history says of a job, in a line, and its nodes.
func seenOf(o *parse.Observed) string {
	when := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format("15:04:05")
	}
	return strings.Join([]string{string(o.Arrival.Spec.ID), o.Arrival.Spec.Queue, when(o.Submitted), when(o.Started), when(o.Ended), o.Arrival.Duration.String()}, " ")
}

// The log of Philly is a history: a job waits until its first attempt starts and ends with its last one, and the nodes are the machines
// that are named. A job of which an attempt has no start or no end is told of; one that still ran has no end.
func TestPhillyHistory(t *testing.T) {
	attempt := func(start, end, ip, gpus string) string {
		return `{"start_time": ` + start + `, "end_time": ` + end + `, "detail": [{"ip": "` + ip + `", "gpus": [` + gpus + `]}]}`
	}
	entry := func(id, submitted string, attempts ...string) string {
		return `{"status": "Pass", "vc": "v", "jobid": "` + id + `", "user": "u", "submitted_time": "2017-10-09 ` + submitted + `", "attempts": [` + strings.Join(attempts, ", ") + `]}`
	}
	at := func(clock string) string { return `"2017-10-09 ` + clock + `"` }
	log := "[" + strings.Join([]string{
		entry("a", "07:00:00", attempt(at("07:10:00"), at("07:20:00"), "m1", `"gpu0"`), attempt(at("07:20:30"), at("08:20:30"), "m2", `"gpu6", "gpu7"`)),
		entry("b", "07:05:00", attempt(at("07:05:00"), at("07:06:00"), "m3", `"gpu0", "gpu1"`), attempt(at("07:30:00"), "null", "m3", `"gpu0", "gpu1"`)),
		entry("c", "07:06:00", attempt("null", at("07:30:00"), "m2", `"gpu3"`), attempt(at("07:40:00"), at("07:50:00"), "m2", `"gpu3"`)),
		entry("d", "07:07:00"),
		entry("e", "07:09:00", attempt(at("07:08:58"), at("07:10:00"), "m1", `"gpu0"`)),
	}, ",") + "]"
	var told parse.Summary
	h, err := ReadHistory(strings.NewReader(log), "", parse.Options{Summary: &told})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range h.Jobs {
		got = append(got, seenOf(&h.Jobs[i]))
	}
	want := []string{
		"a v 07:00:00 07:10:00 08:20:30 1h10m0s",
		"b v 07:05:00 07:05:00 - 1m0s",
		"c v 07:06:00 - - 10m0s",
		"e v 07:09:00 07:09:00 07:10:00 1m2s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if h.Format != "philly" || h.Cluster != "gpu:1x1,gpu:1x2,gpu:1x8" || h.Taken.Format("15:04:05") != "08:20:30" {
		t.Errorf("history of %s on %s until %v", h.Format, h.Cluster, h.Taken)
	}
	notes := map[string]int{}
	for _, n := range told.Notes {
		notes[n.Text] = n.Count
	}
	if diff := cmp.Diff(map[string]int{
		"jobs with several attempts, simulated with their total running time": 3,
		"attempts without start or end in the log, ignored":                   2,
		"jobs without a start time in the log, not compared":                  1,
		"jobs that started before their submission, counted as not waiting":   1,
		parse.DropNoGPUs: 1,
	}, notes); diff != "" {
		t.Error(diff)
	}
}

// A machine of a log has a number of GPUs that a cluster may have.
func TestPhillyHistory_machine(t *testing.T) {
	log := strings.Replace(phillyJSONText, `"gpu0", "gpu1"]}, {"ip": "m2"`, `"gpu0", "gpu4000"]}, {"ip": "m2"`, 1)
	if _, err := ReadHistory(strings.NewReader(log), "", parse.Options{}); err == nil || !strings.Contains(err.Error(), `machine "m1" with 4001 GPUs, want at most 1024`) {
		t.Errorf("got %v", err)
	}
}

// Who gives what Slurm says of its nodes is told so.
func TestOpen_nodes(t *testing.T) {
	for _, text := range []string{"NodeName=n1 Arch=x86_64\n", "NODES GRES\n4 gpu:8\n"} {
		if _, err := Open(strings.NewReader(text), "", parse.Options{}); err == nil || !strings.Contains(err.Error(), "not of jobs; pass it with --slurm-nodes") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The log of Helios is a history where it says when jobs started. Tables that do not are none, of either, and their format is told.
func TestHeliosHistory(t *testing.T) {
	h, err := ReadHistory(strings.NewReader(heliosText), "", parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Jobs) != 2 || h.Jobs[0].Nodes != 1 {
		t.Fatalf("%+v, want 2 jobs of a node", h.Jobs)
	}
	for i, want := range []string{"100 vc7 00:10:00 00:10:02 01:10:02 1h0m0s", "101 vc7 00:00:00 00:00:00 00:00:30 30s"} {
		if got := seenOf(&h.Jobs[i]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for format, text := range map[string]string{"philly": phillyText, "helios": "job_id,gpu_num,submit_time,duration\n100,8,2020-04-01 00:10:00,3600\n", "sia": "name,time,application,num_replicas,batch_size\n"} {
		var told parse.Summary
		if h, err := ReadHistory(strings.NewReader(text), "", parse.Options{Summary: &told}); h != nil || err != nil || told.Format != format {
			t.Errorf("%s: %+v, %v, format %q; want no history", format, h, err, told.Format)
		}
	}
}
