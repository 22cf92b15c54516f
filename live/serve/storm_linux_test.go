package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/control/controltest"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

const (
	stormSlots   = 4
	stormSteps   = 6         // of each job; it saves a checkpoint after each
	stormKept    = 16 << 20  // logs of ended jobs, and as much for checkpoints, per user
	stormBulk    = 512 << 10 // of a checkpoint of alice, who exceeds the limit, and of a log of hers
	stormMemory  = 256 << 20 // the scheduler's limit
	stormFDs     = 200
	stormState   = 512 << 20
	commonFolder = "STORM_COMMON" // the folder for what jobs find out, which all users can write
)

// serveShared serves a directory for several users.
func serveShared(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o := DefaultOptions()
	o.Dir, o.Supervisor, o.Ready = args[0], []string{self, "keeper"}, func() { fmt.Println("ready") }
	o.Slots, o.Group, o.Quotas = stormSlots, strconv.Itoa(trainers), map[string]int{strconv.Itoa(alice.UID): stormSlots - 1}
	o.Round, o.Grace, o.Report, o.Quiet = 300*time.Millisecond, 2*time.Second, 500*time.Millisecond, time.Second
	o.Keep = o.Keep.With(statedir.Limits{statedir.Logs: {Bytes: stormKept}, statedir.Checkpoints: {Bytes: stormKept}, statedir.Journals: {Bytes: 1 << 20}})
	return Run(ctx, o)
}

// backUp backs up a directory with its checkpoints, without an error if one is left out.
func backUp(args []string) error {
	_, err := statedir.Backup(context.Background(), args[0], args[1], true)
	if err != nil && strings.Contains(err.Error(), "the file has no checkpoint of job") {
		return nil
	}
	return err
}

// A saver is a training program that saves a checkpoint after each step. It writes a line into the common folder if another
// process has its slot or runs its job, or if a checkpoint that it saved is not there.
type saver struct {
	common, folder, job string
	generation, bulk    int
	step                int64
	locks               []*os.File // closed by the end of the process
}

func save([]string) error {
	s := &saver{common: os.Getenv(commonFolder), folder: os.Getenv("OXGANG_CHECKPOINTS"), job: os.Getenv("OXGANG_JOB"), bulk: 64}
	s.generation, _ = strconv.Atoi(os.Getenv("OXGANG_GENERATION"))
	if strings.HasPrefix(s.job, "a") {
		s.bulk = stormBulk
	}
	fmt.Println(strings.Repeat("log", s.bulk/3))
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	for _, what := range []string{"job-" + s.job, "slot-" + os.Getenv("OXGANG_SLOT")} {
		f, err := s.only(what)
		if err != nil {
			return err
		}
		s.locks = append(s.locks, f)
	}
	if err := s.resume(); err != nil {
		return err
	}
	for s.step < stormSteps {
		select {
		case <-term:
			os.Exit(75)
		case <-time.After(100 * time.Millisecond):
		}
		if err := s.save(); err != nil {
			return err
		}
	}
	return s.note("finished")
}

// only locks a file that no other process may lock.
func (s *saver) only(what string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.common, what), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil && os.IsPermission(err) { // sticky folders: another user's file
		f, err = os.OpenFile(filepath.Join(s.common, what), os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return f, s.note("doubled")
	}
	return f, nil
}

// note appends a line to a file of the common folder.
func (s *saver) note(file string) error {
	f, err := os.OpenFile(filepath.Join(s.common, file), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %d %d\n", s.job, s.generation, s.step)
		err = errors.Join(err, f.Close())
	}
	return err
}

// resume continues from the newest checkpoint.
func (s *saver) resume() error {
	saved, err := filepath.Glob(filepath.Join(s.folder, "0*"))
	if err == nil && len(saved) > 0 {
		s.step, err = strconv.ParseInt(filepath.Base(saved[len(saved)-1]), 10, 64)
	}
	if err != nil {
		return err
	}
	text, _ := os.ReadFile(filepath.Join(s.common, "saved-"+s.job))
	if known, _ := strconv.ParseInt(string(text), 10, 64); known > s.step {
		if err := s.note("lost"); err != nil {
			return err
		}
	}
	hello := agentapi.Hello{Version: 1, Client: "test", Generation: s.generation, WorldSize: 1, Batch: agentapi.BatchLimits{Init: 64, Max: 64}, Samples: 64 * stormSteps}
	if s.step > 0 {
		sum, err := os.ReadFile(filepath.Join(saved[len(saved)-1], "manifest.json.sha256"))
		if err != nil {
			return err
		}
		hello.Restored = &agentapi.Restored{Step: s.step, Progress: float64(64 * s.step), Checksum: "sha256:" + string(sum[:64])}
	}
	return s.post("hello", &hello, &agentapi.Welcome{})
}

// save saves a checkpoint of three files with its manifest, and deletes old ones.
func (s *saver) save() error {
	name := fmt.Sprintf("%08d", s.step+1)
	part := filepath.Join(s.folder, ".tmp-"+name)
	_ = os.RemoveAll(part)
	err := os.Mkdir(part, 0o700)
	files := map[string]any{}
	for i := range 3 {
		text := strings.Repeat(name, s.bulk/8/3)
		files[fmt.Sprint("rank", i)] = map[string]any{"bytes": len(text), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
		err = errors.Join(err, os.WriteFile(filepath.Join(part, fmt.Sprint("rank", i)), []byte(text), 0o600))
	}
	list, errList := json.Marshal(map[string]any{"files": files})
	sum := fmt.Sprintf("%x", sha256.Sum256(list))
	err = errors.Join(err, errList, os.WriteFile(filepath.Join(part, "manifest.json"), list, 0o600),
		os.WriteFile(filepath.Join(part, "manifest.json.sha256"), []byte(sum+"  manifest.json\n"), 0o600), os.Rename(part, filepath.Join(s.folder, name)))
	if err != nil {
		return err
	}
	s.step++
	for _, old := range must(filepath.Glob(filepath.Join(s.folder, "0*"))) {
		if filepath.Base(old) < fmt.Sprintf("%08d", s.step-1) {
			_ = os.RemoveAll(old)
		}
	}
	known := filepath.Join(s.common, "saved-"+s.job)
	if err := errors.Join(os.WriteFile(known+".new", []byte(strconv.FormatInt(s.step, 10)), 0o600), os.Rename(known+".new", known)); err != nil {
		return err
	}
	return s.post("checkpoint", &agentapi.Checkpoint{Generation: s.generation, Step: s.step, Progress: float64(64 * s.step), Path: name, Checksum: "sha256:" + sum}, &agentapi.Empty{})
}

// post sends a message again until a scheduler answers. The scheduler may be dead for a while.
func (s *saver) post(kind string, message, answer any) error {
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = controltest.Post(kind, message, answer); err == nil || strings.Contains(err.Error(), kind+": 4") {
			return err
		}
	}
	return err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A storm is a scheduler in a process of its own, which is killed again and again, with jobs of two users. Alice's keepers
// are killed, and her data is over the limits. Nothing of that may reach bob: each job of his runs once, and all that it
// leaves stays.
type storm struct {
	*served
	random  *rand.Rand
	common  string
	bin     string
	server  *exec.Cmd
	began   time.Time
	mine    map[string][]job.ID // accepted, by user
	left    map[job.ID]string   // what an ended job of bob left
	counts  map[string]int
	settled bool // all jobs have ended
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	o := several(t)
	base := filepath.Dir(o.Dir)
	s := &storm{
		served: &served{t: t, o: o, Client: control.NewClient(ControlSocket(o.Dir)), said: &voice{}}, random: rng.Stream(draws.Seed(t), "storm of two users"),
		common: filepath.Join(base, "common"), bin: filepath.Join(base, "program"), mine: map[string][]job.ID{}, left: map[job.ID]string{}, counts: map[string]int{}, began: time.Now(),
	}
	text := must(os.ReadFile(self(t)))
	err := errors.Join(os.Chmod(base, 0o711), os.WriteFile(s.bin, text, 0o700), os.Chmod(s.bin, 0o755), os.Mkdir(s.common, 0o700), os.Chmod(s.common, 0o777))
	for _, name := range []string{"doubled", "lost", "finished", "slot-0", "slot-1", "slot-2", "slot-3"} {
		path := filepath.Join(s.common, name)
		err = errors.Join(err, os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.serve()
	t.Cleanup(s.stop)
	return s
}

// serve starts the scheduler and returns once it serves.
func (s *storm) serve() {
	s.t.Helper()
	s.server = exec.Command(s.bin, "shared", s.o.Dir)
	s.server.Env = append(os.Environ(), "CUDA_VISIBLE_DEVICES=")
	s.server.Stderr = s.said
	out, err := s.server.StdoutPipe()
	if err == nil {
		err = s.server.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 1))
	}
	if err != nil {
		_ = s.server.Wait()
		s.t.Fatalf("the scheduler does not start: %v\n%s", err, s.said.text.String())
	}
}

func (s *storm) stop() {
	_ = s.server.Process.Signal(syscall.SIGTERM)
	_ = s.server.Wait()
	for _, pid := range s.keepers("") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// keepers returns the processes that watch workers of jobs whose names begin with a text.
func (s *storm) keepers(prefix string) (all []int) {
	for _, path := range must(filepath.Glob("/proc/[0-9]*/cmdline")) {
		line, _ := os.ReadFile(path) // it may be over
		var pid int
		if strings.Contains(string(line), "\x00keeper\x00"+filepath.Join(s.o.Dir, "jobs")+"/"+prefix) {
			if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

func (s *storm) count(what string, n int) { s.counts[what] += n }

// submitFor has a job of a user run; alice's can be preempted.
func (s *storm) submitFor(u account.User, name string) {
	r := s.request(name, s.bin, "save")
	r.Dir, r.Env, r.Preemptible = "/", append(r.Env, commonFolder+"="+s.common), u.UID == alice.UID
	id := s.submitAs(u, r)
	s.mine[name[:1]] = append(s.mine[name[:1]], id)
}

// active returns how many jobs of a user have not ended.
func (s *storm) active(u account.User) (n int) {
	now, err := s.Status(s.t.Context(), false)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range now.Jobs {
		if now.Jobs[i].User == u.Name() {
			n++
		}
	}
	return n
}

// The actions, which are done again and again.

func (s *storm) killScheduler() {
	_ = s.server.Process.Kill()
	_ = s.server.Wait()
	s.count("kills of the scheduler", 1)
	s.serve()
}

func (s *storm) killKeeper() {
	if all := s.keepers("a"); len(all) > 0 && syscall.Kill(all[s.random.IntN(len(all))], syscall.SIGKILL) == nil {
		s.count("kills of keepers", 1)
	}
}

func (s *storm) prune() {
	amounts, err := s.Prune(s.t.Context(), &control.PruneRequest{})
	if err != nil {
		s.t.Errorf("prune: %v", err)
		return
	}
	s.count("prunes", 1)
	for _, a := range amounts {
		s.count("pruned "+string(a.Category), a.Count)
	}
}

// backup backs up in another process, which is killed one time in four, restores the file, and looks for what it must have.
func (s *storm) backup() {
	file := filepath.Join(s.t.TempDir(), "backup")
	cmd := exec.CommandContext(s.t.Context(), s.bin, "backup", file, s.o.Dir)
	if s.counts["backups restored"] > 0 && !s.settled && s.random.IntN(4) == 0 {
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(time.Duration(s.random.IntN(200)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s.count("kills of backups", 1)
		if _, err := os.Stat(file); err != nil {
			return
		}
	} else if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("backup: %v: %s", err, out)
		return
	}
	dir := filepath.Join(filepath.Dir(file), "restored")
	torn, err := statedir.Restore(s.t.Context(), file, dir)
	if err != nil || len(torn) > 0 {
		s.t.Errorf("restore: %v, left out %v, want a whole backup", err, torn)
	}
	s.count("backups restored", 1)
	s.complete(dir)
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		s.t.Error(err)
	}
}

// complete looks into a restored directory: it has all jobs that were accepted, and each of its checkpoints is whole.
func (s *storm) complete(dir string) {
	d, err := store.Open(dir)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer d.Close()
	all, err := d.Outlines()
	for _, id := range slices.Concat(s.mine["a"], s.mine["b"]) {
		if is, has := all[id]; !has || s.settled && !is.Ended {
			s.count("lost", 1)
			s.t.Errorf("job %s, which was accepted, is not in a later backup, or has not ended there (%v)", id, err)
		}
	}
	for _, unit := range must(filepath.Glob(filepath.Join(dir, "jobs", "*", "checkpoints", "0*"))) {
		s.count("checkpoints restored", 1)
		sum := fmt.Sprintf("%x  manifest.json\n", sha256.Sum256(must(os.ReadFile(filepath.Join(unit, "manifest.json")))))
		if files, _ := filepath.Glob(unit + "/rank*"); len(files) != 3 || sum != string(must(os.ReadFile(filepath.Join(unit, "manifest.json.sha256")))) {
			s.count("torn", 1)
			s.t.Errorf("%s is torn: %q", unit, files)
		}
	}
}

// witness compares what ended jobs of bob left with what they left when they ended.
func (s *storm) witness() {
	for _, id := range s.mine["b"] {
		folder := filepath.Join(s.o.Dir, "jobs", string(id))
		state, err := supervisor.Look(filepath.Join(folder, "1"))
		if s.left[id] == "" && (err != nil || state.Phase != supervisor.Ended || !s.endedWell(id)) {
			continue
		}
		now, before := contents(folder), s.left[id]
		if s.left[id] = now; before != "" && now != before {
			s.count("effects on bob", 1)
			s.t.Errorf("job %s of bob left\n%s\nand now there is\n%s", id, before, now)
		}
	}
}

// endedWell reports whether a job of bob has ended: each is done after its first start.
func (s *storm) endedWell(id job.ID) bool {
	v, err := s.Job(s.t.Context(), id)
	if err != nil || v.HasEnded() && (v.Outcome != "done" || v.Restarts > 0) {
		s.count("effects on bob", 1)
		s.t.Errorf("job %s of bob: %v, %s after %d restarts: %s", id, err, v.Outcome, v.Restarts, v.Detail)
	}
	return v.HasEnded()
}

// contents are the names and checksums of what a job of bob has printed and saved.
func contents(folder string) string {
	var all strings.Builder
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if err == nil && e.Type().IsRegular() && (strings.HasPrefix(name, "checkpoints") || strings.Contains(name, "log")) {
			text, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%s %x %v\n", name, sha256.Sum256(text), err)
		}
		return err
	})
	return all.String()
}

// row prints a row of the table, and checks that nothing grows without bound.
func (s *storm) row() {
	k := keeping{t: s.t, dir: s.o.Dir, cmd: s.server}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.server.Process.Pid))
	size := taken(s.o.Dir)
	s.t.Logf("%5.1f min: %4d jobs, %4d kills, %3d backups, %3d prunes; memory %3d MiB, at most %3d; descriptors %d; state %5.1f MiB", time.Since(s.began).Minutes(), len(s.mine["a"])+len(s.mine["b"]),
		s.kills(), s.counts["backups restored"], s.counts["prunes"], k.memory("VmRSS")>>20, k.memory("VmHWM")>>20, len(fds), float64(size)/(1<<20))
	if err != nil || k.memory("VmRSS") > stormMemory || len(fds) > stormFDs || size > stormState {
		s.t.Errorf("memory, descriptors or state exceed %d, %d or %d (%v)", stormMemory, stormFDs, stormState, err)
	}
}

func (s *storm) kills() int {
	return s.counts["kills of the scheduler"] + s.counts["kills of keepers"] + s.counts["kills of backups"]
}

// A pace is how long after each other an action is done.
type pace struct {
	least, most time.Duration
	do          func()
	next        time.Time
}

// rage does everything at its pace. The scheduler is killed often in the first two fifths of the time, then left alone.
func (s *storm) rage(long time.Duration) {
	names := 0
	name := func(user string) string { names++; return user + strconv.Itoa(names) }
	every := func(least, most time.Duration, do func()) *pace { return &pace{least: least, most: most, do: do} }
	kill := every(time.Second, 4*time.Second, s.killScheduler)
	all := []*pace{
		every(200*time.Millisecond, time.Second, func() {
			if s.active(alice) < 2*stormSlots {
				s.submitFor(alice, name("a"))
			}
		}),
		every(max(time.Second, long/120), max(3*time.Second, long/100), func() {
			if s.active(bob) < 2 {
				s.submitFor(bob, name("b"))
			}
		}),
		every(2*time.Second, 6*time.Second, s.killKeeper), every(4*time.Second, 9*time.Second, s.prune), every(5*time.Second, 12*time.Second, s.backup),
		every(10*time.Second, 20*time.Second, s.witness), every(max(2*time.Second, long/24), max(2*time.Second, long/24), s.row), kill,
	}
	for end := s.began.Add(long); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, p := range all {
			if calm := p == kill && time.Since(s.began) > 2*long/5; calm || time.Now().Before(p.next) {
				continue
			}
			p.do()
			p.next = time.Now().Add(p.least + time.Duration(s.random.Int64N(int64(p.most-p.least)+1)))
		}
	}
}

// settle waits until all jobs have ended, and checks what became of them.
func (s *storm) settle() {
	for end := time.Now().Add(3 * time.Minute); s.active(alice)+s.active(bob) > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			now, err := s.Status(s.t.Context(), false)
			for i := range now.Jobs {
				v := &now.Jobs[i]
				s.t.Errorf("3 minutes later job %s is %s, start %d: %s; %s", v.ID, v.Phase, v.Restarts+1, v.Sentence, s.output(v.ID))
			}
			s.t.Fatalf("jobs have not ended (%v)\n%s", err, s.said.text.String())
		}
	}
	s.prune()
	s.witness()
	s.settled = true
	s.backup()
	for user, ids := range s.mine {
		s.count("jobs of "+user, len(ids))
	}
	s.count("jobs of b whose data is as they left it", len(s.left))
	for _, what := range []string{"doubled", "lost"} {
		if text := must(os.ReadFile(filepath.Join(s.common, what))); len(text) > 0 {
			s.count(what, strings.Count(string(text), "\n"))
			s.t.Errorf("%s (job, start, step):\n%s", what, text)
		}
	}
	ends := strings.Fields(string(must(os.ReadFile(filepath.Join(s.common, "finished")))))
	jobs := map[string]bool{}
	for i := 0; i < len(ends); i += 3 {
		jobs[ends[i]] = true
	}
	s.count("jobs that finished", len(jobs))
	s.count("last steps repeated", len(ends)/3-len(jobs))
}

// While the scheduler, keepers and backups are killed, and files of one user are pruned, no accepted job is lost, no job and
// no slot has two processes, backups are whole, and the data of the other user is untouched. An hour, with a table:
//
//	OXGANG_STORM=60m RAPID_SEED=7 go test ./live/serve -run TestUsers_storm -v -timeout 2h
func TestUsers_storm(t *testing.T) {
	long := 8 * time.Second
	if text := os.Getenv("OXGANG_STORM"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newStorm(t)
	s.rage(long)
	s.settle()
	s.row()
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		t.Logf("%5d %s", s.counts[what], what)
	}
	if s.kills() == 0 || len(s.left) < len(s.mine["b"]) || s.counts["backups restored"] == 0 || len(s.left) == 0 {
		t.Errorf("%d kills, %d backups, %d ended jobs of bob; want some of each", s.kills(), s.counts["backups restored"], len(s.left))
	}
}
