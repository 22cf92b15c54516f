package statedir_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/live/local/statedir"
)

// All generations are found, whatever the name of the state directory, and nothing else.
func TestLaunched(t *testing.T) {
	for _, name := range []string{"state", "state[2]", "a[b]*?c", `back\slash`, "sp ace"} {
		f := statedir.Folders{Dir: filepath.Join(t.TempDir(), name)}
		if got, err := f.Launched(); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v before there is anything, want nothing", name, got, err)
		}
		want := []statedir.Generation{{Job: "a", Number: 1}, {Job: "a", Number: 2}, {Job: "b-2", Number: 1}}
		for _, g := range want {
			launch(t, f.Generation(g))
		}
		launch(t, filepath.Join(f.Job("a"), "checkpoints"))
		if err := os.MkdirAll(f.Generation(statedir.Generation{Job: "c", Number: 1}), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Launched(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
}

func launch(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "launch.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
}
