package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A trial compiles all drawn bugs of a package together: each function with bugs begins with a copy of its body for each, and
// a variable of the environment chooses the copy that runs. So a test binary is built once, and run once for each bug. A bug
// is tried only on the tests that reach its function.
type trial struct {
	root, dir, tmp string
	bugs           map[int]site // that compile and are not caught yet, by number
}

const (
	module   = "github.com/oxgang/oxgang"
	chosen   = "OXGANG_MUTANT"         // the number of the bug that is active
	reaching = "OXGANG_MUTANT_REACHED" // the file to which the numbers of reached bugs are appended
)

// chooser is added to the package. It writes a number at most once.
const chooser = `
import (
	mutantOS "os"
	mutantStrconv "strconv"
	mutantSync "sync"
)

var (
	mutantChosen, _ = mutantStrconv.Atoi(mutantOS.Getenv("` + chosen + `"))
	mutantFile      = mutantOS.Getenv("` + reaching + `")
	mutantReached   mutantSync.Map
)

func mutantIs(n int) bool {
	if mutantFile != "" {
		if _, again := mutantReached.LoadOrStore(n, true); !again {
			if f, err := mutantOS.OpenFile(mutantFile, mutantOS.O_APPEND|mutantOS.O_CREATE|mutantOS.O_WRONLY, 0o666); err == nil {
				_, _ = f.WriteString(mutantStrconv.Itoa(n) + "\n")
				_ = f.Close()
			}
		}
	}
	return mutantChosen == n+1
}
`

// withBugs returns the source of a file in which each function begins with the copies of its body that have a bug.
func withBugs(file string, source []byte, bugs map[int]site) ([]byte, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	done := 0
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		open, end := set.Position(f.Body.Lbrace), set.Position(f.Body.Rbrace).Offset
		var copies strings.Builder
		for _, id := range slices.Sorted(maps.Keys(bugs)) {
			if b := bugs[id]; b.file == file && open.Offset < b.from && b.to <= end {
				copies.WriteString(bodyWithBug(set, f, source, id, &b))
			}
		}
		if copies.Len() > 0 {
			out.Write(source[done : open.Offset+1])
			fmt.Fprintf(&out, "%s\n//line %s:%d\n", copies.String(), filepath.Base(file), open.Line)
			done = open.Offset + 1
		}
	}
	out.Write(source[done:])
	return out.Bytes(), nil
}

// bodyWithBug returns a copy of a function's body that runs if the bug is chosen. The compiler reports its errors in a file
// that has the bug's number as its name.
func bodyWithBug(set *token.FileSet, f *ast.FuncDecl, source []byte, id int, b *site) string {
	edits := []site{*b}
	label := func(n *ast.Ident) { // labels are unique in a function
		at := set.Position(n.End()).Offset
		if at <= b.from || at > b.to {
			edits = append(edits, site{from: at, to: at, text: fmt.Sprint("Bug", id)})
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			label(n.Label)
		case *ast.BranchStmt:
			if n.Label != nil {
				label(n.Label)
			}
		}
		return true
	})
	slices.SortStableFunc(edits, func(x, y site) int { return cmp.Compare(x.from, y.from) })
	body, at := "", set.Position(f.Body.Lbrace).Offset+1
	for _, e := range edits {
		body += string(source[at:e.from]) + e.text
		at = e.to
	}
	body += string(source[at:set.Position(f.Body.Rbrace).Offset])
	end := "return"
	if f.Type.Results != nil {
		end = `panic("the function returns nothing")`
	}
	return fmt.Sprintf("\n//line mutant%d.go:1\nif mutantIs(%d) { %s\n%s }", id, id, body, end)
}

// overlay writes the package's files with their bugs, and the list of them for the go command.
func (t *trial) overlay() error {
	replace := map[string]string{}
	name := ""
	for _, path := range must(filepath.Glob(filepath.Join(t.root, t.dir, "*.go"))) {
		file := filepath.Join(t.dir, filepath.Base(path))
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if m := packageName.FindSubmatch(source); m != nil && !strings.HasSuffix(file, "_test.go") {
			name = string(m[1])
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(t.bugs)), func(s site) bool { return s.file == file }) {
			continue
		}
		bad, err := withBugs(file, source, t.bugs)
		replace[path] = filepath.Join(t.tmp, filepath.Base(path))
		if err = errors.Join(err, os.WriteFile(replace[path], bad, 0o600)); err != nil {
			return err
		}
	}
	added := filepath.Join(t.tmp, "mutant_chooser.go")
	replace[filepath.Join(t.root, t.dir, "mutant_chooser.go")] = added
	text, err := json.Marshal(map[string]any{"Replace": replace})
	return errors.Join(err, os.WriteFile(added, []byte("package "+name+chooser), 0o600),
		os.WriteFile(filepath.Join(t.tmp, "overlay.json"), text, 0o600))
}

var packageName = regexp.MustCompile(`(?m)^package (\w+)`)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var inMutant = regexp.MustCompile(`mutant(\d+)\.go:\d+`)

// compile removes the bugs that do not compile.
func (t *trial) compile() error {
	for {
		if err := t.overlay(); err != nil {
			return err
		}
		output, err := t.gotool("build", "./"+t.dir)
		if err == nil {
			return nil
		}
		broken := inMutant.FindAllStringSubmatch(output, -1)
		if len(broken) == 0 {
			return fmt.Errorf("go build: %w: %s", err, output)
		}
		for _, m := range broken {
			delete(t.bugs, must(strconv.Atoi(m[1])))
		}
	}
}

func (t *trial) gotool(command string, args ...string) (string, error) {
	args = append([]string{command, "-overlay=" + filepath.Join(t.tmp, "overlay.json"), "-gcflags=" + module + "/" + t.dir + "=-e"}, args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = t.root
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// starting are the packages that start processes. Their tests that -short skips are run too.
var starting = map[string]bool{"./live/local": true, "./live/local/statedir": true, "./live/serve": true, "./live/supervisor": true}

// A check is a test of a binary: its name, the time it takes, and the numbers of the bugs that it reaches.
type check struct {
	name    string
	took    time.Duration
	reaches map[int]bool
	full    bool // it runs without -short, which skips it
}

// catch returns the bugs that the short tests of a package catch, each with the test that does.
func (t *trial) catch(pkg string) (map[int]string, error) {
	bin := filepath.Join(t.tmp, "test")
	if output, err := t.gotool("test", "-c", "-vet=off", "-ldflags=-s -w", "-o", bin, pkg); err != nil {
		return nil, fmt.Errorf("go test -c %s: %w: %s", pkg, err, output)
	}
	checks, err := t.checks(pkg, bin)
	if err != nil {
		return nil, err
	}
	by := map[int]string{}
	for _, id := range slices.Sorted(maps.Keys(t.bugs)) {
		if test := t.try(pkg, bin, id, checks); test != "" {
			by[id] = test
		}
	}
	return by, nil
}

// checks runs each short test alone, without a bug. Tests that fail or reach no bug are left out. The fastest come first.
func (t *trial) checks(pkg, bin string) ([]check, error) {
	list, err := t.run(pkg, bin, nil, "-test.short", "-test.list=.")
	if err != nil {
		return nil, fmt.Errorf("%s -test.list: %w: %s", pkg, err, list)
	}
	var all []check
	for name := range strings.FieldsSeq(list) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		reached := filepath.Join(t.tmp, "reached")
		_ = os.Remove(reached)
		c := check{name: name, reaches: map[int]bool{}}
		env, args := []string{reaching + "=" + reached}, []string{"-test.v", "-test.run=^" + name + "$", "-test.timeout=2m"}
		began := time.Now()
		output, err := t.run(pkg, bin, env, append(args, "-test.short")...)
		if c.full = starting[pkg] && strings.Contains(output, "\n--- SKIP: "+name); c.full {
			began = time.Now()
			output, err = t.run(pkg, bin, env, args...)
		}
		if err != nil {
			fmt.Printf("LEFT OUT    %s %s fails without a bug: %s\n", pkg, name, failed.FindString(output))
			continue
		}
		c.took = time.Since(began)
		text, _ := os.ReadFile(reached)
		for n := range strings.FieldsSeq(string(text)) {
			c.reaches[must(strconv.Atoi(n))] = true
		}
		if len(c.reaches) > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b check) int { return cmp.Compare(a.took, b.took) })
	return all, nil
}

// try returns the test that catches a bug. It runs those that take less than a second alone first, and last those that
// start processes. One of these must pass again without the bug, because it can fail on a busy machine.
func (t *trial) try(pkg, bin string, id int, checks []check) string {
	var names [3][]string
	var sum time.Duration
	for _, c := range checks {
		group := 0
		if c.full {
			group = 2
		} else if c.took >= time.Second {
			group = 1
		}
		if c.reaches[id] {
			names[group] = append(names[group], c.name)
			sum += c.took
		}
	}
	limit := fmt.Sprint("-test.timeout=", min(3*time.Minute, 10*sum+20*time.Second))
	for group := range names {
		if len(names[group]) == 0 {
			continue
		}
		args := []string{"-test.failfast", limit, "-test.run=^(" + strings.Join(names[group], "|") + ")$"}
		if group < 2 {
			args = append(args, "-test.short")
		}
		output, err := t.run(pkg, bin, []string{fmt.Sprint(chosen, "=", id+1)}, args...)
		if err == nil {
			continue
		}
		test := "a test that did not end"
		if m := failed.FindStringSubmatch(output); m != nil {
			test = m[1]
		}
		if group == 2 {
			if _, err := t.run(pkg, bin, nil, args...); err != nil {
				continue
			}
		}
		return test
	}
	return ""
}

// run runs a test binary in the folder of its package, with at most 16 GB of addresses: a bug can append forever.
func (t *trial) run(pkg, bin string, env []string, args ...string) (string, error) {
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 16000000; exec "$@"`, "sh", bin}, args...)...)
	cmd.Dir = filepath.Join(t.root, pkg)
	cmd.Env = append(append(os.Environ(), "RAPID_SEED=1", "RAPID_NOFAILFILE=true"), env...)
	output, err := cmd.CombinedOutput()
	return string(output), err
}
