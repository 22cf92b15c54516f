package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// A recordedTruth is what happened to a job of a generated log, in seconds since the log's zero. start -1: unknown.
type recordedTruth struct {
	user               string
	gpus               int
	submit, start, end int
}

// checkRecorded reads a log as a history, and compares its jobs with what happened, in any order.
func checkRecorded(t *rapid.T, text, format string, zero time.Time, want []recordedTruth) {
	h, err := ReadHistory(strings.NewReader(text), format, parse.Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	compareRecorded(t, h, zero, want, text)
}

func compareRecorded(t *rapid.T, h *History, zero time.Time, want []recordedTruth, text string) {
	var got []recordedTruth
	for i := range h.Jobs {
		o := &h.Jobs[i]
		since := func(at time.Time) int { return int(at.Sub(zero).Seconds()) }
		j := recordedTruth{o.Arrival.Spec.User, o.Arrival.Spec.GPUs, since(o.Submitted), -1, int(o.Arrival.Duration.Seconds())}
		if !o.Started.IsZero() {
			j.start, j.end = since(o.Started), since(o.Ended)
		}
		got = append(got, j)
	}
	order := func(a, b recordedTruth) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start), cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.user, b.user))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Fatalf("jobs\n%v, want\n%v of\n%s", got, want, text)
	}
}

// Kind of fault: tasks of a job are jobs, percents are GPUs, the launch is the submission. Tables of known jobs in any
// order of rows have their GPUs, users, waits and running times.
func TestPAI_of_known_jobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		var rows []string
		var want []recordedTruth
		for i := range draw("jobs", 1, 20) {
			submit := draw("submit", 0, 1e6)
			start := submit + draw("wait", 0, 1e4)
			end := start + draw("run", 1, 1e5)
			j := recordedTruth{"u", 0, submit, start, end}
			status := rapid.SampledFrom([]string{"Terminated", "Failed"}).Draw(t, "status")
			task := func(start, end int, workers, percent int) {
				rows = append(rows, fmt.Sprintf("j%d,worker,%d.0,%s,%d.0,%d.0,600.0,29.3,%d.0,V100", i, workers, status, start, end, percent))
				j.gpus += workers * ((percent + 99) / 100)
			}
			for range draw("tasks", 1, 3) {
				task(draw("from", start, end), end, draw("workers", 1, 4), rapid.SampledFrom([]int{25, 100, 150, 800}).Draw(t, "percent"))
			}
			task(start, draw("until", start+1, end), 1, 100)
			rows = append(rows, fmt.Sprintf("j%d,ps,2,%s,%d,%d,600.0,,,", i, status, max(0, start-50), end+50))
			if draw("submission", 0, 3) > 0 {
				rows = append(rows, fmt.Sprintf("j%d,i%d,u,%s,%d.0,%d.0", i, i, status, submit, end))
			} else {
				j.user, j.submit, j.start, j.end = "", start, -1, end-start
			}
			want = append(want, j)
		}
		rows = append(rows, "w,worker,1,Waiting,,,600,,100,V100", "r,worker,1,Running,5,,600,,100,V100", "c,ps,1,Terminated,1,2,600,,,")
		checkRecorded(t, strings.Join(rapid.Permutation(rows).Draw(t, "rows"), "\n"), "", time.Unix(0, 0), want)
	})
}

// Kind of fault: a field of the Standard Workload Format is taken for its neighbour, or -1 for a number.
func TestSWF_of_known_jobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		zero := time.Unix(int64(draw("zero", 1, 2e9)), 0)
		lines := []string{"; Version: 2.2", fmt.Sprintf("; UnixStartTime: %d", zero.Unix()), ";", "; MaxNodes: 16", ";\tMaxProcs: 64"}
		var want []recordedTruth
		for i := range draw("jobs", 1, 20) {
			gpus, submit, wait, run := draw("processors", 1, 64), draw("submit", 0, 1e6), draw("wait", 0, 1e5), draw("run", 1, 1e5)
			allocated, requested := gpus, draw("requested", 1, 64)
			j := recordedTruth{"3", gpus, submit, submit + wait, submit + wait + run}
			switch draw("oddity", 0, 4) {
			case 0:
				allocated, requested = -1, gpus
			case 1:
				wait, j.start, j.end = -1, -1, run
			case 2: // never ran
				lines = append(lines, fmt.Sprintf("%d %d %d -1 -1 -1 -1 %d 60 -1 5 3 1 -1 1 -1 -1 -1", 1000+i, submit, wait, gpus))
			case 3: // a part of the job
				lines = append(lines, fmt.Sprintf("%d %d %d 1 %d -1 -1 %d 60 -1 2 3 1 -1 1 -1 -1 -1", i, submit, max(0, wait), gpus, gpus))
			}
			lines = append(lines, fmt.Sprintf("  %d\t%d %d %d %d 0.5 -1 %d 7200 -1 %d 3 1 -1 1 -1 -1 -1", i, submit, wait, run, allocated, requested, draw("status", 0, 1)))
			want = append(want, j)
		}
		checkRecorded(t, strings.Join(lines, "\r\n"), swfGPUs, zero, want)
	})
}

// TestSWF_cluster: the header has the nodes, and the format asks before it counts processors as GPUs.
func TestSWF_cluster(t *testing.T) {
	h, err := ReadHistory(strings.NewReader(swfText), swfGPUs, parse.Options{})
	if err != nil || h.Cluster != "gpu:4x4" {
		t.Errorf("history %+v, %v, want 4 nodes of 4 processors", h, err)
	}
	if _, err := ReadHistory(strings.NewReader(swfText), "", parse.Options{}); err == nil || !strings.Contains(err.Error(), "set --format swf@gpus") {
		t.Errorf("error %v, want one with the switch", err)
	}
}

func TestPAI_without_tasks(t *testing.T) {
	_, err := ReadHistory(strings.NewReader("j1,i1,u,Terminated,5,65\n"), "", parse.Options{})
	if err == nil || !strings.Contains(err.Error(), "cat pai_job_table.csv pai_task_table.csv") {
		t.Errorf("error %v, want what to do", err)
	}
}
