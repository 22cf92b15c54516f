//go:build linux

package supervisor

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestNoticeJSON(t *testing.T) {
	at := time.Unix(1760000000, 500_000_000)
	text, err := json.Marshal(Notice{at, "make room"})
	if want := `{"deadline":1760000000.5,"reason":"make room"}`; err != nil || string(text) != want {
		t.Errorf("got %s %v, want %s", text, err, want)
	}
	for _, d := range []time.Time{{}, time.Unix(-5, 0), time.Unix(0, 0), at, time.Unix(1<<60, 0)} {
		var back Notice
		text, err := json.Marshal(Notice{Deadline: d})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil {
			t.Errorf("%v: %v, want every notice to be readable", d, err)
		}
	}
	for _, bad := range []string{`{"deadline":-1}`, `{"deadline":1e300}`, `{"deadline":"soon"}`, `{"deadline":1e999}`, `[]`, ``} {
		if err := new(Notice).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was taken, want an error", bad)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := moment(bad); err == nil {
			t.Errorf("%g was taken for a moment", bad)
		}
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		spoil func(l *Launch)
		want  string
	}{
		{func(l *Launch) {}, ""},
		{func(l *Launch) { l.Job = "" }, `launch of job "": no job`},
		{func(l *Launch) { l.Generation = 0 }, "generation 0, want at least 1"},
		{func(l *Launch) { l.Tag = "" }, "no tag"},
		{func(l *Launch) { l.Command = nil }, "no command"},
		{func(l *Launch) { l.Command = []string{"a\x00"} }, "contains a zero byte"},
		{func(l *Launch) { l.Workers = nil }, "no workers"},
		{func(l *Launch) { l.Dir = "here" }, `directory "here", want an absolute path`},
		{func(l *Launch) { l.Log = "log" }, `log "log", want an absolute path`},
		{func(l *Launch) { l.Cgroup = "mine" }, `cgroup "mine", want an absolute path`},
		{func(l *Launch) { l.LogBytes = 0 }, "0 bytes per log file"},
		{func(l *Launch) { l.LogFiles = 0 }, "0 log files"},
		{func(l *Launch) { l.Grace = -1 }, "a grace period of -1ns"},
		{func(l *Launch) { l.Env = []string{"A"} }, `environment: "A", want name=value`},
		{func(l *Launch) { l.Workers[0].Env = []string{"=1"} }, `worker 0: environment: "=1"`},
		{func(l *Launch) { l.Workers[0].Memory = -1 }, "worker 0: -1 bytes of memory"},
		{func(l *Launch) { l.Workers[0].Cores = math.NaN() }, "worker 0: NaN cores"},
		{func(l *Launch) { l.Workers[0].CPUs = []int{-1} }, "worker 0: core -1"},
	}
	for _, tt := range tests {
		l := *newBench(t, 1, "exit 0").launch
		tt.spoil(&l)
		err := l.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// TestUnder: above all, no tag is not every tag.
func TestUnder(t *testing.T) {
	for _, tt := range []struct {
		run, tag string
		want     bool
	}{
		{"a/j/1", "a", true},
		{"a/j/1", "a/j", true},
		{"a/j/1", "a/j/1", true},
		{"a/j/1", "a/j/2", false},
		{"a/j/11", "a/j/1", false},
		{"ab/j/1", "a", false},
		{"a", "a/j/1", false},
		{"", "", false},
		{"a", "", false},
		{"/a", "", false},
		{"", "a", false},
	} {
		if got := under(tt.run, tt.tag); got != tt.want {
			t.Errorf("%q under %q: %v, want %v", tt.run, tt.tag, got, tt.want)
		}
	}
	if found, err := tagged(""); err != nil || len(found) > 0 {
		t.Errorf("processes without a tag: %v %v, want none to be found", found, err)
	}
	if err := Sweep(t.TempDir(), ""); err == nil {
		t.Error("a sweep without a tag, want an error")
	}
}

func TestParseStat(t *testing.T) {
	p, err := parseStat(7, []byte("7 (a) S 1 (b)) Z 5 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0"))
	if err != nil || p.parent != 5 || p.Start != 4242 || !p.zombie {
		t.Errorf("got %+v %v, want a zombie of parent 5 from tick 4242", p, err)
	}
	for _, bad := range []string{"", "7 (a) S 1", "7 (a) S x 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0"} {
		if _, err := parseStat(7, []byte(bad)); err == nil {
			t.Errorf("%q was taken, want an error", bad)
		}
	}
}

// Of a process that ends the environment is gone before its files are. A sweep that killed it waits for the files.
func TestSweep_waits_for_what_ends(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	tagged, signalled := listTagged, signalProcess
	t.Cleanup(func() { listTagged, signalProcess = tagged, signalled })
	c := exec.Command("sleep", "100")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	p, err := readProc(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	all := []orphan{{p.process, "t"}}
	listTagged = func(string) ([]orphan, error) { defer func() { all = nil }(); return all, nil } // once
	signalProcess = func(process, unix.Signal) error { return nil }                               // it takes its time
	swept := make(chan error, 1)
	go func() { swept <- Sweep(t.TempDir(), "t") }()
	select {
	case err := <-swept:
		t.Fatalf("the sweep ended (%v) while the process lived", err)
	case <-time.After(50 * time.Millisecond):
	}
	_, _ = c.Process.Kill(), c.Wait()
	if err := <-swept; err != nil {
		t.Error(err)
	}
}

// TestComplaintsEnd: what is tried again for ever does not fill the disk.
func TestComplaintsEnd(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), stderrFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = before }()
	k := &supervisor{dir: "/no/such"}
	for range 1000 {
		k.save()
	}
	text, err := os.ReadFile(f.Name())
	if n := strings.Count(string(text), "\n"); err != nil || n != 100 {
		t.Errorf("%d complaints, %v; want 100", n, err)
	}
}

// TestBelow: a process older than its parent is not its child: the parent's pid
// was given out again while the list was read.
func TestBelow(t *testing.T) {
	all := map[int]proc{}
	for _, p := range []proc{{process{1, 0}, 0, false}, {process{10, 5}, 1, false}, {process{11, 6}, 10, false}, {process{12, 7}, 11, true}, {process{13, 4}, 10, false}, {process{14, 9}, 13, false}, {process{20, 9}, 1, false}} {
		all[p.PID] = p
	}
	got := map[int]bool{}
	for _, p := range below(all, func(pid int) bool { return pid == 10 }) {
		got[p.PID] = true
	}
	if len(got) != 2 || !got[11] || !got[12] {
		t.Errorf("below 10: %v, want 11 and 12", got)
	}
}
