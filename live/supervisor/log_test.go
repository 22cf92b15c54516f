//go:build linux

package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLog(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, `[ $RANK = 1 ] && { printf 'one\ntwo'; exit; }; seq 30; echo oops >&2; printf 'no end'`)
	b.start()
	s := b.end()
	text, err := os.ReadFile(b.launch.Log)
	if err != nil {
		t.Fatal(err)
	}
	var of [2]string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[rank 1] ") {
			of[1] += line
		} else {
			of[0] += line
		}
	}
	if !strings.HasPrefix(of[0], "1\n2\n") || !strings.HasSuffix(of[0], "29\n30\noops\nno end\n") || of[1] != "[rank 1] one\n[rank 1] two\n" {
		t.Errorf("lines of rank 0 %q and rank 1 %q", of[0], of[1])
	}
	if len(s.Tail) != 20 || !strings.Contains(strings.Join(s.Tail, " "), "30") {
		t.Errorf("tail %q, want the last 20 lines", s.Tail)
	}
	if info, err := os.Stat(b.launch.Log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v %v, want it the owner's alone", info.Mode(), err)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, `head -c 200000 /dev/zero | tr '\0' x; echo; echo end`)
	b.start()
	s := b.end()
	text, err := os.ReadFile(b.launch.Log)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for line := range strings.Lines(string(text)) {
		total += strings.Count(line, "x")
		if len(line) > lineMax+1 {
			t.Errorf("a line of %d bytes, want at most %d", len(line), lineMax)
		}
	}
	if total != 200000 || !strings.HasSuffix(string(text), "\nend\n") {
		t.Errorf("%d bytes arrived, want 200000, and the next line", total)
	}
	if last := s.Tail[len(s.Tail)-1]; last != "end" {
		t.Errorf("last line %q, want end", last)
	}
}

// TestFlood: output at the speed of a pipe neither fills the disk nor keeps
// the workers from being stopped.
func TestFlood(t *testing.T) {
	b := newBench(t, 2, `echo $$ >>$T/pids; [ $RANK = 0 ] && exec yes; exec yes "$(head -c 3000 /dev/zero | tr '\0' y)"`)
	b.start()
	b.file("pids", 2)
	limit := b.launch.LogBytes*int64(b.launch.LogFiles) + lineMax
	most, began := int64(0), time.Now()
	b.until("two seconds of output", func() bool {
		most = max(most, b.disk())
		return time.Since(began) > 2*time.Second
	})
	b.stop(0)
	s := b.end()
	if most = max(most, b.disk()); most > limit || most < b.launch.LogBytes {
		t.Errorf("the log took up to %d bytes, want at most %d", most, limit)
	}
	if len(s.Tail) != tailMax {
		t.Errorf("%d lines of tail, want %d", len(s.Tail), tailMax)
	}
	t.Logf("at most %d bytes on disk, of %d", most, limit)
}

func (b *bench) disk() int64 {
	files, _ := filepath.Glob(b.launch.Log + "*")
	total := int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			total += info.Size()
		}
	}
	return total
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l := &Launch{Log: filepath.Join(dir, "log"), LogBytes: 10, LogFiles: 3}
	for _, generation := range []string{"a", "b"} { // the second goes on in the file of the first
		w, err := openLog(l)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			w.write(fmt.Appendf(nil, "%s%d--\n", generation, i))
		}
		if lines, err := w.tail(); err != nil || len(lines) != 4 {
			t.Errorf("tail %q %v, want 4 lines", lines, err)
		}
	}
	for name, want := range map[string]string{"log": "b2--\nb3--\n", "log.1": "b0--\nb1--\n", "log.2": "a2--\na3--\n", "log.3": ""} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

// TestLogCannotBeWritten: the lines are lost, the tail has them, and a file
// that cannot be rotated does not grow.
func TestLogCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	w, err := openLog(&Launch{Log: filepath.Join(dir, "log"), LogBytes: 10, LogFiles: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.write([]byte("first---\n"))
	inTheWay := filepath.Join(dir, "log.1")
	if err := os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write([]byte("second\n"))
	w.write([]byte("third\n"))
	if got, _ := os.ReadFile(w.path); string(got) != "first---\n" {
		t.Errorf("log %q, want it as it was", got)
	}
	if lines, err := w.tail(); err == nil || len(lines) != 3 {
		t.Errorf("tail %q, error %v, want 3 lines and an error", lines, err)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	w.write([]byte("fourth\n"))
	if got, _ := os.ReadFile(w.path); string(got) != "fourth\n" {
		t.Errorf("log %q, want it to go on", got)
	}
}
