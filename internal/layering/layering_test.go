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
		{"tools are below policies", "policy/sia", "~/policy/grant", ""},
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
		{"math/rand/v2", "policy/pop", "math/rand/v2", "imports math/rand/v2, which floors up to 6 and opt leave to internal/rng"},
		{"math/rand/v2 of the cellar", "internal/near", "math/rand/v2", "leave to internal/rng"},
		{"math/rand/v2 of rng", "internal/rng", "math/rand/v2", ""},
		{"os of rng", "internal/rng", "os", "internal/rng: imports os"},
		{"sync", "policy/pop", "sync", "imports sync"},
		{"sync/atomic", "perf", "sync/atomic", "imports sync/atomic"},
		{"rows side by side", "policy/goodput", "sync sync/atomic", ""},
		{"sync of the cellar", "internal/rng", "sync", "internal/rng: imports sync"},
		{"kubernetes", "scheduler", "k8s.io/api/core/v1", "imports k8s.io/api/core/v1, which floors up to 6 and opt leave to api/... and live/kube/pods"},
		{"kubernetes' nouns", "live/kube/api/v1alpha1", "k8s.io/apimachinery/pkg/runtime", ""},
		{"kubernetes' pods", "live/kube/pods", "k8s.io/api/core/v1", ""},
		{"nouns do no I/O", "live/kube/api/v1alpha1", "os", "live/kube/api/v1alpha1: imports os"},
		{"pods share no state", "live/kube/pods", "sync", "live/kube/pods: imports sync"},
		{"a policy's program calls no solver of another", "budget", "github.com/bartolsthoorn/gohighs/highs", "leave to opt/exact"},
		{"a world may", "sim", "os sync net/http math/rand", ""},

		{"opt within itself", "opt/copter", "math sync ~/opt/lp", ""},
		{"opt knows no GPUs", "opt/mmkp", "~/cluster", "opt/mmkp: imports cluster, want only opt"},
		{"opt has no cellar", "opt/mmkp", "~/internal/rng", "imports internal/rng, want only opt"},
		{"opt does no I/O", "opt/lp", "os", "opt/lp: imports os"},
		{"opt brings no library", "opt/lp", "gonum.org/v1/gonum/mat", "imports gonum.org/v1/gonum/mat, want only opt"},
		{"opt/exact brings its solver", "opt/exact", "github.com/bartolsthoorn/gohighs/highs", ""},
		{"opt/exact brings no other", "opt/exact", "gonum.org/v1/gonum/mat", "want only opt"},
		{"opt from a policy", "policy/sia", "~/opt/mmkp", ""},
		{"opt from what computes budgets", "budget", "~/opt/convex ~/policy/boa", ""},
		{"budgets know no world", "budget", "~/sim", "budget: floor 6 imports sim of floor 7"},
		{"opt from a program", "cmd/oxgang", "~/opt/lp", ""},
		{"opt from what runs worlds", "experiments", "~/opt/lp", "experiments: floor 13 imports opt/lp, want only floors 2 to 6, and programs"},
		{"opt is parallel", "opt/copter", "sync/atomic", ""},
		{"opt draws nothing", "opt/copter", "math/rand/v2", "leave to internal/rng"},
		{"opt/exact alone has its solver", "opt/lp", "github.com/bartolsthoorn/gohighs/highs", "want only opt"},
		{"an experiment lists configurations", "experiments", "~/config ~/sim", ""},
		{"a configuration knows no experiment", "config", "~/experiments", "config: floor 8 imports experiments of floor 13"},
		{"a world on its parts", "live/kube", "~/live/eventqueue ~/live/kube/jobadapter ~/live/kube/pods", ""},
		{"a part knows no world", "live/kube/jobadapter", "~/live/kube", "floor 7 imports live/kube of floor 12"},
		{"a part knows no part", "live/agentapi", "~/live/eventqueue", "floor 7 imports live/eventqueue of floor 7"},
		{"a world knows no world", "live/kube", "~/live/local", "floor 12 imports live/local of floor 12"},
		{"a world does not explain", "live/kube", "~/explain", "floor 12 imports explain of floor 13"},
		{"who drives a world explains", "live/kube/manager", "~/explain ~/whatif ~/live/kube ~/live/record", ""},
		{"who drives a world drives no other", "live/kube/manager", "~/live/serve", "floor 15 imports live/serve of floor 15"},
		{"opt from too low", "job", "~/opt/lp", "job: floor 1 imports opt/lp, want only floors 2 to 6"},
		{"opt from the cellar", "internal/rng", "~/opt/lp", "want only floors 2 to 6"},
		{"opt from too high", "sim", "~/opt/lp", "sim: floor 7 imports opt/lp, want only floors 2 to 6"},
		{"opt from the reference wing", "reference/casestudy/wan", "~/opt/lp", ""},
		{"the wing on the tower", "reference/casestudy/wan", "~/sim os", ""},
		{"the wing from a program", "cmd/oxgang", "~/reference/lstm", ""},
		{"the wing from what reproduces figures", "experiments", "~/reference/lstm", ""},
		{"the wing from a policy", "policy/gavel", "~/reference/lstm", "policy/gavel: imports reference/lstm of the reference wing, want only cmd/... and experiments/... to"},
		{"the wing from the simulator", "sim", "~/reference/lstm", "of the reference wing"},
		{"the wing from opt", "opt/lp", "~/reference/lstm", "of the reference wing"},
		{"a program from the wing", "reference/lstm", "~/cmd/oxgang", "want no program"},

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
		"whatif":            {"room whatif: no package stands there"},
		"live/kube/manager": {"room live/kube/manager: no package"},
		"live/kube/pods":    {"room live/kube/pods: no package", "confined k8s.io/...: live/kube/pods imports none"},
		"internal/rng":      {"confined math/rand/...: internal/rng imports none"},
		"opt/exact":         {"confined github.com/bartolsthoorn/gohighs/...: opt/exact imports none"},
		"placement/pack":    nil, // its room has others
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

// TestExceptions: an exception that nothing needs is reported, and there are no more than eight.
func TestExceptions(t *testing.T) {
	if len(exceptions) > maxExceptions {
		t.Errorf("got %d exceptions, want at most %d: say a rule in words, or move a package to the floor where it stands", len(exceptions), maxExceptions)
	}
	left := slices.DeleteFunc(list(t), func(p pkg) bool { return strings.HasPrefix(p.ImportPath, module+"/casestudy/") })
	err := checkRooms(left)
	for _, e := range exceptions {
		want := "exception " + e.from + " -> " + e.to + ": nothing needs it"
		if strings.HasPrefix(e.from, "casestudy/") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("without casestudy: got error %v, want it to contain %q", err, want)
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
	for _, c := range confined {
		if len(c.only) > 0 && c.why == "" {
			t.Errorf("confined %s: left to %v for no reason", c.packages, c.only)
		}
	}
}
