package layering

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestLayering applies the rules to the module as it is.
func TestLayering(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages, want the whole module", len(pkgs))
	}
	if err := check(pkgs); err != nil {
		t.Error(err)
	}
	if err := checkRooms(pkgs); err != nil {
		t.Error(err)
	}
}

// list returns the packages of the module, those that need cgo included.
func list(t *testing.T) []pkg {
	t.Helper()
	everything := []string{module + "/...", module + "/internal/testdata"} // "..." leaves out folders of that name
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports"}, everything...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := dec.Decode(&p); err {
		case nil:
			pkgs = append(pkgs, p)
		case io.EOF:
			return pkgs
		default:
			t.Fatalf("go list: %v", err)
		}
	}
}

// TestCheck seeds one bug per rule, and beside it what the rule allows.
func TestCheck(t *testing.T) {
	tests := []struct {
		name    string
		from    string // package below the module
		imports string // space-separated; "~" stands for the module
		want    string // part of the error; empty: none
	}{
		{"downward", "sim", "time ~/scheduler ~/workload ~/cluster", ""},
		{"upward", "policy", "~/placement", "policy: floor 3 imports placement of floor 4"},
		{"upward to a pattern's room", "workload", "~/policy/sia", "workload: floor 4 imports policy/sia of floor 5"},
		{"same floor", "metrics", "~/journal", "metrics: floor 7 imports journal of floor 7"},
		{"same pattern", "policy/sia", "~/policy/pop", "floor 5 imports policy/pop of floor 5"},
		{"orders are below policies", "policy/sia", "~/policy/queue", ""},
		{"exact name before pattern", "policy/builtin", "~/policy/sia", ""},
		{"second of two imports", "job", "~/cluster ~/perf", "job: floor 1 imports perf"},
		{"cellar from the bottom", "cluster", "~/internal/rng", ""},
		{"cellar stands on nothing", "internal/rng", "~/cluster", "floor -1 imports cluster"},
		{"no floor", "manager", "", "manager: stands on no floor"},
		{"no floor below a room", "job/helpers", "", "job/helpers: stands on no floor"},
		{"module root has no floor", "", "", "stands on no floor"},

		{"os", "trace", "io os", "trace: imports os, which floors up to 6"},
		{"below os", "policy/sia", "os/exec", "imports os/exec"},
		{"not below os", "policy/sia", "osmosis", ""},
		{"net/http", "scheduler", "net/http", "imports net/http"},
		{"math/rand", "workload", "math/rand", "imports math/rand"},
		{"math/rand/v2", "policy/pop", "math/rand/v2", "imports math/rand/v2"},
		{"math/rand/v2 of rng", "internal/rng", "math/rand/v2", ""},
		{"os of rng", "internal/rng", "os", "internal/rng: imports os"},
		{"sync", "policy/pop", "sync", "imports sync"},
		{"sync/atomic", "perf", "sync/atomic", "imports sync/atomic"},
		{"kubernetes", "scheduler", "k8s.io/api/core/v1", "imports k8s.io/api/core/v1"},
		{"a world may", "sim", "os sync net/http math/rand", ""},

		{"opt within itself", "opt/copter", "math sync ~/opt/lp", ""},
		{"opt knows no GPUs", "opt/mmkp", "~/cluster", "opt/mmkp: imports cluster, want only opt"},
		{"opt has no cellar", "opt/mmkp", "~/internal/rng", "imports internal/rng, want only opt"},
		{"opt does no I/O", "opt/lp", "os", "opt/lp: imports os"},
		{"opt brings no library", "opt/lp", "gonum.org/v1/gonum/mat", "imports gonum.org/v1/gonum/mat, want only opt"},
		{"opt/exact brings its solver", "opt/exact", "github.com/bartolsthoorn/gohighs/highs", ""},
		{"opt/exact brings no other", "opt/exact", "gonum.org/v1/gonum/mat", "want only opt"},
		{"opt from a policy", "policy/sia", "~/opt/mmkp", ""},
		{"opt from too low", "job", "~/opt/lp", "job: floor 1 imports opt/lp, want only floors 2 to 6"},
		{"opt from the cellar", "internal/rng", "~/opt/lp", "want only floors 2 to 6"},
		{"opt from too high", "sim", "~/opt/lp", "sim: floor 7 imports opt/lp, want only floors 2 to 6"},
		{"opt from a case study", "casestudy/wan", "~/opt/lp", ""},

		{"test helper from code", "policy/sia", "~/internal/testdata", "policy/sia: imports internal/testdata, which only tests may"},
		{"conformance suite from a program", "cmd/oxgang", "~/policy/policytest", "which only tests may"},
		{"conformance suite of anything", "policy/policytest", "os ~/sim ~/internal/testdata", ""},
		{"library above opt", "trace", "pgregory.net/rapid", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			imports := strings.Fields(strings.ReplaceAll(tc.imports, "~", module))
			err := check([]pkg{{ImportPath: strings.TrimSuffix(module+"/"+tc.from, "/"), Imports: imports}})
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, want it to contain %q", err, tc.want)
			}
		})
	}
}

// TestCheckReportsAll: one bad package does not hide the next.
func TestCheckReportsAll(t *testing.T) {
	err := check([]pkg{
		{ImportPath: module + "/cluster", Imports: []string{"os", module + "/job"}},
		{ImportPath: module + "/util"},
		{ImportPath: module + "/perf", Imports: []string{"sync"}},
	})
	want := []string{"cluster: imports os", "cluster: floor 0 imports job", "util: stands on no floor", "perf: imports sync"}
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("got %v, want it to contain %q", err, w)
		}
	}
}

// TestCheckRooms: a package that goes takes its room and its exceptions along.
func TestCheckRooms(t *testing.T) {
	pkgs := list(t)
	if err := checkRooms(pkgs); err != nil {
		t.Fatal(err)
	}
	for gone, want := range map[string][]string{
		"whatif":         {"room whatif: no package stands there"},
		"budget":         {"room budget: no package", "exception budget -> opt/convex: nothing needs it"},
		"placement/pack": nil, // its room has others
	} {
		left := slices.DeleteFunc(slices.Clone(pkgs), func(p pkg) bool { return p.ImportPath == module+"/"+gone })
		err := checkRooms(left)
		if len(left) != len(pkgs)-1 || (err == nil) != (want == nil) {
			t.Errorf("without %s: got error %v", gone, err)
		}
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("without %s: got error %v, want it to contain %q", gone, err, w)
			}
		}
	}
}

// TestTable: a room has one floor and an exception has a reason.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range rooms {
		if seen[r.name] {
			t.Errorf("room %s: second line of that name", r.name)
		}
		seen[r.name] = true
	}
	for _, e := range exceptions {
		if e.why == "" {
			t.Errorf("exception %s -> %s: no reason", e.from, e.to)
		}
	}
}
