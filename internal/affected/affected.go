package main

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// A pkg is a package of the module, as go list shows it; Dir is below the root of the checkout.
type pkg struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
}

// A reached package is a package with its distance, in imports, from one that changed.
type reached struct {
	name     string
	distance int
}

// nearest returns the packages whose tests depend on changed files, by distance and then by name.
// A package depends on what it imports and on what that imports; its tests depend on what they
// import, too, but nobody depends on a test. It takes time in proportion to the imports.
func nearest(pkgs []pkg, changed []string) []reached {
	distance := map[string]int{}
	var queue []string
	for _, file := range changed {
		for _, name := range owners(pkgs, file) {
			if _, seen := distance[name]; !seen {
				distance[name] = 0
				queue = append(queue, name)
			}
		}
	}
	code, tests := importers(pkgs)
	for i := 0; i < len(queue); i++ { // breadth first: by distance
		for _, name := range code[queue[i]] {
			if _, seen := distance[name]; !seen {
				distance[name] = distance[queue[i]] + 1
				queue = append(queue, name)
			}
		}
	}
	all := maps.Clone(distance)
	for name, d := range distance {
		for _, tester := range tests[name] {
			if was, seen := all[tester]; !seen || was > d+1 {
				all[tester] = d + 1
			}
		}
	}
	return inOrder(all)
}

// inOrder sorts packages by distance and then by name.
func inOrder(all map[string]int) []reached {
	var found []reached
	for name, d := range all {
		found = append(found, reached{name, d})
	}
	slices.SortFunc(found, func(a, b reached) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	return found
}

// importers returns, by package, those whose code imports it and those whose tests do.
func importers(pkgs []pkg) (code, tests map[string][]string) {
	code, tests = map[string][]string{}, map[string][]string{}
	for _, p := range pkgs {
		for _, path := range p.Imports {
			code[path] = append(code[path], p.ImportPath)
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			tests[path] = append(tests[path], p.ImportPath)
		}
	}
	return code, tests
}

// owners returns the packages that a file belongs to. That is normally the one in its folder or in
// the nearest folder above, as for testdata. A file that says how packages are built belongs to all;
// a page of docs to those whose tests read pages; a file of another module, or one that no Go test
// reads, to none.
func owners(pkgs []pkg, file string) []string {
	switch top, _, _ := strings.Cut(file, "/"); {
	case file == "go.mod" || file == "go.sum":
		return names(pkgs, func(pkg) bool { return true })
	case top == "docs" || !strings.Contains(file, "/") && path.Ext(file) == ".md":
		return names(pkgs, readsDocs)
	case strings.HasPrefix(file, "live/kube/rig/") || strings.HasPrefix(file, "internal/tools/"):
		return nil
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if all := names(pkgs, func(p pkg) bool { return p.Dir == dir }); len(all) > 0 {
			return all
		}
	}
	return nil
}

// readsDocs reports whether tests of a package read pages of docs: they ask internal/doctable, or
// compare pages that a program writes.
func readsDocs(p pkg) bool {
	return slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports), func(path string) bool {
		return strings.HasSuffix(path, "/internal/doctable")
	}) || slices.Contains([]string{"internal/doctable", "internal/papersdoc", "internal/apidoc"}, p.Dir)
}

func names(pkgs []pkg, is func(pkg) bool) []string {
	var all []string
	for _, p := range pkgs {
		if is(p) {
			all = append(all, p.ImportPath)
		}
	}
	return all
}
