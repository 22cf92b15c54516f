package seeded

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// goes runs the go command in the checkout with defects, and returns what it says.
func goes(t *testing.T, names []string, verb string, args ...string) (string, error) {
	t.Helper()
	overlay, err := Overlay(root, t.TempDir(), names...)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{verb, "-overlay", overlay}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func names(t *testing.T) []string {
	t.Helper()
	all, err := Names(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every defect that the scenes of faults ask for is there.
func TestNames(t *testing.T) {
	want := strings.Fields(`blind careless clinging deaf eager fearful forgetful greedy hasty hurried
		impatient patient pressing stale stubborn trusting unfenced`)
	if got := names(t); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each patch fits the sources as they are, alone.
func TestOverlay(t *testing.T) {
	for _, name := range names(t) {
		if _, err := Overlay(root, t.TempDir(), name); err != nil {
			t.Error(err)
		}
	}
}

// What is patched compiles: all of the defects together, and each alone.
func TestOverlay_compiles(t *testing.T) {
	check := newChecker(t)
	if err := check.with(t.TempDir(), names(t)...); err != nil {
		t.Fatalf("all: %v", err)
	}
	for _, name := range names(t) {
		if err := check.with(t.TempDir(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The test that kills the scheduler at every write finds two of the defects, in the drama named.
// On a busy machine a run of it may miss the first, which is a race: one of eight has to find it.
func TestOverlay_found_by_TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the tests of live/kube")
	}
	for name, drama := range map[string]string{"impatient": "a_job_is_preempted_and_goes_on", "forgetful": "jobs_start"} {
		out, err := goes(t, []string{name}, "test", "-vet=off", "-failfast", "-count=8", "-run", "TestCrash$/^"+drama+"$", "./live/kube")
		if err == nil || !strings.Contains(out, "--- FAIL: TestCrash/"+drama) {
			t.Errorf("%s: got %v, want TestCrash to fail\n%s", name, err, out)
		}
	}
}

// A patch that does not fit, or is none, is refused.
func TestPatch_refused(t *testing.T) {
	const fits = "@@ f\n-b\n+c\n"
	for _, c := range []struct{ patch, source, wrong string }{
		{fits, "a\nb\n", ""},
		{fits, "a\n", "exactly once"},
		{fits, "b\nb\n", "exactly once"},
		{fits, "\tb\nab\n", "exactly once"},
		{"# nothing\n", "b\n", "the patch is empty"},
		{"@@ f\n-b\n+b\n", "b\n", "a change without effect"},
		{"@@ f\n+b\n", "b\n", "a change without effect"},
		{"-b\n+c\n", "b\n", "line 1"},
		{"@@ f\n-b\nc\n", "b\n", "line 3"},
	} {
		all, err := parse(c.patch)
		if err == nil {
			_, err = all[0].apply(c.source)
		}
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q on %q: got %v, want %q", c.patch, c.source, err, c.wrong)
		}
	}
}

// A change leaves the lines around it as they are.
func TestApply(t *testing.T) {
	c := change{"f", []string{"b", "c"}, []string{"d"}}
	if got, err := c.apply("a\nb\nc\ne\n"); err != nil || got != "a\nd\ne\n" {
		t.Errorf("got %q, %v, want a, d, e", got, err)
	}
}
