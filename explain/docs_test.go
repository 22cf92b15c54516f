package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/doctable"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/policy"
)

// TestReasonsPage: the page has a row for every kind and none besides, its example is the
// sentence that is printed, and it says what unblocks a kind exactly where the sentence does.
func TestReasonsPage(t *testing.T) {
	var names []string
	for _, k := range policy.Kinds() {
		names = append(names, k.String())
	}
	doctable.Check(t, "guide/reasons#Reasons", names)
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "docs", "guide", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range policy.Kinds() {
		if complaint := wrong(string(text), k); complaint != "" {
			t.Errorf("docs/guide/reasons.md: row `%v`: %s", k, complaint)
		}
	}
}

// wrong returns what is wrong with the row of a kind; empty if nothing is.
func wrong(page string, k policy.Kind) string {
	_, row, _ := strings.Cut(page, "\n| `"+k.String()+"` | ")
	row, _, _ = strings.Cut(row, "\n")
	cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
	if len(cells) != 4 {
		return "want five cells"
	}
	why := examples[k].why
	why.Kind = k
	if want := exampleContext(why).because(); cells[3] != want {
		return "the example is not " + want
	}
	if says, asks := cells[2] != "—", templates[k].unblock != nil; says != asks {
		return "the sentence and the row differ in whether something unblocks it"
	}
	return ""
}

// Rows with a bug seeded into them are found.
func TestReasonsPage_finds_what_is_wrong(t *testing.T) {
	good := "\n| `reserved` | a | b | — | it holds its reservation of 8 a100 GPUs until it ends |\n"
	if got := wrong(good, policy.Reserved); got != "" {
		t.Fatal(got)
	}
	for _, bug := range []string{"", strings.Replace(good, "8 a100", "9 a100", 1), strings.Replace(good, "—", "time", 1), strings.Replace(good, "| b ", "", 1)} {
		if wrong(bug, policy.Reserved) == "" {
			t.Errorf("nothing is found wrong with %q", bug)
		}
	}
}
