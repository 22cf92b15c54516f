package tree

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// ceilings has the number of phrases that each folder may still contain. All other folders may contain none.
// A number may only become smaller.
var ceilings = map[string]int{
	"live/kube":  1, // an error of Kubernetes
	"live/slurm": 1, // the user "nobody"
}

// phrases lists what to look for, and what to write instead. RE2 has no look-behind: group 1, where there is one, is the phrase.
var phrases = []struct{ pattern, advice string }{
	{start + `((?:Who|Whom|Whoever|Whose|Whatever|That which)\b[^?\n]{8,}?[.;:])`, question},
	{start + `(What\b[^?\n]{8,}?[.;:])`, question},
	{
		start + `((?:Of|By|To|With|For|From|On|At|Beside|Among) (?:what|which|whom|these|those|that|them|it|jobs that|one that)\b[^?\n]*?[.;:])`,
		"put the subject first and the condition after the point",
	},
	{`\bof (?:which|whom)\b`, "start a new sentence with the noun"},
	{`\b(?:that|those) of\b`, "repeat the noun"},
	{
		`\b(?:is|are|was|were|be|been) (?:said|told|asked after|looked at|taken to|taken as|taken for)\b`,
		"use a verb for software: prints, reports, reads, assumes",
	},
	{`\bas (?:it|they|he|she|one) (?:is|was|does|did|has|had|are|were|do|have|can|could|would|may)\b`, "say what it is or does"},
	{`\bwhat (?:there )?(?:is|was|are|were) (?:there|known|left|said|not|meant|its|of|to)\b`, "name the thing"},
	{
		`(?:,|\b(?:and|or|to|from|for|by|of)) who(?:ever)? (?:has|have|is|are|asks|gives|wants|says|knows|may|can|reads|uses)\b`,
		"name the person or the program",
	},
	{`\b(?:nobody|none of (?:it|them|these|those)|no one of)\b`, `write "no" with the noun: "no job", "no user"`},
	{`\b(?:for|by|with|after|before|of) that (?:is|are|it|they|there)\b`, "name the thing, in a sentence of its own"},
	{`\b(?:beside (?:it|them)|of (?:theirs|ours|its own|others))\b`, `repeat the noun; "next to", "also"`},
	{`\b(?:so|nor) (?:does|do|is|are|has|have|was|were|can|may)\b`, `write "also", or a second sentence with its verb`},
	{`\b(?:is|are|was|were) (?:there again|there no more|not there|no more)\b`, `"is back", "is gone", "is missing"`},
	{`\bthan (?:there (?:is|are)|it (?:is|has|was)|they (?:are|have|were))\b`, "name both things that are compared"},
	{`\b(?:however|whichever|whatever|wherever|whoever) (?:it|they|he|many|much|short|long|large|small|is|are)\b`, `"any", "every", "even if"`},
}

const (
	// start is where a sentence, an item of a list or a cell of a table begins.
	start    = `(?:^\s?|[.:;] |^[-*|] )`
	question = "begin with a noun that the reader knows, not with a clause"
)

var (
	patterns = compile()
	fenced   = regexp.MustCompile("(?s)```.*?```")
	quoted   = regexp.MustCompile("`[^`\n]*`")
	linked   = regexp.MustCompile(`\]\([^)\n]*\)`)
	example  = regexp.MustCompile(`^What (?:it|Oxgang) does\b`)
)

func compile() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(phrases))
	for i, p := range phrases {
		out[i] = regexp.MustCompile(`(?m)` + strings.ReplaceAll(p.pattern, ` `, `\s+`)) // also across lines
	}
	return out
}

type finding struct {
	offset         int
	phrase, advice string
}

func find(text string) []finding {
	var found []finding
	for i, re := range patterns {
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			begin, end := m[len(m)-2], m[len(m)-1]
			if phrase := text[begin:end]; !example.MatchString(phrase) {
				found = append(found, finding{begin, phrase, phrases[i].advice})
			}
		}
	}
	return found
}

// markdown returns text with code and the targets of links replaced by x, at unchanged offsets.
func markdown(text string) string {
	for _, re := range []*regexp.Regexp{fenced, quoted, linked} {
		text = re.ReplaceAllStringFunc(text, func(s string) string {
			b := []byte(s)
			for i := range b {
				if b[i] != '\n' {
					b[i] = 'x'
				}
			}
			return string(b)
		})
	}
	return text
}

// findGo searches blocks of // comments, each as one line, and string literals of more than three words.
func findGo(src []byte) []finding {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	var found []finding
	add := func(offset int, text string) {
		for _, f := range find(text) {
			f.offset += offset
			found = append(found, f)
		}
	}
	var block []byte // the source from begin, with spaces between the texts of its comments
	begin, line := 0, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		comment := tok == token.COMMENT && strings.HasPrefix(lit, "//") && !strings.HasPrefix(lit, "//go:")
		if !comment || file.Line(pos) != line+1 {
			add(begin, string(block))
			block = nil
		}
		switch {
		case tok == token.EOF:
			return found
		case comment:
			text := file.Offset(pos) + 2
			if block == nil {
				begin = text
			}
			block = append(block, strings.Repeat(" ", text-begin-len(block))...)
			block = append(block, lit[2:]...)
			line = file.Line(pos)
		case tok == token.STRING && strings.Count(lit, " ") > 2:
			add(file.Offset(pos)+1, lit[1:len(lit)-1])
		}
	}
}

// folder is where a file counts: its first two folders, or "." in the root.
func drawer(name string) string {
	parts := strings.Split(path.Dir(name), "/")
	return path.Join(parts[:min(2, len(parts))]...)
}

// walk calls f for each Markdown file and each Go file that is no test and not generated.
func walk(t *testing.T, f func(name string, text []byte)) {
	t.Helper()
	tree := os.DirFS(testdata.Root(t))
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := len(name) > 1 && name[0] == '.' && name != ".github"; d.IsDir() {
			if hidden || slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "zz_generated")
		if !isGo && !strings.HasSuffix(name, ".md") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err == nil {
			f(name, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestProse fails for each folder with more phrases than its ceiling, and lists them.
func TestProse(t *testing.T) {
	lines, words := map[string][]string{}, 0
	walk(t, func(name string, text []byte) {
		var found []finding
		if strings.HasSuffix(name, ".go") {
			found = findGo(text)
		} else {
			found = find(markdown(string(text)))
		}
		words += len(strings.Fields(string(text)))
		for _, f := range found {
			line := 1 + strings.Count(string(text[:f.offset]), "\n")
			lines[drawer(name)] = append(lines[drawer(name)], fmt.Sprintf("%s:%d: %q: %s", name, line, f.phrase, f.advice))
		}
	})
	if words < 500_000 {
		t.Errorf("found only %d words: the walk misses files", words)
	}
	for _, where := range slices.Sorted(maps.Keys(lines)) {
		if n := len(lines[where]); n > ceilings[where] {
			t.Errorf("%s has %d phrases that make a reader stop, and may have %d. Rewrite these sentences:\n%s",
				where, n, ceilings[where], strings.Join(lines[where], "\n"))
		}
	}
	for where, n := range ceilings {
		if len(lines[where]) < n {
			t.Logf("%s has %d phrases: lower its ceiling, %d", where, len(lines[where]), n)
		}
	}
}

// TestFind: each pattern finds its bad sentence, in Markdown, in a Go comment over two lines and in a Go string.
func TestFind(t *testing.T) {
	bad := []string{
		"Who asks the scheduler gets a node.",
		"What is kept is only a start.",
		"By that the plan becomes longer.",
		"a node of which nothing is free",
		"the mean is that of sia",
		"the job is told to stop",
		"it waits as it did before",
		"the pool has what is left",
		"a job, who has no node, waits",
		"the node holds nobody now",
		"they wait for that it ends",
		"one more job runs beside it",
		"one job waits, so does another",
		"the node is no more",
		"more GPUs than there are",
		"a job, however large, waits",
	}
	if len(bad) != len(phrases) {
		t.Fatalf("%d sentences for %d patterns", len(bad), len(phrases))
	}
	for i, s := range bad {
		if m := patterns[i].FindString(s); m == "" {
			t.Errorf("pattern %d does not find %q", i, s)
		}
		half := strings.LastIndex(s, " ")
		for form, src := range map[string]string{
			"comment": "package x\n\n// x is a name.\n// " + s[:half] + "\n\t// " + s[half+1:] + "\nvar x = 1\n",
			"string":  "package x\n\nvar x = \"" + s + "\"\n",
		} {
			if len(findGo([]byte(src))) == 0 {
				t.Errorf("not found in a %s: %q", form, s)
			}
		}
		if len(find(markdown("# Title\n\n"+s+"\n"))) == 0 {
			t.Errorf("not found in Markdown: %q", s)
		}
	}
	for _, s := range []string{
		"Oxgang starts the job when a node is free.",
		"What is a queue?",
		"`that of` is code",
		"```\nthat of\n```",
		"[a link](that of.md)",
	} {
		if found := find(markdown(s)); len(found) != 0 {
			t.Errorf("found in %q: %v", s, found)
		}
	}
}
