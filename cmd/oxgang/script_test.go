package main

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/opt/exact"
)

var update = flag.Bool("update", false, "rewrite what sessions expect of standard output")

// TestMain makes oxgang a command of the scripts, and of the tests: each call
// is a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"oxgang": main, live.KubectlPlugin: main})
}

// TestScript runs the sessions in testdata/script.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"status": exitStatus, "big": big, "crlf": crlf, "bom": bom, "truncate": truncate,
	}
	maps.Copy(commands, liveCommands)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Cmds:      commands,
		Condition: condition,
		Setup: func(e *testscript.Env) error {
			e.Values[fakeKey{}] = newFake(e.WorkDir)
			e.Setenv("KUBE", filepath.Join(testdata.Root(t), "cmd", "oxgang", "testdata", "kube"))
			e.Setenv("DUMP", filepath.Join(testdata.Root(t), "simulate", "trace", "testdata", "kubernetes.json.gz"))
			e.Setenv("PRICES", filepath.Join(testdata.Root(t), "docs", "guide", "prices"))
			return nil
		},
	})
}

// condition knows [cgo]: the build has the exact solver.
func condition(name string) (bool, error) {
	if name != "cgo" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return exact.Available, nil
}

// exitStatus runs a command and checks its exit status: status 2 oxgang trace foo.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// big writes a file: big line FILE MIB is a header and one endless line of
// zeros, big rows FILE N a trace of that many jobs, big mps FILE N a linear
// program of that many columns.
func big(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: big line|rows|mps FILE NUMBER")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	w := bufio.NewWriter(f)
	head, row := "name,time,application,num_replicas,batch_size\n", "job-%[1]d,%[1]d,cifar10,1,128\n"
	if args[0] == "mps" {
		head, row = "ROWS\n N obj\n L cap\nCOLUMNS\n", " x%[1]d cap 1 obj -%[1]d\n"
	}
	fmt.Fprint(w, head)
	for i := range n {
		if args[0] != "line" {
			fmt.Fprintf(w, row, i)
		}
	}
	if args[0] == "mps" {
		fmt.Fprint(w, "RHS\n cap 1\nENDATA\n")
	}
	ts.Check(w.Flush())
	if args[0] == "line" {
		ts.Check(f.Truncate(int64(n) << 20)) // a hole takes no room on the disk
	}
	ts.Check(f.Close())
}

// edit returns a command that rewrites files.
func edit(change func(string) string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		for _, name := range args {
			ts.Check(os.WriteFile(ts.MkAbs(name), []byte(change(ts.ReadFile(name))), 0o666))
		}
	}
}

var (
	crlf     = edit(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })
	bom      = edit(func(s string) string { return "\uFEFF" + s })
	truncate = edit(func(s string) string { return s[:len(s)*2/3] })
)
