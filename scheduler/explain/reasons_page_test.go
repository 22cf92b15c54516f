package explain

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

//go:generate go test -run ^TestReasonsPage$ -update .

var update = flag.Bool("update", false, "write the table of docs/guide/reasons.md")

// The page has the table between these lines.
const (
	tableBegin = "<!-- The table is generated from explain.References: go generate ./scheduler/explain -->\n"
	tableEnd   = "<!-- end -->\n"
)

// TestReasonsPage: the table in docs/guide/reasons.md has one row for each reason, as References has it. With -update it is written.
func TestReasonsPage(t *testing.T) {
	path := filepath.Join(testdata.Root(t), "docs/guide/reasons.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !opened || !closed {
		t.Fatalf("%s has no lines %q and %q, want the table between them", path, tableBegin, tableEnd)
	}
	switch want := before + tableBegin + reasonsTable() + tableEnd + after; {
	case string(text) == want:
	case *update:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/guide/reasons.md is not current: run go generate ./scheduler/explain")
	}
}

func reasonsTable() string {
	var b strings.Builder
	b.WriteString("\n| Reason | What it means | What ends it | Example of the sentence |\n| --- | --- | --- | --- |\n")
	for _, r := range References() {
		ends := r.Ends
		if ends == "" {
			ends = "—"
		}
		if r.Details != "" {
			r.Example += ". With `--verbose`: " + r.Details
		}
		fmt.Fprintf(&b, "| `%v` | %s | %s | %s |\n", r.Why.Kind, r.Means, ends, r.Example)
	}
	b.WriteString("\n")
	return b.String()
}
