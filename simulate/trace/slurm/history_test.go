package slurm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

const logged = "JobID|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|Priority|State|Reason|Reservation|ReqTRES|AllocTRES\n"

// A job is believed to take as long as its time limit, and has the priority of the log, in all ways
// in which they are written.
func TestLimitAndPriority(t *testing.T) {
	for _, tc := range []struct {
		limit            string
		target, priority float64
	}{
		{"00:10:00|4242", 600, 4242}, {"1-00:00:00|0", 86400, 0}, {"UNLIMITED|", 365 * 86400, 0}, {"Partition_Limit|7", 0, 7}, {"|", 0, 0},
	} {
		text := logged + "7|1704067200|1704067200|1704067260|1704067320|60|" + tc.limit + "|COMPLETED|None||gres/gpu=2|gres/gpu=2,node=1\n"
		jobs, _ := mustRead(t, text, parse.Options{})
		if s := jobs["7"].Spec; s.Target != tc.target || s.Priority != tc.priority {
			t.Errorf("%s: believed to take %v s, priority %v, want %v and %v", tc.limit, s.Target, s.Priority, tc.target, tc.priority)
		}
	}
	raw := strings.Replace(logged, "Timelimit", "TimelimitRaw", 1) + "7|1704067200|||1704067320|60|90||COMPLETED|||gres/gpu=2|\n"
	if jobs, _ := mustRead(t, raw, parse.Options{}); jobs["7"].Spec.Target != 5400 {
		t.Errorf("90 minutes: believed to take %v s, want 5400", jobs["7"].Spec.Target)
	}
	written, _ := mustRead(t, sample(t, "full.json"), parse.Options{})
	if s := written["7"].Spec; s.Target != 300 || s.Priority != 10025 {
		t.Errorf("job 7 of the JSON: believed to take %v s, priority %v, want 300 and 10025", s.Target, s.Priority)
	}
	for _, bad := range []string{"ten minutes|1", "00:10:00|high", "00:10:00|-1"} {
		text := logged + "7|1704067200|||1704067320|60|" + bad + "|COMPLETED|||gres/gpu=2|\n"
		if _, _, err := read(text, parse.Options{}); err == nil || !strings.HasPrefix(err.Error(), "w:2:") {
			t.Errorf("%s: error %v, want one with its place", bad, err)
		}
	}
}

// What is observed of a job: it waits from when it could start, and one that still runs has no end.
func TestHistory(t *testing.T) {
	const text = logged +
		"1|1704067200|1704067200|1704067260|1704067320|60|00:10:00|5|COMPLETED|None||gres/gpu=16|gres/gpu=16,node=2\n" +
		"2|1704067200|1704067230|1704067260|Unknown|90|00:10:00|5|RUNNING|Dependency||gres/gpu=1|gres/gpu=1,node=1\n" +
		"3|1704067200|1704067900|1704067260|1704067320|60|00:10:00|5|COMPLETED|None||gres/gpu=1|gres/gpu=8,node=1\n" +
		"4|1704067200|Unknown|Unknown|1704067320|60|00:10:00|5|COMPLETED|None||gres/gpu=1|gres/gpu=1,node=1\n"
	at := func(s int64) time.Time { return time.Unix(1704067200+s, 0).UTC() }
	type seen struct {
		GPUs, Nodes               int
		Submitted, Started, Ended time.Time
	}
	want := map[string]seen{
		"1": {16, 2, at(0), at(60), at(120)},
		"2": {1, 1, at(30), at(60), time.Time{}},
		"3": {8, 1, at(0), at(60), at(120)}, // it had a whole node, and became eligible again after it started
		"4": {1, 1, at(0), at(60), at(120)}, // its start is its end less its running time
	}
	jobs, err := History(strings.NewReader(text), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]seen{}
	for _, o := range jobs {
		got[string(o.Arrival.Spec.ID)] = seen{o.Arrival.Spec.GPUs, o.Nodes, o.Submitted, o.Started, o.Ended}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	s := new(parse.Summary)
	const bare = "JobID|Submit|ElapsedRaw|ReqTRES\n7|1704067200|60|gres/gpu=1\n"
	if jobs, err := History(strings.NewReader(bare), parse.Options{Summary: s}); err != nil || len(jobs) != 1 || !jobs[0].Started.IsZero() || noted(s, "without a start time") != 1 {
		t.Errorf("without starts: %+v, %v, notes %v", jobs, err, s.Notes)
	}
	if _, err := History(strings.NewReader("JobID|Submit\n"), parse.Options{}); err == nil {
		t.Error("no error for a log without columns")
	}
}

// What kept jobs back, and what is not replayed, is counted where the log says it.
func TestNotReplayed(t *testing.T) {
	const row = "1704067200|%E|1704067900|1704067960|60|00:00:30|5|%S|%R|%V|gres/gpu=1|gres/gpu=%G\n"
	text := logged
	for i, of := range []struct{ eligible, state, reason, reservation, had string }{
		{"1704067800", "COMPLETED", "Dependency", "", "1"},
		{"1704067800", "COMPLETED", "JobHeldUser", "", "1"},
		{"1704067800", "COMPLETED", "", "", "1"},
		{"1704067200", "COMPLETED", "QOSMaxGRESPerUser", "", "1"},
		{"1704067200", "NODE_FAIL", "Resources", "", "1"},
		{"1704067200", "COMPLETED", "Priority", "maint", "8"},
	} {
		text += string(rune('1'+i)) + "|" + strings.NewReplacer("%E", of.eligible, "%S", of.state, "%R", of.reason, "%V", of.reservation, "%G", of.had).Replace(row)
	}
	_, s := mustRead(t, text, parse.Options{})
	for word, want := range map[string]int{
		"(Dependency), counted from the time when they could": 1, "(JobHeldUser), counted": 1, "(a dependency, a hold,": 1, "waited for QOSMaxGRESPerUser, which is not replayed": 1,
		"NODE_FAIL": 1, "in a node reservation": 1, "whole nodes": 1, "longer than their time limit": 6, "Resources": 0, "for Priority": 0,
	} {
		if got := noted(s, word); got != want {
			t.Errorf("%q noted %d times, want %d: %v", word, got, want, s.Notes)
		}
	}
}

// TestHistory_of_partitions_and_QOS: a job keeps its partition as its queue, and a QOS other than the usual one is counted.
func TestHistory_of_partitions_and_QOS(t *testing.T) {
	const text = "JobID|Partition|QOS|Submit|Start|ElapsedRaw|State|ReqTRES\n" +
		"1|big|high|1704067200|1704067200|60|COMPLETED|gres/gpu=1\n" +
		"2|small|normal|1704067200|1704067200|60|COMPLETED|gres/gpu=1\n" +
		"3|small|high|1704067200|1704067200|60|COMPLETED|gres/gpu=1\n"
	var s parse.Summary
	jobs, err := History(strings.NewReader(text), parse.Options{Summary: &s})
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs, %v, want 3", len(jobs), err)
	}
	if got := jobs[0].Arrival.Spec.Queue + " " + jobs[1].Arrival.Spec.Queue; got != "big small" {
		t.Errorf("queues %s, want big small", got)
	}
	if len(s.Notes) != 1 || s.Notes[0].Count != 2 || !strings.HasPrefix(s.Notes[0].Text, "jobs of QOS high ") {
		t.Errorf("notes %+v, want 2 jobs of QOS high", s.Notes)
	}
}
