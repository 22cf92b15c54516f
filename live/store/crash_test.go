package store

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/scheduler"
)

// The test binary is also the process that is killed: roles says as what.
const (
	roleVariable = "OXGANG_STORE_TEST_ROLE"
	dirVariable  = "OXGANG_STORE_TEST_DIR"
)

var roles = map[string]func(dir string) error{
	"write":  write,
	"hold":   holdOpen,
	"whole":  func(dir string) error { return dieAmid(dir, (*Store).write) },
	"by row": func(dir string) error { return dieAmid(dir, rowByRow) },
}

func TestMain(m *testing.M) {
	role := roles[os.Getenv(roleVariable)]
	if role == nil {
		os.Exit(m.Run())
	}
	if err := role(os.Getenv(dirVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// acting starts a process that plays a role on a directory, and returns it and what it says.
func acting(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be over
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

// kill ends a process with kill -9 and returns what it had said until then.
func kill(t *testing.T, cmd *exec.Cmd, out io.Reader) []string {
	t.Helper()
	must(t, cmd.Process.Kill())
	said, err := io.ReadAll(out)
	must(t, err)
	_ = cmd.Wait() // says that it was killed
	lines := strings.Split(string(said), "\n")
	return lines[:len(lines)-1] // the last one may be cut off
}

// holdOpen opens a store, says so, and waits.
func holdOpen(dir string) error {
	_, err := Open(dir)
	fmt.Println("open")
	if err == nil {
		select {}
	}
	return err
}

// most is how many jobs write has at a time.
const most = 5

// write accepts jobs, commits plans over all of them, stores reports and ends jobs, for
// ever, from wherever the one before stopped, and says what is acknowledged. In a plan of
// round r all jobs are of generation r; the reports of a job count epochs from 1.
func write(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	w, err := resume(s)
	for err == nil {
		err = w.cycle()
	}
	return err
}

// A writer knows what it wrote.
type writer struct {
	s      *Store
	number int64
	round  int64
	jobs   []job.ID
	epochs map[job.ID]int
}

// resume returns the writer that goes on where one was killed.
func resume(s *Store) (*writer, error) {
	st, err := s.Load()
	if err != nil {
		return nil, err
	}
	w := &writer{s: s, round: st.Round, epochs: map[job.ID]int{}}
	for _, k := range slicesOf(st) {
		w.number = max(w.number, k.Job.Number)
	}
	for _, k := range st.Jobs {
		w.jobs = append(w.jobs, k.Job.Spec.ID)
		w.epochs[k.Job.Spec.ID] = len(k.Before) + len(k.After)
	}
	return w, nil
}

func (w *writer) cycle() error {
	id := job.ID(fmt.Sprint("j", w.number+1))
	if err := w.s.Accept(newJob(id, "x")); err != nil {
		return err
	}
	w.number++
	w.jobs = append(w.jobs, id)
	fmt.Println("accept", id)
	if err := w.commit(); err != nil {
		return err
	}
	for _, id := range w.jobs {
		if err := w.s.Report(id, at(1), &job.Report{Job: id, Epoch: w.epochs[id] + 1}); err != nil {
			return err
		}
		w.epochs[id]++
		fmt.Println("report", id, w.epochs[id])
	}
	if len(w.jobs) < most {
		return nil
	}
	id, w.jobs = w.jobs[0], w.jobs[1:]
	if err := w.s.End(id, Ending{Outcome: scheduler.Done, At: at(2)}); err != nil {
		return err
	}
	fmt.Println("end", id)
	return nil
}

// commit commits a plan that changes all jobs.
func (w *writer) commit() error {
	p := planOf(w.round+1, w.jobs)
	if err := w.s.Commit(&p); err != nil {
		return err
	}
	w.round++
	fmt.Println("commit", w.round)
	return nil
}

// planOf returns a plan of some round whose generation all jobs are of.
func planOf(round int64, jobs []job.ID) Plan {
	p := Plan{Round: round, Time: epoch}
	for i, id := range jobs {
		p.Changes = append(p.Changes, started(id, int(round), 2*i, 2*i+1))
	}
	return p
}

// whole returns what contradicts that the last plan, and nothing but it, is in force: every
// job that was there is of its generation, others were never started.
func whole(st *State) error {
	var errs []error
	slots := map[int]job.ID{}
	for _, k := range st.Jobs {
		id, g := k.Job.Spec.ID, int64(k.Job.Generation)
		if g != st.Round && (g != 0 || len(k.Before) > 0) {
			errs = append(errs, fmt.Errorf("job %s is of generation %d in round %d", id, g, st.Round))
		}
		if want := 2 * min(g, 1); int64(len(k.Job.Held)) != want || k.Job.Status.Allocation.GPUs != len(k.Job.Held) {
			errs = append(errs, fmt.Errorf("job %s holds %d slots, allocated %d, want %d", id, len(k.Job.Held), k.Job.Status.Allocation.GPUs, want))
		}
		for _, slot := range k.Job.Held {
			if other, held := slots[slot]; held {
				errs = append(errs, fmt.Errorf("slot %d is held by %s and %s", slot, id, other))
			}
			slots[slot] = id
		}
	}
	return errors.Join(errs...)
}

// A promise is what a writer acknowledged.
type promise struct {
	accepted, ended map[job.ID]bool
	round           int64
	epochs          map[job.ID]int
}

// hear adds what a writer said.
func (p *promise) hear(lines []string) error {
	for _, line := range lines {
		var what string
		var id job.ID
		var n int
		if _, err := fmt.Sscanln(line, &what, &id, &n); err != nil && n != 0 {
			return fmt.Errorf("%q: %w", line, err)
		}
		switch what {
		case "accept":
			p.accepted[id] = true
		case "end":
			p.ended[id] = true
		case "report":
			p.epochs[id] = n
		case "commit":
			if _, err := fmt.Sscan(string(id), &p.round); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept returns what of a promise a database does not keep: whatever was acknowledged is
// there, once, and at most one thing more, which was not.
func (p *promise) kept(st *State, all []*Job) error {
	errs := []error{whole(st)}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	more := int(st.Round - p.round)
	if st.Round < p.round {
		bad("round %d, acknowledged %d", st.Round, p.round)
	}
	there := map[job.ID]bool{}
	for _, j := range all {
		there[j.Spec.ID] = true
		if j.Ended == nil && p.ended[j.Spec.ID] {
			bad("job %s has not ended, acknowledged that it had", j.Spec.ID)
		}
		more += one(!p.accepted[j.Spec.ID]) + one(j.Ended != nil && !p.ended[j.Spec.ID])
	}
	for id := range p.accepted {
		if !there[id] {
			bad("job %s is not there, acknowledged that it is", id)
		}
	}
	for _, k := range st.Jobs {
		reports := slices.Concat(k.Before, k.After)
		for i, r := range reports {
			if r.Epoch != i+1 {
				bad("job %s: report %d is of epoch %d, want each once and in order", k.Job.Spec.ID, i+1, r.Epoch)
			}
		}
		if n := len(reports); n < p.epochs[k.Job.Spec.ID] {
			bad("job %s: %d reports, acknowledged %d", k.Job.Spec.ID, n, p.epochs[k.Job.Spec.ID])
		}
		more += len(reports) - p.epochs[k.Job.Spec.ID]
	}
	if more > 1 {
		bad("%d things are there that were not acknowledged, want at most the one under way", more)
	}
	return errors.Join(errs...)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// look opens a directory for a moment and returns what is there.
func look(dir string) (*State, []*Job, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, nil, err
	}
	st, err1 := s.Load()
	all, err2 := s.Jobs(true)
	return st, all, errors.Join(err1, err2, s.Close())
}

// TestKill: whenever a writer is killed, what it acknowledged is there.
func TestKill(t *testing.T) {
	rounds, random := 25, rng.Stream(1, "store")
	if testing.Short() {
		rounds = 5
	}
	dir := t.TempDir()
	p := &promise{accepted: map[job.ID]bool{}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{}}
	for i := range rounds {
		if len(p.ended) > 150 { // a listing has the last 200
			dir, p = t.TempDir(), &promise{accepted: map[job.ID]bool{}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{}}
		}
		cmd, out := acting(t, "write", dir)
		for range random.IntN(40) { // killed at some moment after so many acknowledgements
			line, err := out.ReadString('\n')
			must(t, err)
			must(t, p.hear([]string{strings.TrimSpace(line)}))
		}
		must(t, p.hear(kill(t, cmd, out)))
		st, all, err := look(dir)
		must(t, err)
		if err := p.kept(st, all); err != nil {
			t.Fatalf("kill %d: %v", i+1, err)
		}
		p.see(st, all)
	}
	t.Logf("killed %d times: %d jobs, %d ended, round %d", rounds, len(p.accepted), len(p.ended), p.round)
}

// see takes what is there for acknowledged: it was seen.
func (p *promise) see(st *State, all []*Job) {
	p.round = st.Round
	for _, j := range all {
		p.accepted[j.Spec.ID] = true
		if j.Ended != nil {
			p.ended[j.Spec.ID] = true
		}
	}
	for _, k := range st.Jobs {
		p.epochs[k.Job.Spec.ID] = len(k.Before) + len(k.After)
	}
}

// rowByRow writes what one transaction should in several: the bug that TestKill_amid_a_plan
// must catch.
func rowByRow(s *Store, do func(*sql.Tx) error) error { return do(nil) }

// dieAmid commits a plan, then dies with half of the next one written, as write does it.
func dieAmid(dir string, how func(*Store, func(*sql.Tx) error) error) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	w := &writer{s: s, epochs: map[job.ID]int{}}
	for range most - 1 {
		if err := w.cycle(); err != nil {
			return err
		}
	}
	p := planOf(w.round+1, w.jobs)
	return how(s, func(tx *sql.Tx) error {
		part := func(do func(*sql.Tx) error) error {
			if tx == nil {
				return s.write(do)
			}
			return do(tx)
		}
		err := part(func(tx *sql.Tx) error { return advance(tx, p.Round, p.Time) })
		for i := range p.Changes[:2] {
			err = errors.Join(err, part(func(tx *sql.Tx) error {
				number, err := change(tx, &p.Changes[i])
				return errors.Join(err, hold(tx, number, p.Changes[i].Held))
			}))
		}
		if err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
}

// TestKill_amid_a_plan: a plan is there as a whole or not at all; and the check that says
// so sees one that was written row by row.
func TestKill_amid_a_plan(t *testing.T) {
	for role, want := range map[string]string{"whole": "", "by row": "is of generation 4 in round 5"} {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir()
			cmd, out := acting(t, role, dir)
			_, err := io.ReadAll(out)
			must(t, err)
			_ = cmd.Wait() // says that it was killed
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Fatalf("ended with %v, want kill -9", status)
			}
			st, _, err := look(dir)
			must(t, err)
			if err := whole(st); want != "" {
				wants(t, err, want)
			} else if err != nil || st.Round != most-1 || len(st.Jobs) != most-1 {
				t.Errorf("round %d of %d jobs: %v", st.Round, len(st.Jobs), err)
			}
		})
	}
}

// TestOpen_is_for_one: a second process is told who is the first, until that is killed.
func TestOpen_is_for_one(t *testing.T) {
	dir := t.TempDir()
	cmd, out := acting(t, "hold", dir)
	line, err := out.ReadString('\n')
	must(t, err)
	if line != "open\n" {
		t.Fatalf("said %q, want that it has opened", line)
	}
	_, err = Open(dir)
	wants(t, err, fmt.Sprintf("store: %s is used by process %d: stop that first, or use another directory", dir, cmd.Process.Pid))
	kill(t, cmd, out)
	s := opened(t, dir)
	_, err = Open(dir)
	wants(t, err, fmt.Sprintf("is used by process %d", os.Getpid()))
	accepted(t, s, "a", "")
}

// TestCopies: the files as they are at any moment open, and hold what was written up to
// some moment after the last acknowledgement.
func TestCopies(t *testing.T) {
	copies, random := 40, rng.Stream(2, "store")
	if testing.Short() {
		copies = 5
	}
	dir := t.TempDir()
	cmd, out := acting(t, "write", dir)
	lines := make(chan string, 1<<16)
	go func() {
		defer close(lines)
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				return
			}
			lines <- strings.TrimSpace(line)
		}
	}()
	p := &promise{accepted: map[job.ID]bool{}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{}}
	for i := range copies {
		for range 1 + random.IntN(30) {
			must(t, p.hear([]string{<-lines}))
		}
		must(t, cmd.Process.Signal(syscall.SIGSTOP))
		stopped(t, cmd.Process.Pid)
		for len(lines) > 0 {
			must(t, p.hear([]string{<-lines}))
		}
		to := t.TempDir()
		for _, name := range []string{"oxgang.db", "oxgang.db-wal"} {
			copyFile(t, filepath.Join(dir, name), filepath.Join(to, name))
		}
		must(t, cmd.Process.Signal(syscall.SIGCONT))
		st, _, err := look(to)
		must(t, err)
		if err := errors.Join(whole(st), atLeast(p, st)); err != nil || !prefix(st) {
			t.Fatalf("copy %d: %v, or never was: %s", i+1, err, summary(st))
		}
	}
}

// atLeast returns an error if a state is older than a promise.
func atLeast(p *promise, st *State) error {
	if st.Round < p.round {
		return fmt.Errorf("round %d, acknowledged %d", st.Round, p.round)
	}
	for _, k := range st.Jobs {
		if n := len(k.Before) + len(k.After); n < p.epochs[k.Job.Spec.ID] || p.ended[k.Job.Spec.ID] {
			return fmt.Errorf("job %s: %d reports, acknowledged %d and ended: %t", k.Job.Spec.ID, n, p.epochs[k.Job.Spec.ID], p.ended[k.Job.Spec.ID])
		}
	}
	return nil
}

// summary says what a state holds that write made.
func summary(st *State) string {
	text := fmt.Sprintf("round %d, %d ended", st.Round, len(st.Ended))
	for _, k := range st.Jobs {
		reports := slices.Concat(k.Before, k.After)
		for i, r := range reports {
			if r.Epoch != i+1 {
				return fmt.Sprintf("job %s: report %d is of epoch %d", k.Job.Spec.ID, i+1, r.Epoch)
			}
		}
		text += fmt.Sprintf(", %s of generation %d, %d reports", k.Job.Spec.ID, k.Job.Generation, len(reports))
	}
	return text
}

// prefix reports whether write, from nothing, makes a state on its way.
func prefix(st *State) bool {
	want, model := summary(st), &State{}
	found := summary(model) == want
	step := func() { found = found || summary(model) == want }
	for n := int64(1); n <= st.Round+1; n++ {
		model.Jobs = append(model.Jobs, Known{Job: newJob(job.ID(fmt.Sprint("j", n)), "x")})
		step()
		model.Round = n
		for _, k := range model.Jobs {
			k.Job.Generation = int(n)
		}
		step()
		for i := range model.Jobs {
			k := &model.Jobs[i]
			k.After = append(k.After, Report{Report: job.Report{Epoch: len(k.After) + 1}})
			step()
		}
		if len(model.Jobs) == most {
			model.Ended = make([]Known, min(len(model.Ended)+1, keptEnded))
			model.Jobs = model.Jobs[1:]
			step()
		}
	}
	return found
}

// TestPrefix: the check of TestCopies sees what is missing in the middle.
func TestPrefix(t *testing.T) {
	for name, breaks := range map[string]func(*State){
		"nothing":              func(*State) {},
		"a plan":               func(st *State) { st.Round-- },
		"an ending":            func(st *State) { st.Ended = st.Ended[1:] },
		"a job":                func(st *State) { st.Jobs = st.Jobs[1:] },
		"a generation":         func(st *State) { st.Jobs[1].Job.Generation-- },
		"a report":             func(st *State) { st.Jobs[1].After = st.Jobs[1].After[1:] },
		"all reports of a job": func(st *State) { st.Jobs[0].After = nil },
	} {
		st := filled(t, t.TempDir())
		breaks(st)
		if got, want := prefix(st), name == "nothing"; got != want {
			t.Errorf("%s missing: prefix %t, want %t: %s", name, got, want, summary(st))
		}
	}
}

// stopped waits until a process has stopped, all its threads.
func stopped(t *testing.T, pid int) {
	t.Helper()
	var status syscall.WaitStatus
	for !status.Stopped() {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			t.Fatalf("the writer ended: %v", status)
		}
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	body, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, body, 0o600))
}

// TestKept: the check of TestKill sees what is missing, doubled or made up.
func TestKept(t *testing.T) {
	good := func() (*promise, *State, []*Job) {
		j := newJob("a", "x")
		j.Generation, j.Held = 2, []int{0, 1}
		j.Status.Allocation.GPUs = 2
		k := Known{Job: j, Before: []Report{{Report: job.Report{Epoch: 1}}, {Report: job.Report{Epoch: 2}}}}
		p := &promise{accepted: map[job.ID]bool{"a": true}, ended: map[job.ID]bool{}, epochs: map[job.ID]int{"a": 2}, round: 2}
		return p, &State{Round: 2, Jobs: []Known{k}}, []*Job{j}
	}
	for want, breaks := range map[string]func(*promise, *State, *Job){
		"round 1, acknowledged 2":            func(p *promise, st *State, j *Job) { st.Round = 1 },
		"generation 1 in round 2":            func(p *promise, st *State, j *Job) { j.Generation = 1 },
		"holds 1 slots":                      func(p *promise, st *State, j *Job) { j.Held = j.Held[:1] },
		"slot 1 is held by a and a":          func(p *promise, st *State, j *Job) { j.Held = []int{1, 1} },
		"job b is not there":                 func(p *promise, st *State, j *Job) { p.accepted["b"] = true },
		"has not ended":                      func(p *promise, st *State, j *Job) { p.ended["a"] = true },
		"report 2 is of epoch 1":             func(p *promise, st *State, j *Job) { st.Jobs[0].Before[1].Epoch = 1 },
		"2 reports, acknowledged 3":          func(p *promise, st *State, j *Job) { p.epochs["a"] = 3 },
		"2 things are there that were not a": func(p *promise, st *State, j *Job) { p.epochs["a"] = 0 },
	} {
		p, st, all := good()
		must(t, p.kept(st, all))
		breaks(p, st, all[0])
		wants(t, p.kept(st, all), want)
	}
}
