package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/policy/registry"
)

// The module of the guide is built outside the repository, with a replace directive, and run.
func TestOwn_policy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	repository, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs/guide/own-policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(repository, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  block(t, string(page), "Create `go.mod`") + "\nreplace github.com/oxgang/oxgang => " + repository + "\n",
		"main.go": block(t, string(page), "Create `main.go`"),
		"go.sum":  string(sums),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := in(t, dir, "go", "build", "-mod=mod", "-o", "small", "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	small := filepath.Join(dir, "small")
	out, err := in(t, dir, small, "simulate", "--policy", "small,easy,fifo", "--generate-jobs", "40", "--report", "", "-q")
	if err != nil || !regexp.MustCompile(`(?m)^small +40 +40 `).MatchString(out) {
		t.Errorf("%v\n%s\nwant a row of policy small, in which all jobs are done", err, out)
	}
	if out, err := in(t, dir, small, "simulate", "--policy", "smal"); err == nil || !strings.Contains(out, "did you mean small?") {
		t.Errorf("%v\n%s\nwant that policy small was meant", err, out)
	}
	if out, err := in(t, dir, small, "policies"); err != nil || !strings.Contains(out, "\nsmall ") {
		t.Errorf("%v\n%s\nwant policy small among the policies", err, out)
	}
}

// block returns the first block of code of a page after a mark.
func block(t *testing.T, page, mark string) string {
	t.Helper()
	_, after, found := strings.Cut(page, "\n"+mark)
	_, code, begun := strings.Cut(after, "\n```")
	_, code, named := strings.Cut(code, "\n")
	code, _, ended := strings.Cut(code, "\n```\n")
	if !found || !begun || !named || !ended {
		t.Fatalf("the page has no block after %s", mark)
	}
	return code + "\n"
}

// in runs a program in a folder, without the network, and returns what it says.
func in(t *testing.T, dir, program string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// What cannot be a policy is refused before anything runs.
func TestRun_refuses_policies(t *testing.T) {
	works := func(map[string]string) (policy.Policy, error) { return queue.New(queue.FIFO()), nil }
	for want, e := range map[string]registry.Entry{
		`policy "My Policy": want a name of at most 63 lower-case`: {Name: "My Policy", New: works},
		"policy sia: this name is taken":                           {Name: "sia", New: works},
		"policy mine: no New":                                      {Name: "mine"},
		"policy mine: without settings: no file":                   {Name: "mine", New: func(map[string]string) (policy.Policy, error) { return nil, errors.New("no file") }},
		"policy mine: New returned none":                           {Name: "mine", New: func(map[string]string) (policy.Policy, error) { return nil, nil }},
		`policy mine: placer "magic" is not known`:                 {Name: "mine", New: works, Placer: "magic"},
	} {
		if err := run(t.Context(), []registry.Entry{e}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
