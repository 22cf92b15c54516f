package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// played returns what a list of runs took, one after another.
func played(ms ...int) func() usage {
	return func() usage {
		u := usage{time.Duration(ms[0]) * time.Millisecond, 100 << 20}
		ms = append(ms[1:], ms[0])
		return u
	}
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name          string
		before, after func() usage
		within        bool
		turns         int
	}{
		{"as fast", played(100), played(100), true, 3},
		{"a tenth slower", played(100), played(110), true, 3},
		{"slower", played(100), played(112), false, 9},
		{"faster", played(100), played(50), true, 3},
		{"slower in some runs", played(100), played(150, 120, 105), true, 3},
		{"once as fast, late", played(100), played(150, 150, 150, 150, 100, 150, 150, 150, 150), true, 6},
		{"slower in all but noise before", played(300, 100), played(115), false, 9},
		{"more memory", played(100), func() usage { return usage{time.Second / 10, 111 << 20} }, false, 9},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, after, turns := &build{}, &build{dir: "after"}, 0
			c, err := compare(func(b *build) (usage, error) {
				if b == before {
					turns++
					return tc.before(), nil
				}
				return tc.after(), nil
			}, before, after, 3, 1.10)
			if err != nil {
				t.Fatal(err)
			}
			if c.within(1.10) != tc.within || turns != tc.turns {
				t.Errorf("within %v after %d turns, want %v after %d: %s", c.within(1.10), turns, tc.within, tc.turns, c.line("job", 1.10))
			}
			if said := strings.Contains(c.line("job", 1.10), "TOO MUCH"); said == tc.within {
				t.Errorf("line %q", c.line("job", 1.10))
			}
		})
	}
}

// A process is measured, and a job that fails ends all.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	b := build{dir: "/bin"}
	u, err := b.run(job{program: "sh", args: []string{"-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"}})
	if err != nil || u.cpu <= 0 || u.memory < 100<<10 {
		t.Errorf("usage %+v, error %v", u, err)
	}
	if _, err := b.run(job{program: "sh", args: []string{"-c", "echo testing: no benchmarks"}, says: "gpus=25000"}); err == nil {
		t.Error("no error where a job did nothing")
	}
	if _, err := b.run(job{program: "sh", args: []string{"-c", "echo no such job; exit 3"}}); err == nil || !strings.Contains(err.Error(), "no such job") {
		t.Errorf("error %v, want what the program said", err)
	}
}

func TestPin(t *testing.T) {
	if !regexp.MustCompile(`^[0-9a-f]{40}\n$`).MatchString(pin) {
		t.Errorf("pin %q, want one commit in full", pin)
	}
}

func TestWriteSacct(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.txt")
	if err := writeSacct(path, 100); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	if len(lines) != 101 || strings.Count(lines[100], "|") != strings.Count(lines[0], "|") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
