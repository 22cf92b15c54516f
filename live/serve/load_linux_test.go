package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/supervisor"
)

// A load is a scheduler in a process of its own with running jobs, of one worker each.
type load struct {
	t      testing.TB
	dir    string
	client *control.Client
	jobs   int
}

// newLoad starts a scheduler, and jobs, and returns once each of them has reported.
func newLoad(t testing.TB, jobs int, round, report time.Duration) (l *load, scheduler int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	l = &load{t, dir, control.NewClient(ControlSocket(dir)), jobs}
	cmd := exec.CommandContext(t.Context(), self(t), "serve", dir, fmt.Sprint(jobs), round.String(), report.String())
	cmd.Env = append(os.Environ(), "CUDA_VISIBLE_DEVICES=", profileVariable+"="+profile()) // slots without GPUs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 1)) // it serves
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // t's context is done by then
		_ = cmd.Wait()
		for _, pid := range l.supervisors() { // of a test that failed; their workers end with them
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	for i := range jobs {
		l.submit(i)
	}
	l.await("jobs that have reported", func() bool { return l.said(`"report":`) >= 2*jobs }) // what a hello says is one
	return l, cmd.Process.Pid
}

func self(t testing.TB) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// submit submits a job; ten of them make a class.
func (l *load) submit(i int) {
	r := control.NewRequest()
	r.Name, r.Dir = fmt.Sprintf("class%c%d", 'a'+i/10, i%10), l.dir
	r.Command, r.Env = []string{self(l.t), "worker"}, os.Environ()
	if _, err := l.client.Submit(context.Background(), &r); err != nil {
		l.t.Fatal(err)
	}
}

// said returns how many lines of the scheduler's journal have a text in them.
func (l *load) said(what string) int {
	paths, _ := filepath.Glob(filepath.Join(l.dir, "journal", "*.oxj"))
	n := 0
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			l.t.Fatal(err)
		}
		n += strings.Count(string(text), what)
	}
	return n
}

// await returns when something is so. The journal, and what supervisors write, wakes nobody.
func (l *load) await(what string, so func() bool) {
	l.t.Helper()
	for end := time.Now().Add(4 * time.Minute); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("after 4 minutes: no %s", what)
		}
	}
}

// supervisors returns the pids of the supervisors that run, and of their workers' holders.
func (l *load) supervisors() []int {
	tasks, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		l.t.Fatal(err)
	}
	var all []int
	for _, path := range tasks {
		line, _ := os.ReadFile(path) // it may be over
		var pid int
		if strings.Contains(string(line), "\x00keeper\x00"+l.dir) {
			if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// end cancels all jobs and returns when their processes are over.
func (l *load) end() {
	now, err := l.client.Status(context.Background(), false)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, j := range now.Jobs {
		if err := l.client.Cancel(context.Background(), j.ID); err != nil {
			l.t.Error(err)
		}
	}
	l.await("end of the supervisors", func() bool { return len(l.supervisors()) == 0 })
}

// used returns the CPU time of processes so far, user and system. See proc_pid_stat(5).
func used(t testing.TB, pids ...int) time.Duration {
	t.Helper()
	const hertz = 100 // of the clock in which /proc counts
	total := 0
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), ") ")
		var user, system int
		if n, err := fmt.Sscan(strings.Join(strings.Fields(after)[11:13], " "), &user, &system); n < 2 {
			t.Fatal(err)
		}
		total += user + system
	}
	return time.Duration(total) * time.Second / hertz
}

// The load runs, each job under its supervisor, and leaves nothing behind.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	l, _ := newLoad(t, 3, 100*time.Millisecond, 100*time.Millisecond)
	supervisors := l.supervisors()
	if len(supervisors) != 2*3 {
		t.Errorf("%d supervisors and holders, want two for each of 3 jobs", len(supervisors))
	}
	l.end()
	for _, dir := range []string{"classa0", "classa1", "classa2"} {
		state, err := supervisor.Look(filepath.Join(l.dir, "jobs", dir, "1"))
		if err != nil || state.Phase != supervisor.Ended {
			t.Errorf("%s: %v, %v, want ended", dir, state.Phase, err)
		}
	}
}

// What used says of this process is what the system says of it elsewhere.
func TestUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	self := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for self() < 100*time.Millisecond { //nolint:revive // it is to take CPU time
	}
	const ticks = 20 * time.Millisecond // one of user and one of system time
	if least, got, most := self()-ticks, used(t, os.Getpid()), self(); got < least || got > most {
		t.Errorf("got %v, want %v to %v", got, least, most)
	}
}

// What the scheduler takes while 100 jobs run that nobody submits, stops or ends, and what
// their supervisors take, all together. Run it alone:
//
//	go test ./live/serve -run '^$' -bench Load -timeout 30m
//
// With -cpuprofile FILE the scheduler's own profile goes to FILE.serve.
func BenchmarkLoad(b *testing.B) {
	for _, o := range []struct{ round, report time.Duration }{
		{30 * time.Second, 30 * time.Second}, // the defaults
		{5 * time.Second, 5 * time.Second},
		{5 * time.Second, 30 * time.Second},
		{30 * time.Second, 5 * time.Second},
	} {
		b.Run(fmt.Sprintf("round=%v/report=%v", o.round, o.report), func(b *testing.B) {
			for b.Loop() {
				steady(b, o.round, o.report, 6*max(o.round, o.report))
			}
		})
	}
}

func steady(b *testing.B, round, report, window time.Duration) {
	l, scheduler := newLoad(b, 100, round, report)
	defer l.end()
	supervisors := l.supervisors()
	if len(supervisors) != 2*l.jobs {
		b.Fatalf("%d supervisors and holders, want two for each of %d jobs", len(supervisors), l.jobs)
	}
	mark := func() { _ = syscall.Kill(scheduler, syscall.SIGUSR1) } // its profile begins or ends
	type count struct {
		cpu, kept       time.Duration
		reports, rounds int
	}
	now := func() count {
		return count{used(b, scheduler), used(b, supervisors...), l.said(`"report":`), l.said(`"round":{`)}
	}
	before, began := now(), time.Now()
	mark()
	time.Sleep(window)
	mark()
	after, took := now(), time.Since(began)
	if after.reports == before.reports || after.rounds == before.rounds {
		b.Fatalf("%d reports and %d rounds in %v, want some", after.reports-before.reports, after.rounds-before.rounds, took)
	}
	percent := func(d time.Duration) float64 { return 100 * d.Seconds() / took.Seconds() }
	b.ReportMetric(percent(after.cpu-before.cpu), "%core")
	b.ReportMetric(percent(after.kept-before.kept), "%core-keepers")
	b.ReportMetric(float64(after.reports-before.reports)/took.Seconds(), "reports/s")
	b.ReportMetric(float64(after.rounds-before.rounds)/took.Seconds(), "rounds/s")
	b.ReportMetric(0, "ns/op") // how long it was looked at says nothing
}
