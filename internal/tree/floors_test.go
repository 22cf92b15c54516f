package tree

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is the import path of the module.
const module = "github.com/oxgang/oxgang"

// floors are the folders at the root, each with the folders that its packages may import besides their own.
// internal is open to all. cmd/oxgang-scheduler, cmd/oxgang/live and cmd/oxgang/cli may import what cmd may, except lab.
var floors = map[string][]string{
	"internal":  {},
	"model":     {"internal"},
	"opt":       {"internal"},
	"policy":    {"internal", "model", "opt"},
	"scheduler": {"internal", "model", "opt", "policy"},
	"simulate":  {"internal", "model", "opt", "policy", "scheduler"},
	"live":      {"internal", "model", "opt", "policy", "scheduler", "simulate"},
	"lab":       {"internal", "model", "opt", "policy", "scheduler", "simulate", "live"},
	"cmd":       {"internal", "model", "opt", "policy", "scheduler", "simulate", "live", "lab"},
}

// TestFloors: no package imports a folder above its own. Test files may.
func TestFloors(t *testing.T) {
	n := 0
	for line := range strings.Lines(goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"/...")) {
		paths := strings.Fields(line)
		n++
		for _, path := range paths[1:] {
			if why := refused(paths[0], path); why != "" {
				t.Errorf("%s imports %s: %s", local(paths[0]), local(path), why)
			}
		}
	}
	if n < 50 {
		t.Fatalf("go list found %d packages, want the whole module", n)
	}
}

// TestNo_lab: the program that runs on Kubernetes, the kubectl plugin and what all commands share contain nothing that
// only serves papers.
func TestNo_lab(t *testing.T) {
	for _, program := range []string{"cmd/oxgang-scheduler", "cmd/oxgang/live", "cmd/oxgang/cli"} {
		for path := range strings.FieldsSeq(goList(t, "-deps", module+"/"+program)) {
			if folder(path) == "lab" {
				t.Errorf("%s links %s", program, local(path))
			}
		}
	}
}

// refused says why one package may not import another; empty: it may.
func refused(from, to string) string {
	below, known := floors[folder(from)]
	switch {
	case !known:
		return "the folder of the importer is on no floor"
	case local(to) == to || folder(from) == folder(to) || slices.Contains(below, folder(to)):
		return ""
	}
	return "want only " + strings.Join(append(below, folder(from)), ", ")
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return string(out)
}

func local(path string) string { return strings.TrimPrefix(path, module+"/") }

func folder(path string) string {
	first, _, _ := strings.Cut(local(path), "/")
	return first
}

// Each rule refuses a seeded import, and allows what stands next to it.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		from, to string
		refused  bool
	}{
		{"policy/sia", "opt/mmkp", false},
		{"policy/sia", "policy/grant", false},
		{"policy/sia", "scheduler/journal", true},
		{"opt/mmkp", "model/job", true},
		{"model/perf", "opt/convex", true},
		{"simulate/sim", "live/driver", true},
		{"live/kube", "lab/rules", true},
		{"cmd/oxgang", "lab/rules", false},
		{"lab/rules", "cmd/oxgang/cli", true},
		{"internal/printable", "model/job", true},
		{"attic/box", "model/job", true},
	} {
		if got := refused(module+"/"+test.from, module+"/"+test.to); (got != "") != test.refused {
			t.Errorf("%s imports %s: refused for %q, want refused: %v", test.from, test.to, got, test.refused)
		}
	}
	if why := refused(module+"/model/job", "time"); why != "" {
		t.Errorf("model/job may not import time: %s", why)
	}
}
