package view

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// recorded is what a real Slurm said: see live/slurm/client/testdata.
func recorded(t testing.TB) *Look {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "client", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	l := new(Look)
	var errs [5]error
	l.Jobs, errs[0] = client.ParseJobs(read("squeue.json"))
	l.Nodes, errs[1] = client.ParseNodes(read("sinfo.json"))
	l.Partitions, errs[2] = client.ParsePartitions(read("partitions.txt"))
	l.Reservations, errs[3] = client.ParseReservations(read("reservations.txt"))
	l.QOS, errs[4] = client.ParseQOS(read("qos.txt"))
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	for i := range l.Jobs { // the recording was made a second after the last start
		if s := startOf(&l.Jobs[i]); s.After(l.At) {
			l.At = s.Add(time.Second)
		}
	}
	return l
}

// find returns a job of a report.
func find(t *testing.T, r *status.Status, id job.ID) *status.Job {
	t.Helper()
	for i := range r.Jobs {
		if r.Jobs[i].ID == id {
			return &r.Jobs[i]
		}
	}
	t.Fatalf("no job %s", id)
	return nil
}

// TestStatusOf: why the jobs of a recording wait, with what makes it so.
func TestStatusOf(t *testing.T) {
	r := StatusOf(recorded(t), nil, "not asked")
	for id, want := range map[job.ID]struct{ code, why, unblock string }{
		"3_[2-9%2]": {"JobArrayTaskLimit", ": 2 at once", "ArrayTaskThrottle"},
		"6":         {"JobHeldUser", "holds it", "release"},
		"7":         {"BeginTime", ": not before 2026-", "StartTime=now"},
		"8":         {"Dependency", ": afterany:1(unfulfilled)", "the end of that job"},
		"11":        {"Resources", "it is next and needs 8 h100 GPUs on 1 node; no node has more than 6 free", "fewer GPUs"},
		"12":        {"QOSMaxGRESPerUser", "QOS small allows a user 4 GPUs; 0 are held, and this job needs 5: more than the limit, so it can never start", "ask for fewer GPUs"},
	} {
		j := find(t, r, id)
		if j.Reason != want.code || !strings.Contains(j.Sentence, want.why) || !strings.Contains(j.Unblock, want.unblock) {
			t.Errorf("job %s: %s: %s; %s, want %v", id, j.Reason, j.Sentence, j.Unblock, want)
		}
	}
	l := recorded(t)
	for i := range l.Nodes {
		l.Nodes[i].Used, l.Nodes[i].UsedCPUs = nil, l.Nodes[i].CPUs
	}
	if j := find(t, StatusOf(l, nil, "not asked"), "11"); !strings.HasSuffix(j.Sentence, "too few free CPUs or too little free memory") {
		t.Errorf("job 11 on nodes with free GPUs and no free CPUs: %s", j.Sentence)
	}
	if j := find(t, r, "11"); j.Start.Late.IsZero() || !strings.Contains(j.Start.Source, "time limits") {
		t.Errorf("job 11 starts %+v, want Slurm's plan", j.Start)
	}
	if j := find(t, r, "8"); !j.Start.Late.IsZero() || j.Start.Unknown == "" {
		t.Errorf("job 8 starts %+v, want that it is not known", j.Start)
	}
	if j := find(t, r, "1"); j.Reason != "" || j.End.Late.Sub(j.Started) != 30*time.Minute || j.End.Source != "its time limit" || j.End.Unknown != "not asked" {
		t.Errorf("job 1: %+v, want its time limit", j)
	}
	for _, ended := range []job.ID{"10", "14"} {
		for i := range r.Jobs {
			if r.Jobs[i].ID == ended {
				t.Errorf("job %s has ended and is shown", ended)
			}
		}
	}
}

// TestTypes: each GPU of the recording is counted once.
func TestTypes(t *testing.T) {
	r := StatusOf(recorded(t), nil, "")
	want := []status.GPUs{{Total: 4, Held: 2}, {Type: "a100", Total: 24, Held: 16, Unusable: 8}, {Type: "h100", Total: 16, Held: 6}}
	if len(r.GPUs) != len(want) {
		t.Fatalf("%+v, want %+v", r.GPUs, want)
	}
	for i := range want {
		if r.GPUs[i] != want[i] {
			t.Errorf("%+v, want %+v", r.GPUs[i], want[i])
		}
	}
	idle := 0
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Cause != "" {
			idle += n.GPUs - n.Used
		}
	}
	if idle != 2+8+10 {
		t.Errorf("%d GPUs are idle, want 20", idle)
	}
}

// at returns a node.
func at(r *status.Status, node string) status.Node {
	for i := range r.Nodes {
		if r.Nodes[i].Name == node {
			return r.Nodes[i]
		}
	}
	return status.Node{}
}

// TestIdle: each cause, brought about from the recording.
func TestIdle(t *testing.T) {
	for name, c := range map[string]struct {
		node   string
		change func(*Look, *client.Node)
		want   cause
		says   string
	}{
		"absent":     {"gone1", func(*Look, *client.Node) {}, down, "unknown"},
		"drained":    {"h1", func(_ *Look, n *client.Node) { n.Flags, n.Reason = []string{"DRAIN"}, "bad fan" }, Drained, "bad fan"},
		"rebooting":  {"h1", func(_ *Look, n *client.Node) { n.Flags = []string{"REBOOT_ISSUED"} }, down, "reboot"},
		"reserved":   {"h2", func(l *Look, _ *client.Node) { l.Reservations[0].State = "ACTIVE" }, reserved, "maint for maintenance until"},
		"fragmented": {"h1", func(*Look, *client.Node) {}, fragmented, "6 free; job 11, the smallest that waits, needs 8"},
		"no jobs":    {"h1", func(l *Look, _ *client.Node) { l.Jobs = nil }, unwanted, "no job waits"},
		"limited":    {"h2", func(*Look, *client.Node) {}, unwanted, "none may start"},
		"CPUs":       {"h1", func(_ *Look, n *client.Node) { n.Used, n.UsedCPUs = nil, n.CPUs }, CPUs, "0 CPUs are free; job 11 needs 1"},
		"memory":     {"h1", func(_ *Look, n *client.Node) { n.Used, n.UsedMemory = nil, n.Memory-1 }, Memory, "0 MiB"},
		"planned":    {"h1", func(_ *Look, n *client.Node) { n.Used, n.Flags = nil, []string{"PLANNED"} }, planned, "higher priority"},
		"wanted":     {"h1", func(_ *Look, n *client.Node) { n.Used, n.Flags = nil, nil }, wanted, "job 11 would fit"},
		"untyped":    {"u1", func(l *Look, _ *client.Node) { l.Jobs = nil }, unwanted, ""},
	} {
		l := recorded(t)
		for i := range l.Nodes {
			if l.Nodes[i].Name == c.node {
				c.change(l, &l.Nodes[i])
			}
		}
		if got := at(StatusOf(l, nil, ""), c.node); cause(got.Cause) != c.want || !strings.Contains(got.Idle, c.says) {
			t.Errorf("%s: %s is idle because %q: %s, want %s with %q", name, c.node, got.Cause, got.Idle, c.want, c.says)
		}
	}
}

// TestClocks: a Look from a machine whose clock is behind slurmctld's is refused.
func TestClocks(t *testing.T) {
	l := recorded(t)
	if err := l.check(); err != nil {
		t.Error(err)
	}
	l.At = l.At.Add(-time.Hour)
	if err := l.check(); !errors.Is(err, ErrClocks) {
		t.Errorf("%v, want that the clocks are apart", err)
	}
}

// TestHistory: the end of a job comes from runs like it that took longer than it has run.
func TestHistory(t *testing.T) {
	var runs []client.Run
	for minutes := range 20 {
		runs = append(runs, client.Run{User: "ann", Name: "train", State: client.Completed, Held: client.GPUs{"a100": 2}, Elapsed: time.Duration(minutes+1) * time.Minute})
	}
	runs = append(runs, client.Run{User: "ann", Name: "train", State: client.Failure, Held: client.GPUs{"a100": 2}, Elapsed: time.Hour})
	h := HistoryOf(runs)
	start := time.Unix(1_800_000_000, 0)
	j := &client.Job{User: "ann", Name: "train", GPUs: client.GPUs{"": 2}, Start: start, End: start.Add(time.Hour), Limit: time.Hour}
	e := h.end(j, start.Add(10*time.Minute+time.Second), "")
	if e.Early.Sub(start) != 11*time.Minute || e.Late.Sub(start) != 19*time.Minute || !strings.Contains(e.Source, "10 similar past runs") {
		t.Errorf("after 10 minutes: %v to %v, %s, want 11 to 19 minutes", e.Early.Sub(start), e.Late.Sub(start), e.Source)
	}
	if e := h.end(j, start.Add(17*time.Minute), ""); !e.Early.IsZero() || e.Late != j.End || !strings.Contains(e.Unknown, "4 of 20 similar past runs") {
		t.Errorf("after 17 minutes: %+v, want the time limit alone", e)
	}
	j.End = start.Add(15 * time.Minute)
	if e := h.end(j, start, ""); e.Late != j.End {
		t.Errorf("the end may be %v, after the time limit", e.Late.Sub(start))
	}
	j.Unlimited, j.User = true, "bob"
	if e := h.end(j, start, ""); !e.Late.IsZero() || e.Unknown == "" {
		t.Errorf("without runs and limit: %+v, want that it is not known", e)
	}
}

// TestMeanings: each code has one meaning, and the first that fits is the closest.
func TestMeanings(t *testing.T) {
	for i, m := range meanings {
		if m.Why == "" || m.Unblock == "" {
			t.Errorf("%s: no words", m.Code)
		}
		begin, many := strings.CutSuffix(m.Code, "*")
		for _, later := range meanings[i+1:] {
			if later.Code == m.Code || many && strings.HasPrefix(later.Code, begin) {
				t.Errorf("%s stands before %s, which it hides", m.Code, later.Code)
			}
		}
	}
	for code, want := range map[string]string{
		"ReqNodeNotAvail, UnavailableNodes:a1":     "ReqNodeNotAvail",
		"ReqNodeNotAvail,_UnavailableNodes:a[1-2]": "ReqNodeNotAvail",
		"QOSMaxMemoryPerUser":                      "QOSMax*",
		"AssocGrpCPUMinutesLimit":                  "AssocGrp*",
		"job_requeued_in_held_state":               "JobHeldUser",
		"":                                         "None",
		"SomethingNew":                             "",
	} {
		if got := meaningOf(code).Code; got != want {
			t.Errorf("%q means %q, want %q", code, got, want)
		}
	}
}

// TestMeanings_page: the guide has a row for each code, with the same words.
func TestMeanings_page(t *testing.T) {
	var codes []string
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "docs", "guide", "slurm.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range meanings {
		codes = append(codes, m.Code)
		if row := "| `" + m.Code + "` | " + m.Why + " | " + m.Unblock + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("docs/guide/slurm.md has no row\n%s", row)
		}
	}
	tree.Check(t, "guide/slurm#Reason codes", codes)
}
