package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// console matches the examples of the guide.
var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// file matches a file of the guide: its name and text.
var file = regexp.MustCompile("(?ms)^```(?:yaml|csv) (\\S+)\n(.*?)^```$")

// A guidePage is one of the guide whose examples are run, one after another, in one folder.
type guidePage struct {
	name    string // in docs/guide
	least   int    // examples
	environ []string
	folder  string // below the root of the repository, that is there as well, under its last name; empty: none
	// after is called with each example that has been run.
	after func(line string)
}

// TestGuide runs every example of docs/guide/cli.md, one after another, and
// compares what it prints; the files on the page and the folder prices are there. With -update it writes examples that leave out
// nothing.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every example: half a minute")
	}
	checkPage(t, &guidePage{name: "cli.md", least: 8, after: func(string) {}})
}

// TestGuide_ledger runs every example of docs/guide/ledger.md.
func TestGuide_ledger(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates two runs: seconds")
	}
	checkPage(t, &guidePage{name: "ledger.md", least: 4, after: func(string) {}})
}

// TestGuide_whatif runs every example of docs/guide/whatif.md, on histories of simulate/history/testdata/slurm.
func TestGuide_whatif(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates histories: seconds")
	}
	checkPage(t, &guidePage{name: "whatif.md", least: 2, folder: "simulate/history/testdata/slurm", after: func(string) {}})
}

// TestGuide_research runs every command of docs/guide/research.md; its Python is run by python/tests.
func TestGuide_research(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates runs: seconds")
	}
	checkPage(t, &guidePage{name: "research.md", least: 3, after: func(string) {}})
}

// printed matches the verdict over sixteen seeds and the table over three in the README.
var printed = regexp.MustCompile("(?s)`oxgang simulate --seeds 16` compares [^\n]*:\n\n```\n(.*?)```\n\n`oxgang simulate` prints [^\n]*:\n\n```\n(.*?)```\n")

// TestReadme compares the output of oxgang simulate in the README with the real output, to the last character.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	name := filepath.Join(testdata.Root(t), "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	said := printed.FindStringSubmatch(string(text))
	if said == nil {
		t.Fatalf("%s has no output of oxgang simulate, want %q", name, printed)
	}
	verdict, _, _ := strings.Cut(output(t, t.TempDir(), "oxgang simulate --quiet --report= --seeds 16", nil), "\n\n")
	_, table, _ := strings.Cut(output(t, t.TempDir(), "oxgang simulate --quiet", nil), "\n\n")
	switch verdict += "\n"; {
	case verdict == said[1] && table == said[2]:
	case *update:
		now := strings.NewReplacer(said[1], verdict, said[2], table).Replace(string(text))
		if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("oxgang simulate prints something else than README.md says (-update rewrites it):\n%s\n%s", verdict, table)
	}
}

// checkPage runs the examples of a page.
func checkPage(t *testing.T, p *guidePage) {
	t.Helper()
	name := filepath.Join(testdata.Root(t), "docs", "guide", p.name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dir, examples := t.TempDir(), 0
	if err := os.CopyFS(filepath.Join(dir, "prices"), os.DirFS(filepath.Join(filepath.Dir(name), "prices"))); err != nil {
		t.Fatal(err)
	}
	if p.folder != "" {
		if err := os.CopyFS(filepath.Join(dir, filepath.Base(p.folder)), os.DirFS(filepath.Join(testdata.Root(t), p.folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range file.FindAllStringSubmatch(string(text), -1) {
		if err := os.WriteFile(filepath.Join(dir, f[1]), []byte(f[2]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := console.ReplaceAllStringFunc(string(text), func(block string) string {
		var b strings.Builder
		b.WriteString("```console\n")
		for _, example := range strings.Split(console.FindStringSubmatch(block)[1], "$ ")[1:] {
			examples++
			line, want, _ := strings.Cut(example, "\n")
			printed := output(t, dir, line, p.environ)
			if matches(want, printed) {
				printed = want
			}
			b.WriteString("$ " + line + "\n" + printed)
			p.after(line)
		}
		return b.String() + "```"
	})
	if examples < p.least {
		t.Errorf("found %d examples, want at least %d", examples, p.least)
	}
	switch {
	case got == string(text):
	case *update:
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("examples print something else than docs/guide/%s says (-update rewrites it):\n%s", p.name, got)
	}
}

// output runs a line of the guide and returns what it prints, on both outputs.
func output(t *testing.T, dir, line string, environ []string) string {
	t.Helper()
	words := strings.Fields(line)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "error: ") {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimLeft(string(out), "\n")
}

// matches reports whether printed is want, in which "..." stands for any text.
func matches(want, printed string) bool {
	parts := strings.Split(want, "...")
	rest, found := strings.CutPrefix(printed, parts[0])
	if len(parts) == 1 {
		return found && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return found && strings.HasSuffix(rest, parts[len(parts)-1])
}

func TestMatches(t *testing.T) {
	tests := []struct {
		want, printed string
		match         bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"...\nd\n", "a\nd\n", true},
		{"a\n...\n", "a\nb\n", true},
		{"a\n...\nc\n...\n", "a\nb\nc\nd\n", true},
		{"a\n...\nc\n", "a\nb\nd\n", false},
		{"a ... 1\n", "a b 1\n", true},
		{"a ... 1\n", "a b 2\n", false},
		{"a\n", "a\nb\n", false},
		{"b\n...\n", "a\nb\n", false},
	}
	for i, test := range tests {
		if matches(test.want, test.printed) != test.match {
			t.Errorf("%d: %q against %q: want %v", i, test.want, test.printed, test.match)
		}
	}
}
