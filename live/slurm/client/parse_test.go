package client

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func labelled(t *testing.T, jobs []Job, err error) map[string]*Job {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*Job)
	for i := range jobs {
		all[jobs[i].Label()] = &jobs[i]
	}
	return all
}

// TestParseJobs: what a real Slurm said of its jobs.
func TestParseJobs(t *testing.T) {
	jobs, err := ParseJobs(sample(t, "squeue.json"))
	all := labelled(t, jobs, err)
	if len(all) != 16 {
		t.Fatalf("%d jobs, want 16", len(all))
	}
	first := all["1"]
	if first.Name != "two words" || first.Comment != "oxgang:elastic=2..16" || first.GPUs.String() != "a100:16" || first.PerNode["a100"] != 8 ||
		len(first.HeldGPUs) != 2 || first.HeldGPUs[1].Node != "a2" || len(first.HeldGPUs[1].Indices) != 8 || first.Limit.Minutes() != 30 {
		t.Errorf("job 1: %+v", first)
	}
	if rest := all["3_[2-9%2]"]; rest == nil || rest.Reason != "JobArrayTaskLimit" || rest.ID != 3 {
		t.Errorf("the tasks that wait: %+v", rest)
	}
	if task := all["3_1"]; task == nil || task.ID != 16 || task.State != Running || task.GPUs.Total() != 1 {
		t.Errorf("a task that runs: %+v", task)
	}
	if part := all["4+1"]; part == nil || part.ID != 5 || part.GPUs["h100"] != 1 {
		t.Errorf("the second component: %+v", part)
	}
	if held := all["6"]; !held.IsHeld() || held.GPUs.Total() != 4 || !held.Start.IsZero() {
		t.Errorf("a job that is held: %+v", held)
	}
	if after := all["8"]; after.Dependency != "afterany:1(unfulfilled)" {
		t.Errorf("a job with a dependency: %+v", after)
	}
	if pipe := all["10"]; pipe.Name != "pipe|name" || !pipe.Unlimited || pipe.Nice != 5 || pipe.Holds() || pipe.HeldGPUs != nil {
		t.Errorf("a job without a limit: %+v", pipe)
	}
	if line := all["11"]; line.ReqNodes[0] != "h1" || line.Excluded[0] != "h2" {
		t.Errorf("a job that wants a node: %+v", line)
	}
	if ended := all["14"]; ended.State != Failure || ended.ExitCode != 3 || ended.Signal != 0 {
		t.Errorf("a job that failed: %+v", ended)
	}
	if again := all["13"]; again.Restarts != 1 || !again.IsHeld() {
		t.Errorf("a job that was requeued: %+v", again)
	}
}

// fromText has fields that text does not have, or has in other words: flags of all kinds, and what a requeue says.
var fromText = cmp.Options{cmpopts.IgnoreFields(Job{}, "Flags", "Reason"), cmpopts.EquateEmpty()}

// TestParseJobs_versions: each data parser, and text, say the same of the same jobs.
func TestParseJobs_versions(t *testing.T) {
	want, err := ParseJobs(sample(t, "squeue.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"37", "39", "40", "41", "45"} {
		got, err := ParseJobs(sample(t, "made-squeue-v0.0."+version+".json"))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("v0.0.%s: %v\n%s", version, err, diff)
		}
	}
	for _, file := range []string{"scontrol-job.txt", "scontrol-job-plain.txt"} {
		options := fromText
		if file == "scontrol-job-plain.txt" { // -d tells what each node gives
			options = append(options, cmpopts.IgnoreFields(Job{}, "HeldGPUs"))
		}
		got, err := parseJobsText(sample(t, file))
		if diff := cmp.Diff(want, got, options...); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", file, err, diff)
		}
	}
}

// TestParseNodes_versions: each data parser, and text, say the same of the same nodes.
func TestParseNodes_versions(t *testing.T) {
	want, err := ParseNodes(sample(t, "sinfo.json"))
	if err != nil || len(want) != 7 {
		t.Fatalf("%d nodes, %v, want 7", len(want), err)
	}
	for _, version := range []string{"39", "40", "45"} {
		got, err := ParseNodes(sample(t, "made-nodes-v0.0."+version+".json"))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("v0.0.%s: %v\n%s", version, err, diff)
		}
	}
	for _, file := range []string{"scontrol-node.txt", "scontrol-node-bare.txt"} {
		got, err := ParseNodesText(sample(t, file))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Node{}, "Flags")); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", file, err, diff)
		}
		for i := range got {
			n := &got[i]
			if usable := n.Name != "c1" && n.Name != "gone1"; n.Usable() != usable || want[i].Usable() != usable {
				t.Errorf("%s: %s is usable: %v with %s %v, want %v", file, n.Name, n.Usable(), n.State, n.Flags, usable)
			}
		}
	}
}

// TestParse_none: a Slurm without jobs has none.
func TestParse_none(t *testing.T) {
	if jobs, err := ParseJobs(sample(t, "empty-squeue.json")); err != nil || len(jobs) != 0 {
		t.Errorf("JSON: %v, %v", jobs, err)
	}
	if jobs, err := parseJobsText(sample(t, "empty-job.txt")); err != nil || len(jobs) != 0 {
		t.Errorf("text: %v, %v", jobs, err)
	}
	if all, err := ParseReservations(sample(t, "empty-reservations.txt")); err != nil || len(all) != 0 {
		t.Errorf("reservations: %v, %v", all, err)
	}
	if runs, err := parseRuns(sample(t, "empty-sacct.txt"), separator); err != nil || len(runs) != 0 {
		t.Errorf("accounting: %v, %v", runs, err)
	}
}

// separator separates the columns of the samples.
const separator = "\x1f"

// TestParseRuns: what a real slurmdbd said.
func TestParseRuns(t *testing.T) {
	runs, err := parseRuns(sample(t, "sacct.txt"), separator)
	if err != nil {
		t.Fatal(err)
	}
	states := map[State]int{}
	for i := range runs {
		states[runs[i].State]++
	}
	if states[Requeued] != 1 || states[Running] == 0 || states[Pending] == 0 || states[Failure] != 1 {
		t.Errorf("states %v, want one REQUEUED, one FAILED, and others", states)
	}
}

// TestBad_input: what is not as it should be has a named error, and nothing is returned.
func TestBad_input(t *testing.T) {
	squeue, text, sacct := string(sample(t, "squeue.json")), string(sample(t, "scontrol-job.txt")), string(sample(t, "sacct.txt"))
	json := func(s string) error { all, err := ParseJobs([]byte(s)); return only(all, err) }
	plain := func(s string) error { all, err := parseJobsText([]byte(s)); return only(all, err) }
	rows := func(s string) error { all, err := parseRuns([]byte(s), separator); return only(all, err) }
	for name, c := range map[string]struct {
		err  error
		want error
		says string
	}{
		"a later version":        {json(strings.ReplaceAll(squeue, "v0.0.38", "v0.0.99")), ErrVersion, "v0.0.99"},
		"an earlier version":     {json(strings.ReplaceAll(squeue, "v0.0.38", "v0.0.35")), ErrVersion, "v0.0.35"},
		"no version":             {json(`{"jobs": []}`), ErrVersion, ""},
		"no jobs":                {json(`{"meta":{"plugin":{"data_parser":"data_parser/v0.0.40"}}}`), ErrMalformed, "without the list"},
		"truncated":              {json(squeue[:len(squeue)/2]), ErrMalformed, "unexpected EOF"},
		"empty":                  {json(""), ErrMalformed, "unexpected EOF"},
		"not JSON":               {json("slurm_load_jobs error: Unable to contact slurm controller"), ErrMalformed, "byte 1"},
		"another type":           {json(strings.Replace(squeue, `"tres_req_str": "cpu`, `"tres_req_str": 3, "x": "cpu`, 1)), ErrMalformed, "tres_req_str"},
		"a number too large":     {json(strings.Replace(squeue, `"job_id": 1,`, `"job_id": 1e30,`, 1)), ErrMalformed, "job_id"},
		"a negative number":      {json(strings.Replace(squeue, `"restart_cnt": 0`, `"restart_cnt": -4`, 1)), ErrMalformed, "restart_cnt"},
		"a time of long ago":     {json(strings.Replace(squeue, `"submit_time": 17`, `"submit_time": 0.17`, 1)), ErrMalformed, "submit_time"},
		"a job twice":            {json(strings.Replace(squeue, `"job_id": 2,`, `"job_id": 1,`, 1)), ErrMalformed, "two jobs of number 1"},
		"an error of Slurm":      {json(strings.Replace(squeue, `"errors": [`, `"errors": [{"error":"bad","description":"worse"}`, 1)), ErrMalformed, "bad: worse"},
		"a name with line break": {plain(strings.Replace(text, "two words", "two\nwords", 1)), ErrMalformed, "no UserId"},
		"a job in a comment":     {plain(strings.Replace(text, "oxgang:elastic", "x\nJobId=99 UserId=root(0) Priority=1 JobState=RUNNING", 1)), ErrMalformed, ""},
		"a mark in a name":       {plain(strings.Replace(text, "two words", "two AdminComment=oxgang:nice=-9", 1)), ErrMalformed, "AdminComment where"},
		"GPUs in a path":         {plain(strings.Replace(text, "WorkDir=/", "WorkDir=/a Nodes=a1 GRES=gpu:a100:8(IDX:0-7) b/", 1)), ErrMalformed, "Nodes where"},
		"a field in a name":      {plain(strings.Replace(text, "two words", "two Priority=9", 1)), ErrMalformed, "Priority comes twice"},
		"a date in words":        {plain(strings.Replace(text, "SubmitTime=17", "SubmitTime=Mi 25. Nov 2026 ", 1)), ErrMalformed, "SubmitTime"},
		"text cut off":           {plain(text[:900]), ErrMalformed, "no "},
		"another row in a name":  {rows(strings.Replace(sacct, "two words", "two\n9"+separator+"9", 1)), ErrMalformed, "row"},
		"columns missing":        {rows(strings.Replace(sacct, separator+"root", "", 1)), ErrMalformed, "row"},
		"columns too many":       {rows(strings.Replace(sacct, "\n", separator+"x\n", 1)), ErrMalformed, "row"},
		"a date of sacct":        {rows(strings.Replace(sacct, separator+"17", separator+"2026-11-25T22:00:00", 1)), ErrMalformed, "Start"},
	} {
		if !errors.Is(c.err, c.want) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", name, c.err, c.want, c.says)
		}
	}
}

// only returns an error; one that comes with results is another.
func only[T any](all []T, err error) error {
	if err != nil && len(all) > 0 {
		return errors.New("an error and results")
	}
	return err
}

// FuzzParse: no input makes a parser panic, and an error comes alone.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		f.Add(sample(f, filepath.Base(name)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for what, err := range map[string]error{
			"jobs": both(ParseJobs(text)), "jobs in text": both(parseJobsText(text)), "nodes": both(ParseNodes(text)), "nodes in text": both(ParseNodesText(text)),
			"partitions": both(ParsePartitions(text)), "reservations": both(ParseReservations(text)), "QOS": both(ParseQOS(text)), "runs": both(parseRuns(text, separator)),
		} {
			if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrVersion) {
				t.Errorf("%s: %v, want a named error", what, err)
			}
		}
	})
}

// both returns an error; one that comes with results is another.
func both[T any](all []T, err error) error { return only(all, err) }

// TestStates: what flags say of a state, in each of the ways in which they are said.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		states      []string
		state       State
		holds, kept bool
	}{
		{[]string{"RUNNING"}, Running, true, false},
		{[]string{"COMPLETING"}, "COMPLETING", true, false},
		{[]string{"COMPLETED", "COMPLETING"}, Completed, true, false},
		{[]string{"completed"}, Completed, false, false},
		{[]string{"CONFIGURING"}, Running, true, false},
		{[]string{"RUNNING", "CONFIGURING"}, Running, true, false},
		{[]string{"REQUEUE_HOLD"}, Pending, false, true},
		{[]string{"PENDING", "REQUEUE_HOLD"}, Pending, false, true},
		{[]string{"SPECIAL_EXIT"}, Pending, false, true},
		{[]string{"NODE_FAIL"}, "NODE_FAIL", false, false},
	} {
		j := Job{Priority: 1}
		j.setState(c.states, nil)
		if j.State != c.state || j.Holds() != c.holds || j.IsHeld() != c.kept {
			t.Errorf("%v: state %s, holds %v, kept %v, want %+v", c.states, j.State, j.Holds(), j.IsHeld(), c)
		}
	}
	for state, usable := range map[string]bool{
		"IDLE": true, "MIXED+PLANNED": true, "ALLOCATED": true, "IDLE+RESERVED": true, "IDLE*": false, "idle*": false, "IDLE+DRAIN": false, "MIXED+DRAIN": false,
		"DOWN": false, "DOWN+NOT_RESPONDING": false, "IDLE+NOT_RESPONDING": false, "UNKNOWN": false, "IDLE+MAINTENANCE": false, "IDLE+REBOOT_ISSUED": false, "FUTURE": false,
	} {
		var n Node
		n.setState(strings.Split(state, "+"))
		if n.Usable() != usable {
			t.Errorf("node %s: usable %v, want %v", state, n.Usable(), usable)
		}
	}
}

// A name with line breaks, even one that looks like a row of another job, stays a name.
func TestParseRuns_keeps_line_breaks(t *testing.T) {
	text := string(sample(t, "sacct.txt"))
	want, err := parseRuns([]byte(text), separator)
	if err != nil {
		t.Fatal(err)
	}
	secret := ",a random text,"
	forged := "two\n9" + separator + "9" + separator + "root\n"
	text = strings.Replace(strings.ReplaceAll(text, separator, secret), "two words", forged, 1)
	got, err := parseRuns([]byte(text), secret)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d runs, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		if want[i].Name == "two words" {
			want[i].Name = forged
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
