package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// crashed leaves a directory as a killed process does: with a log. It returns the states
// after each of its transactions, the empty one first.
func crashed(t *testing.T, dir string) []*State {
	t.Helper()
	work := t.TempDir()
	s := opened(t, work)
	states := []*State{loaded(t, s)}
	for i := range 6 {
		id := job.ID(fmt.Sprint("j", i))
		for _, do := range []func() error{
			func() error { return s.Accept(newJob(id, "x")) },
			func() error { return s.Commit(&Plan{Round: int64(i + 1), Changes: []Change{started(id, 1, i)}}) },
			func() error { return s.Report(id, at(i), &job.Report{Job: id, Epoch: i}) },
			func() error { return s.End(id, Ending{Outcome: scheduler.Done, At: at(i)}) },
		} {
			must(t, do())
			states = append(states, loaded(t, s))
		}
	}
	for _, name := range []string{"oxgang.db", "oxgang.db-wal"} {
		copyFile(t, filepath.Join(work, name), filepath.Join(dir, name))
	}
	return states
}

// position returns after how many of the transactions a state is; -1: it is none of them.
func position(states []*State, st *State) int {
	for i, s := range states {
		if cmp.Equal(s, st) {
			return i
		}
	}
	return -1
}

// TestDamagedLog: a log that is cut short, or has a flipped bit, gives the first
// transactions, all of them up to the damage.
func TestDamagedLog(t *testing.T) {
	from := t.TempDir()
	states := crashed(t, from)
	wal, err := os.ReadFile(filepath.Join(from, "oxgang.db-wal"))
	must(t, err)
	n, random := 80, rng.Stream(4, "store")
	if testing.Short() {
		n = 20
	}
	last := 0
	for i := range n {
		dir, end := t.TempDir(), len(wal)*i/(n-1)
		copyFile(t, filepath.Join(from, "oxgang.db"), filepath.Join(dir, "oxgang.db"))
		must(t, os.WriteFile(filepath.Join(dir, "oxgang.db-wal"), wal[:end], 0o600))
		st, _, err := look(dir)
		must(t, err)
		got := position(states, st)
		if got < last {
			t.Fatalf("log of %d bytes: state %d, with fewer bytes it was %d", end, got, last)
		}
		last = got

		bit := random.IntN(8 * len(wal))
		wal[bit/8] ^= 1 << (bit % 8)
		copyFile(t, filepath.Join(from, "oxgang.db"), filepath.Join(dir, "oxgang.db"))
		must(t, os.WriteFile(filepath.Join(dir, "oxgang.db-wal"), wal, 0o600))
		wal[bit/8] ^= 1 << (bit % 8)
		if st, _, err := look(dir); err == nil && position(states, st) < 0 {
			t.Fatalf("bit %d of the log flipped: a state that never was, of round %d", bit, st.Round)
		}
	}
	if last != len(states)-1 {
		t.Errorf("the whole log gives state %d, want %d", last, len(states)-1)
	}
}

// TestPosition: the check of TestDamagedLog sees half a transaction.
func TestPosition(t *testing.T) {
	dir := t.TempDir()
	states := crashed(t, dir)
	st, _, err := look(dir)
	must(t, err)
	if got := position(states, st); got != len(states)-1 {
		t.Fatalf("state %d, want the last, %d", got, len(states)-1)
	}
	must(t, alter(filepath.Join(dir, "oxgang.db"), "UPDATE state SET round = round + 1"))
	st, _, err = look(dir)
	must(t, err)
	if got := position(states, st); got != -1 {
		t.Errorf("half a plan taken for state %d", got)
	}
}
