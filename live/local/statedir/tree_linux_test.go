package statedir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// deepen makes folders in one another whose path is longer than any call of the kernel accepts.
func deepen(t *testing.T, dir string, levels int) {
	t.Helper()
	at, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	must(t, err)
	name := strings.Repeat("d", 100)
	for range levels {
		must(t, unix.Mkdirat(at, name, 0o700))
		next, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		must(t, err)
		must(t, unix.Close(at))
		at = next
	}
	must(t, unix.Close(at))
}

// A job with a path of 100,000 bytes is measured and deleted like any other, with few open files.
func TestPrune_of_a_deep_folder(t *testing.T) {
	p := newPlace(t)
	p.job("deep", 3*hour, true)
	p.job("other", 3*hour, true)
	const levels = 1000
	deepen(t, p.o.Folders.Checkpoints("deep"), levels)
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: limit.Max}))
	defer func() { must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }()
	if got := p.prune(Limits{Checkpoints: {Age: hour}, Logs: {Age: hour}})[Checkpoints]; got.Bytes != (levels+3+3)*4096 {
		t.Errorf("deleted %v, want %d blocks", got, levels+6)
	}
	p.want()
}

// A job whose folder cannot be read is named, and the others are pruned.
func TestPrune_passes_over_a_job_in_trouble(t *testing.T) {
	p := newPlace(t)
	p.job("a", 3*hour, true)
	p.job("b", 3*hour, true)
	p.o.Busy = func(id job.ID) bool { return id == "a" && os.RemoveAll(p.o.Folders.Job("a")) != nil }
	p.o.Limits = Limits{Logs: {Age: hour}, Checkpoints: {Age: hour}}
	amounts, err := Prune(p.store, &p.o)
	if err == nil || !strings.Contains(err.Error(), "job a: nothing of it was deleted") || len(amounts) != 4 || amounts[0].Count != 1 {
		t.Errorf("deleted %v, %v; want the logs of b, and that a is named", amounts, err)
	}
	p.want()
}

// A file of 900 GB that takes one block counts as one block, and a file of many names counts once.
func TestSize_counts_blocks(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "sparse"))
	must(t, err)
	must(t, f.Truncate(900e9))
	_, err = f.WriteAt([]byte("x"), 0)
	must(t, err)
	must(t, f.Close())
	must(t, os.WriteFile(filepath.Join(dir, "1"), make([]byte, 1<<20), 0o600))
	for _, name := range []string{"2", "3", "4"} {
		must(t, os.Link(filepath.Join(dir, "1"), filepath.Join(dir, name)))
	}
	if n, err := size(dir); err != nil || n < 1<<20 || n > 1<<20+100<<10 {
		t.Errorf("%d bytes, %v; want about 1 MiB", n, err)
	}
}

// A limit of bytes is each user's own: what one stores deletes nothing of another.
func TestPrune_limits_each_user(t *testing.T) {
	p := newPlace(t)
	for id, uid := range map[job.ID]int{"alice-old": 1, "alice-new": 1, "bob": 2} {
		p.must(p.store.Accept(&store.Job{
			Spec: &job.Spec{ID: id, GPUs: 1}, Token: string(id), Status: job.Status{Phase: job.Waiting, Submitted: now},
			Request: store.Request{Command: []string{"train"}, Dir: "/", User: &account.User{UID: uid}},
		}))
		p.must(p.o.Folders.Make(id, nil))
		age := map[job.ID]time.Duration{"alice-old": 2 * hour, "alice-new": hour, "bob": 3 * hour}[id]
		p.write(filepath.Join(p.o.Folders.Checkpoints(id), "1"), 100<<10)
		p.must(p.store.End(id, store.Ending{Outcome: scheduler.Done, At: now.Add(-age)}))
	}
	p.prune(Limits{Checkpoints: {Bytes: 150 << 10}})
	p.want("jobs/alice-new/checkpoints/1", "jobs/bob/checkpoints/1")
}

// After the clock was set, ages count from then, or from the record of a later end. Before that, a clock that was set forward
// made everything old.
func TestPrune_after_the_clock_was_set(t *testing.T) {
	p := newPlace(t)
	p.job("minutes", 60*24*hour, true)
	p.write(filepath.Join(p.o.Journals, "old.oxj"), 1)
	p.must(os.Chtimes(filepath.Join(p.o.Journals, "old.oxj"), time.Time{}, now.Add(-60*24*hour)))
	limits := Limits{Logs: {Age: 30 * 24 * hour}, Checkpoints: {Age: 30 * 24 * hour}, Journals: {Age: 30 * 24 * hour}, reports: {Age: 24 * hour}}
	p.o.ClockSet = now.Add(-time.Minute)
	before := p.files()
	if got := p.prune(limits); got[reports].Count != 0 {
		t.Errorf("deleted %v, want nothing", got)
	}
	p.want(before...)
	record := filepath.Join(p.o.Folders.Job("minutes"), recordFile)
	p.write(record, 1)
	p.must(os.Chtimes(record, time.Time{}, now.Add(10*24*hour)))
	p.o.Now = now.Add(35 * 24 * hour)
	p.prune(limits)
	p.want("jobs/minutes/checkpoints/1", "jobs/minutes/job.json", "jobs/minutes/log")
	p.o.Now = now.Add(45 * 24 * hour)
	p.prune(limits)
	p.want()
}

// The setting of the clock is noticed while the machine is up, also while no scheduler runs, and after a boot if it was set back.
func TestClock(t *testing.T) {
	at := func(boot string, up, wall time.Duration) clock { return clock{Boot: boot, Up: up, Wall: now.Add(wall)} }
	for what, test := range map[string]struct {
		before, now clock
		set         bool
	}{
		"first":              {clock{}, at("a", hour, hour), false},
		"an hour passes":     {at("a", 0, 0), at("a", hour, hour+time.Second), false},
		"set forward":        {at("a", 0, 0), at("a", hour, 60*24*hour), true},
		"set back":           {at("a", 0, 0), at("a", hour, -hour), true},
		"off for a day":      {at("a", hour, 0), at("b", 0, 24*hour), false},
		"set back by a boot": {at("a", hour, 0), at("b", 0, -hour), true},
	} {
		got := test.before.next(test.now)
		if want := map[bool]time.Time{true: test.now.Wall}[test.set]; !got.Moved.Equal(want) {
			t.Errorf("%s: set at %v, want %v", what, got.Moved, want)
		}
		if again := got.next(got); !again.Moved.Equal(got.Moved) {
			t.Errorf("%s: forgotten", what)
		}
	}
	dir := t.TempDir()
	for range 2 {
		if set, err := ClockSet(dir, false); err != nil || !set.IsZero() {
			t.Errorf("set at %v, %v; want never", set, err)
		}
	}
	stored, err := filepath.Glob(filepath.Join(dir, clockFile))
	must(t, err)
	text, err := os.ReadFile(stored[0])
	must(t, err)
	must(t, os.WriteFile(stored[0], []byte(strings.Replace(string(text), `"wall":"20`, `"wall":"19`, 1)), 0o600))
	if set, err := ClockSet(dir, true); err != nil || set.IsZero() {
		t.Errorf("set at %v, %v; want now", set, err)
	}
}
