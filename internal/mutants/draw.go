package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mutated are the packages in which bugs are drawn.
var mutated = []string{
	"scheduler", "scheduler/explain", "scheduler/journal", "scheduler/ledger", "scheduler/metrics", "simulate/sim",
	"policy/oxgang", "policy/goodput", "policy/placement/submesh", "live/local", "live/store", "live/agentapi",
}

// users are packages whose short tests may notice a bug that the package's own tests miss. Promises to a user are often
// tested there: simulations test the scheduler, the service tests the store.
var users = map[string][]string{
	"scheduler":                {"./simulate/sim", "./simulate/run", "./live/local"},
	"scheduler/explain":        {"./scheduler/explain/...", "./simulate/whatif"},
	"scheduler/journal":        {"./simulate/history", "./simulate/whatif", "./scheduler/ledger"},
	"scheduler/ledger":         {"./cmd/oxgang"},
	"scheduler/metrics":        {"./scheduler/metrics/...", "./simulate/run", "./simulate/report"},
	"simulate/sim":             {"./simulate/run", "./simulate/whatif"},
	"policy/oxgang":            {"./policy/policytest", "./simulate/sim"},
	"policy/goodput":           {"./policy/oxgang", "./policy/sia", "./policy/policytest"},
	"policy/placement/submesh": {"./policy/placement", "./policy/policytest"},
	"live/local":               {"./live/serve"},
	"live/store":               {"./live/local/statedir", "./live/serve", "./live/local"},
	"live/agentapi":            {"./live/local", "./live/kube"},
}

// A site is a place in a file where a bug can be inserted: bytes from to to become text.
type site struct {
	file     string // in the module
	line     int
	from, to int
	text     string
	kind     string
}

func (s *site) String() string { return fmt.Sprintf("%s:%d: %s", s.file, s.line, s.kind) }

func sites(root, dir string) ([]site, error) {
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	var all []site
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_other.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := sitesOf(filepath.Join(dir, filepath.Base(path)), source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, err
}

func sitesOf(file string, source []byte) ([]site, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	var all []site
	add := func(from, to token.Pos, text, kind string) {
		at := set.Position(from)
		all = append(all, site{file, at.Line, at.Offset, set.Position(to).Offset, text, kind})
	}
	text := func(n ast.Node) string {
		return string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return !failing(n)
		case *ast.GenDecl:
			return n.Tok == token.CONST || n.Tok == token.VAR
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), "!("+text(n.Cond)+")", "condition negated")
		case *ast.BinaryExpr:
			if other := swapped[n.Op]; other != "" {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other, n.Op.String()+" becomes "+other)
			}
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				add(n.Pos(), n.End(), strconv.Itoa(v+1), fmt.Sprintf("%d becomes %d", v, v+1))
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				if droppable(s) {
					add(s.Pos(), s.End(), "", "dropped: "+firstLine(text(s)))
				}
			}
		case *ast.FuncDecl:
			if n.Body != nil && n.Type.Results == nil && len(n.Body.List) > 1 {
				add(n.Body.List[1].Pos(), n.Body.List[1].Pos(), "return; ", n.Name.Name+" returns after its first statement")
			}
		}
		return true
	})
	return all, nil
}

// failing reports whether a statement is like "return 0, err": callers do not use the first value, so it can have no bug.
func failing(r *ast.ReturnStmt) bool {
	if len(r.Results) < 2 {
		return false
	}
	switch last := r.Results[len(r.Results)-1].(type) {
	case *ast.Ident:
		return last.Name == "err"
	case *ast.CallExpr:
		f, ok := last.Fun.(*ast.SelectorExpr)
		return ok && (f.Sel.Name == "Errorf" || f.Sel.Name == "New" && fmt.Sprint(f.X) == "errors")
	}
	return false
}

var swapped = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&",
}

// droppable reports whether the program may compile without a statement.
func droppable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// A score counts the drawn bugs of a package.
type score struct{ caught, tried int }

// draw tries n bugs, in turn in each package, drawn by a seed.
func draw(root string, dirs []string, n int, seed uint64) (map[string]score, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	left := map[string][]site{}
	for _, dir := range dirs {
		all, err := sites(root, dir)
		if err != nil {
			return nil, err
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		left[dir] = all
	}
	scores := map[string]score{}
	for i := 0; i < n; {
		before := i
		for _, dir := range dirs {
			if i == n {
				break
			}
			tried, caught, err := next(root, dir, left)
			if err != nil {
				return scores, err
			}
			if s := scores[dir]; tried {
				scores[dir] = score{s.caught + caught, s.tried + 1}
				i++
			}
		}
		if i == before {
			break // no bug is left
		}
	}
	return scores, nil
}

// next tries the next bug of a package that compiles.
func next(root, dir string, left map[string][]site) (tried bool, caught int, err error) {
	for len(left[dir]) > 0 {
		s := left[dir][0]
		left[dir] = left[dir][1:]
		source, err := os.ReadFile(filepath.Join(root, s.file))
		if err != nil {
			return false, 0, err
		}
		bad := string(source[:s.from]) + s.text + string(source[s.to:])
		var test string
		for _, pkg := range append([]string{"./" + dir}, users[dir]...) {
			m := mutant{file: s.file, test: []string{"-short", pkg}}
			if test, err = m.runWith(root, bad); err != nil || test != "" {
				break
			}
		}
		switch {
		case err != nil:
			continue // it does not compile
		case test == "":
			fmt.Printf("NOT CAUGHT  %s\n", &s)
			return true, 0, nil
		}
		fmt.Printf("caught      %s: %s\n", &s, test)
		return true, 1, nil
	}
	return false, 0, nil
}

func printScores(scores map[string]score) {
	for _, dir := range mutated {
		if s, ok := scores[dir]; ok {
			fmt.Printf("%3d of %3d caught  %s\n", s.caught, s.tried, dir)
		}
	}
}
