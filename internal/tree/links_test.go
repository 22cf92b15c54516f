package tree

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code = regexp.MustCompile("`[^`\n]*`") // in which nothing is a link
)

// TestLinks: what the module's pages link to in the module is there.
func TestLinks(t *testing.T) {
	tree := os.DirFS(testdata.Root(t))
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, target := range dangling(tree, name, string(text)) {
			t.Errorf("%s: link to %s, which is not there", name, target)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDangling(t *testing.T) {
	tree := os.DirFS(testdata.Root(t))
	text := "[a](../LICENSE) [b](../docs/no-such.md#x) [c](https://example.org/x) [d](#below) `^[a](e)`"
	if got := dangling(tree, "docs/page.md", text); len(got) != 1 || got[0] != "../docs/no-such.md#x" {
		t.Errorf("got dangling links %q, want the one to no-such.md", got)
	}
}

// dangling returns the relative links of a page whose files do not exist.
func dangling(tree fs.FS, page, text string) []string {
	var missing []string
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		file, _, _ := strings.Cut(m[1], "#")
		if file == "" || strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
			continue
		}
		if _, err := fs.Stat(tree, path.Join(path.Dir(page), file)); err != nil {
			missing = append(missing, m[1])
		}
	}
	return missing
}

// command is a Go command in a page with the package that it names.
var command = regexp.MustCompile(`go (?:test|run|doc|build|vet|generate) (?:[^` + "`" + `\n#]* )?\./([a-z0-9_/]+)`)

// TestCommands: the packages that commands in pages name are there, below the root or in the module of Kubernetes' tests. Decisions and
// the history of releases name what was there at the time.
func TestCommands(t *testing.T) {
	tree := os.DirFS(testdata.Root(t))
	n := 0
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" || path.Base(path.Dir(name)) == "adr" || name == "CHANGELOG.md" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			n++
			if !isDir(tree, m[1]) && !isDir(tree, "live/kube/rig/"+m[1]) {
				t.Errorf("%s: %s: no such package", name, m[0])
			}
		}
		return err
	})
	if err != nil || n < 20 {
		t.Errorf("%v; %d commands, want at least 20", err, n)
	}
}

func isDir(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, path.Clean(name))
	return err == nil && info.IsDir()
}
