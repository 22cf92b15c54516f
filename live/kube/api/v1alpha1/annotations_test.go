package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/internal/tree"
)

// ofJobs matches the comment of a name that people write on jobs.
var ofJobs = regexp.MustCompile(`^\w+( and \w+)?, on a job[,:]`)

// The guide has a row for each name that people write on jobs, and none besides.
func TestNamesOfJobsAreInTheGuide(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "annotations.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	names := onJobs(t, file)
	if len(names) < 2 {
		t.Fatalf("names %q, want more of them: what do comments say now?", names)
	}
	tree.Check(t, "guide/kubernetes#Run a job", names)
}

// onJobs returns the values of constants that are, as their comment says, on a job; constants
// without a comment share that of the one before.
func onJobs(t *testing.T, file *ast.File) []string {
	t.Helper()
	var names []string
	doc := ""
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if v.Doc != nil {
			doc = v.Doc.Text()
		}
		if literal, ok := v.Values[0].(*ast.BasicLit); ok && ofJobs.MatchString(doc) {
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	return names
}
