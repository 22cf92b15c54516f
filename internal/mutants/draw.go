package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutated are the packages in which bugs are drawn.
var mutated = []string{
	"scheduler", "scheduler/explain", "scheduler/journal", "scheduler/ledger", "scheduler/metrics", "simulate/sim",
	"policy/oxgang", "policy/goodput", "policy/placement/submesh", "live/local", "live/store", "live/agentapi",
	"live/local/statedir", "live/driver", "live/supervisor",
}

// users are packages whose short tests may notice a bug that the package's own tests miss. Promises to a user are often
// tested there: simulations test the scheduler, the service tests the store.
var users = map[string][]string{
	"scheduler":                {"./simulate/sim", "./simulate/run", "./live/local"},
	"scheduler/explain":        {"./scheduler/explain/explaintest", "./scheduler/explain/counterfactual", "./simulate/whatif"},
	"scheduler/journal":        {"./simulate/history", "./simulate/whatif", "./scheduler/ledger"},
	"scheduler/ledger":         {"./cmd/oxgang"},
	"scheduler/metrics":        {"./scheduler/metrics/statistics", "./simulate/run", "./simulate/report"},
	"simulate/sim":             {"./simulate/run", "./simulate/whatif"},
	"policy/oxgang":            {"./policy/policytest", "./simulate/sim"},
	"policy/goodput":           {"./policy/oxgang", "./policy/sia", "./policy/policytest"},
	"policy/placement/submesh": {"./policy/placement", "./policy/policytest"},
	"live/local":               {"./live/serve"},
	"live/store":               {"./live/local/statedir", "./live/serve", "./live/local"},
	"live/agentapi":            {"./live/local", "./live/kube"},
	"live/local/statedir":      {"./live/serve", "./cmd/oxgang"},
	"live/driver":              {"./live/local", "./live/kube"},
	"live/supervisor":          {"./live/local"},
}

// A site is a place in a function where a bug can be inserted: the bytes between two offsets of a file become another text.
type site struct {
	file     string // in the module
	line     int
	from, to int
	text     string
	kind     string
	source   string // the line without its indentation
}

func (s *site) String() string { return fmt.Sprintf("%s:%d: %s", s.file, s.line, s.kind) }

// key identifies a site in equivalent.txt, also after the file has changed elsewhere.
func (s *site) key() string { return s.file + ": " + s.kind + ": " + s.source }

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
	lines := strings.Split(string(source), "\n")
	add := func(from, to token.Pos, text, kind string) {
		at := set.Position(from)
		all = append(all, site{file, at.Line, at.Offset, set.Position(to).Offset, text, kind, strings.TrimSpace(lines[at.Line-1])})
	}
	text := func(n ast.Node) string {
		return string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
	}
	visit := func(n ast.Node) bool {
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
			if n.Type.Results == nil && len(n.Body.List) > 1 {
				add(n.Body.List[1].Pos(), n.Body.List[1].Pos(), "return; ", n.Name.Name+" returns after its first statement")
			}
		}
		return true
	}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Name.Name != "init" {
			ast.Inspect(f, visit)
		}
	}
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

// parseSame reads which bugs change nothing that a test could notice, with the reason. They are not drawn.
func parseSame(text string) (map[string]string, error) {
	same, key := map[string]string{}, ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t") && key != "":
			same[key], key = strings.TrimSpace(line), ""
		case !strings.HasPrefix(line, "\t") && key == "":
			key = line
		default:
			return nil, fmt.Errorf("equivalent.txt, line %d: got %q, want a bug and, below and indented, the reason", i+1, line)
		}
	}
	return same, nil
}

// A score counts the drawn bugs of a package.
type score struct{ caught, tried int }

// draw tries n bugs, drawn by a seed and as many in each package, and prints each package's score once it is known.
func draw(root string, dirs []string, n int, seed uint64) error {
	same, err := parseSame(equivalents)
	if err != nil {
		return err
	}
	var total score
	for i, dir := range dirs {
		all, err := sites(root, dir)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(s site) bool { return same[s.key()] != "" })
		h := fnv.New64a()
		_, _ = h.Write([]byte(dir))
		random := rand.New(rand.NewPCG(seed, h.Sum64()))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		s, err := tryBugs(root, dir, all, (n+len(dirs)-1-i)/len(dirs))
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		fmt.Printf("%3d of %3d caught  %s\n", s.caught, s.tried, dir)
		total = score{total.caught + s.caught, total.tried + s.tried}
	}
	fmt.Printf("%3d of %3d caught\n", total.caught, total.tried)
	return nil
}

// tryBugs tries the first n bugs of a package that compile.
func tryBugs(root, dir string, all []site, n int) (score, error) {
	t := &trial{root: root, dir: dir, bugs: map[int]site{}}
	var err error
	if t.tmp, err = os.MkdirTemp("", "mutants"); err != nil {
		return score{}, err
	}
	defer func() { _ = os.RemoveAll(t.tmp) }()
	for i := range all[:min(len(all), n+n/2+4)] { // some do not compile
		t.bugs[i] = all[i]
	}
	if err := t.compile(); err != nil {
		return score{}, err
	}
	for i, id := range slices.Sorted(maps.Keys(t.bugs)) {
		if i >= n {
			delete(t.bugs, id)
		}
	}
	tried, caught := len(t.bugs), 0
	for _, pkg := range append([]string{"./" + dir}, users[dir]...) {
		by, err := t.catch(pkg)
		if err != nil {
			return score{}, err
		}
		for _, id := range slices.Sorted(maps.Keys(by)) {
			bug := t.bugs[id]
			fmt.Printf("caught      %s: %s\n", &bug, by[id])
			delete(t.bugs, id)
		}
		caught += len(by)
		if len(t.bugs) == 0 {
			break
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.bugs)) {
		bug := t.bugs[id]
		fmt.Printf("NOT CAUGHT  %s: %s\n", &bug, bug.source)
	}
	return score{caught, tried}, nil
}
